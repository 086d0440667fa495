/*
 * torch/infer.h -- inference, as this folder sees it.
 */
#ifndef JEDLIK_TORCH_INFER_H
#define JEDLIK_TORCH_INFER_H

#include "torch/lib.h"

int infer_init(void);

/* A tensor on the meta device with these sizes, strides, offset, requires_grad, leaf or not, view or not. */
PyObject *infer_make(const TensorMeta *m, PyObject *dtype);
PyObject *infer_make_view(const TensorMeta *m,
                          PyObject *dtype); /* of memory that nothing else refers to */

/* Grad mode as given and warnings muted, between the two. The end keeps the exception that may be set. */
typedef struct Quiet {
    PyObject *filters, *show;
    bool grad, warn_always;
    uint8_t modes;
} Quiet;

void quiet_begin(Quiet *q, bool grad);
void quiet_record(Quiet *q,
                  PyObject *list); /* until the end, warnings are put into the list */
void quiet_end(Quiet *q, bool grad);

/* swap.c: new reference for what stands in the place of a tensor; NULL, perhaps without an exception: it cannot be done. */
typedef PyObject *Swap(void *arg, PyObject *tensor);
PyObject *infer_swapped(PyObject *o, Swap *one, void *arg);
/* Arguments and keywords, MAX_ARGS at most: new references, or none and false. */
bool infer_swap_args(const InferCall *c, Swap *one, void *arg, PyObject **v);
PyObject *infer_call_swapped(const InferCall *c, Swap *one, void *arg);

/* known.c: a call of constants alone that makes a small tensor, as torch.div(4, 2), or ST_DECLINE. */
Status known_make(const InferCall *c, TorchOp op, PyObject **out);
/* After an inferred call: the value of its result, if it follows from constants. */
void known_note(const InferCall *c, TorchOp op, PyObject *twin);
/* The arguments with numbers for twins of one element whose value is known: new references; false, and none, if there are none. */
bool known_as_numbers(const InferCall *c, PyObject **v);

/* Elements of storage that the tensor reaches. */
int64_t infer_extent(const TensorMeta *m);
/* Some elements lie at one place: nothing may be written to them. */
bool infer_overlaps_itself(const TensorMeta *m);

/* The result by a shape rule alone, or ST_DECLINE. */
Status infer_rule(InferCall *c, TorchOp op, PyObject **out);
/* cast.c: the same under autocast on CPU. */
Status cast_infer(InferCall *c, TorchOp op, PyObject **out);

/* trial.c: the result by the operation's own kernel on made-up data, or ST_DECLINE with nothing set. Under c->grad and muted. */
Status trial_run(const InferCall *c, TorchOp op, PyObject **out);

/* The one object we keep for a device: borrowed, lives for ever. */
PyObject *infer_device(PyObject *device);

/* C functions and descriptors, and Python functions of torch itself: nothing of the user's runs in them. */
bool infer_own(PyObject *f);

/* Appends the ambient state's words; false: it cannot be read. */
bool ambient_words(uint64_t *w, size_t *n);

enum { MAX_ARGS = 64 };

/* One call in the making: arguments copied, so that devices can be exchanged for meta. */
typedef struct Call {
    PyObject *target;
    bool method;
    PyObject *v[MAX_ARGS]; /* borrowed, or held by `held` */
    Py_ssize_t nargs, nkw;
    PyObject *names[MAX_ARGS];
    PyObject *held[8];
    int nheld;
    PyObject *moved; /* device that the call names, interned; NULL: none */
} Call;

extern _Thread_local bool
    twins_plain; /* also of inference tensors: the trace is under inference mode */

int rules_init(void);
/* Number of a rule by the name of its row, counted from 1; 0: no such rule. */
int rules_find(const char *name);
const char *rules_name(int number); /* NULL: there are not so many */
/* rules.c: the result by a shape rule, or ST_DECLINE. *loose: what is not certain of it, UNSURE_STRIDES … */
Status rules_apply(const Call *k, int rule, const char *name, bool grad, PyObject **out,
                   unsigned *loose);

/* Calls jedlik._fakes.<name>(target, is_method, args, kwargs, device): a new reference, or NULL. */
PyObject *infer_fakes(const InferCall *c, const char *name);

/* verify.c: a rule beside FakeTensorMode (config.verify_shapes). What the fakes expect, before the rule runs: new reference or
 * NULL; whether that is what the rule gave. */
PyObject *verify_expect(const InferCall *c);
bool verify_compare(const InferCall *c, PyObject *expected, PyObject *result,
                    unsigned loose);

extern uint64_t infer_by_rule;
void infer_use_rules(bool on); /* for tests: off, everything runs on meta tensors */
PyObject *infer_into_result(PyObject *t,
                            PyObject *dtype); /* steals t: makes it a result of autograd */
PyObject *infer_seed(PyObject *dtype); /* 0-dim leaf that requires grad, borrowed */

#endif
