/*
 * torch/rules.h -- shape rules: results of common operations without running torch's meta kernels.
 *
 * A rule takes a call on meta twins and gives its result, or ST_DECLINE: then the operation runs on meta tensors (infer.c).
 * The contract: what a rule gives is what eager gives, in sizes, dtype, requires_grad and identity; strides and whether it is
 * a view too, unless it sets r->loose or r->loose_view. ST_BREAK says that torch's meta kernels are known to be wrong here: nothing can be inferred.
 * Whatever is unusual, and every error of the program, is declined. Rules read arguments and decide before
 * they write anything.
 */
#ifndef JEDLIK_TORCH_RULES_H
#define JEDLIK_TORCH_RULES_H

#include "torch/infer.h"

enum { RULE_MAX_PARAMS = 25, RULE_MAX_TENSORS = 8 };

/* Numbers of c10::ScalarType that rules know; checked against names when torch is attached. */
typedef enum {
    D_U8,
    D_I8,
    D_I16,
    D_I32,
    D_I64,
    D_F16,
    D_F32,
    D_F64,
    D_C64 = 9,
    D_C128 = 10,
    D_BOOL = 11,
    D_BF16 = 15,
    D_COUNT
} Dtype;

typedef struct Rule Rule;

/* One call under way. */
typedef struct Infer {
    const Call *k;
    const Rule *rule;
    const char *name; /* plain name of the operation, without a trailing underscore */
    bool in_place;
    bool grad;       /* grad mode */
    bool loose;      /* out: neither strides nor the view flag are certain … */
    bool loose_view; /* … or only the view flag is not */
    PyObject *v[RULE_MAX_PARAMS]; /* parameters by position, NULL where not given */
} Infer;

typedef Status RuleFn(Infer *r, PyObject **out);

struct Rule {
    const char *name;   /* of the row in ops.def */
    const char *params; /* "input other alpha": positions and keywords; others decline */
    RuleFn *fn;
    bool in_place; /* whatever the name ends in: __iadd__, operator.iadd */
};

/* One table a file, ending with a NULL name. */
extern const Rule rules_point[], rules_reduce[], rules_matrix[], rules_shape[],
    rules_make[], rules_network[], rules_loss[];

/* -- What rules use (rules.c) -------------------------------------------------- */

bool dtype_float(int d);
bool dtype_int(int d); /* bool is none */
int dtype_promote(int a, int b);
int dtype_default(void);
int dtype_number(PyObject *dtype); /* of a torch.dtype object; -1: none that rules know */

bool is_int(PyObject *o, int64_t *n); /* exact int in range */
bool is_true(PyObject *o);            /* True; NULL is false */
bool is_false(PyObject *o);           /* False, or not given */
bool absent(PyObject *o);             /* not given or None */

/* Reads a tensor that rules can deal with: plain, a dtype they know, no lazy bits. */
bool read_tensor(PyObject *o, TensorMeta *m);
bool row_major(const TensorMeta *m);
bool same_sizes(const TensorMeta *a, const TensorMeta *b);
bool dense(const TensorMeta *m); /* strides are a permutation of row-major ones */
bool odd_strides(
    const TensorMeta *m); /* of dims of size 1: kernels differ in what they make of them */
bool wrap_dim(int64_t *dim, int ndim);
/* int, or tuple or list of ints -> v[0..n); -1 if it is neither or too long. */
int read_ints(PyObject *o, int64_t *v, int max);

/* Sizes to m with row-major strides. */
void shape_rows(TensorMeta *m, const int64_t *sizes, int ndim);
/* A new tensor; `needs_grad`: some input requires grad. Integers never do. */
Status give(Infer *r, TensorMeta *m, int dtype, bool needs_grad, PyObject **out);
/* A new row-major tensor of these sizes; declines in place. */
Status give_rows(Infer *r, const int64_t *sizes, int n, int dtype, bool needs_grad,
                 PyObject **out);
/* The first parameter, written in place. */
Status give_written(Infer *r, PyObject *self, const TensorMeta *m, bool needs_grad,
                    PyObject **out);
/* torch.return_types.<name>(a, b); steals. */
Status give_pair(const char *name, PyObject *a, PyObject *b, PyObject **out);

/* Operands of a pointwise operation, and what they come to. */
typedef struct Operands {
    TensorMeta t[RULE_MAX_TENSORS];
    int nt;
    int dim_type, zero_type, number_type; /* promoted dtypes by category; -1: none */
    bool needs_grad;
} Operands;

bool operands_add(Operands *p, PyObject *operand); /* tensor or number; false: decline */
bool operands_shape(
    Operands *p,
    TensorMeta *out); /* broadcast sizes and the strides eager gives; false: they do not fit */
/* Operands of another dtype are copied first; a copy of what is not dense has strides that we do not follow. */
bool operands_cast_loosely(const Operands *p, int common);
int operands_dtype(const Operands *p); /* -1: nothing */

#endif
