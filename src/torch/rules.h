/*
 * torch/rules.h -- what operations give, by rules in C: where they apply, none of torch's Python runs.
 */
#ifndef JEDLIK_TORCH_RULES_H
#define JEDLIK_TORCH_RULES_H

#include "torch/infer.h"

/* ST_OK with *out and *device as infer_call gives them; ST_DECLINE: no rule applies; ST_ERROR. Under c->grad. */
Status rules_call(const InferCall *c, PyObject **out, PyObject **device);

bool strides_contiguous(const TensorMeta *m);
void strides_fill(TensorMeta *out); /* contiguous ones, and numel */

/* Of the result of n operands whose sizes broadcast to out's; false: not covered. */
bool strides_elementwise(const TensorMeta *in, int n, TensorMeta *out);

#endif
