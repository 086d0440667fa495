/*
 * torch/infer.h -- inference, as this folder sees it.
 */
#ifndef JEDLIK_TORCH_INFER_H
#define JEDLIK_TORCH_INFER_H

#include "torch/lib.h"

int infer_init(void);

/* A tensor on the meta device with these sizes, strides, offset, requires_grad, leaf or not, view or not. */
PyObject *infer_make(const TensorMeta *m, PyObject *dtype);

#endif
