/*
 * torch/memo.h -- results of inference by what they depend on.
 */
#ifndef JEDLIK_TORCH_MEMO_H
#define JEDLIK_TORCH_MEMO_H

#include "torch/infer.h"

enum { MEMO_WORDS = 384, MEMO_TENSORS = 32 };

typedef struct MemoKey {
    size_t n;
    uint64_t hash;
    int ntensors;
    PyObject *tensors[MEMO_TENSORS]; /* twins among the arguments, each once */
    void *storages[MEMO_TENSORS];
    uint64_t w[MEMO_WORDS];
} MemoKey;

typedef struct MemoVersions {
    int64_t v[MEMO_TENSORS];
} MemoVersions;

/* Whether the call is one whose result may be kept, and its key. */
bool memo_key(MemoKey *k, const InferCall *c, TorchOp op);

/* True: known; *out is a new reference, NULL with an exception if it could not be made; c->ruled and c->loose are as then. */
bool memo_get(const MemoKey *k, InferCall *c, PyObject **out, PyObject **device);

/* Before the call, and after it: the result is kept if nothing but it came of the call. */
void memo_versions(const MemoKey *k, MemoVersions *v);
void memo_put(const MemoKey *k, const MemoVersions *before, const InferCall *c,
              TorchOp op, PyObject *result, PyObject *device);

#endif
