/*
 * torch/infer.h -- inference, as this folder sees it.
 */
#ifndef JEDLIK_TORCH_INFER_H
#define JEDLIK_TORCH_INFER_H

#include "torch/lib.h"

int infer_init(void);

/* A tensor on the meta device with these sizes, strides, offset, requires_grad, leaf or not, view or not. */
PyObject *infer_make(const TensorMeta *m, PyObject *dtype);
PyObject *infer_make_view(const TensorMeta *m, PyObject *dtype); /* of memory that nothing else refers to */

/* The one object we keep for a device: borrowed, lives for ever. */
PyObject *infer_device(PyObject *device);

/* Appends the ambient state's words; false: it cannot be read. */
bool ambient_words(uint64_t *w, size_t *n);

#endif
