/*
 * torch/torch.h -- what C knows of torch, without torch's headers: symbols and object layout are looked up when
 * torch is there (torch_attach), else everything here says "no".
 *
 * Takes: the torch module, tensors, callables. Gives: metadata in nanoseconds, the ambient state and its check,
 * which callables become graph nodes, and the result of an operation on meta tensors.
 */
#ifndef JEDLIK_TORCH_TORCH_H
#define JEDLIK_TORCH_TORCH_H

#include "base/status.h"
#include "graph/graph.h"

extern bool torch_ready;

/* Looks up types, symbols and layout. 0; -1 with an exception (torch too old: ImportError). Called once, lazily: by the
 * first compile if sys.modules has torch. Imports neither torch._dynamo nor sympy. */
int torch_attach(void);

extern struct TorchTypes {
    PyTypeObject *tensor, *parameter, *buffer, *module, *optimizer, *size, *dtype,
        *device, *layout, *memory_format, *generator;
    PyTypeObject *function; /* what contexts of autograd.Function are laid out as */
} torch_types;

bool torch_is_tensor(PyObject *o); /* Tensor or a subclass */
bool torch_is_plain_tensor(
    PyObject *o); /* exactly Tensor, Parameter, Buffer: no __torch_function__ of its own */

/* -- Metadata (torch/meta.c) -------------------------------------------------- */

enum { META_MAX_DIM = 24 };

typedef struct TensorMeta {
    PyTypeObject *type;
    uint64_t keys;         /* dispatch key set */
    uint64_t dtype_device; /* raw word at the dtype, masked */
    uint16_t dtype;
    int8_t device_type, device_index;
    bool requires_grad, is_leaf, has_grad_fn, is_view;
    int ndim;
    int64_t numel, storage_offset;
    void *storage; /* StorageImpl*: equal for tensors that share memory; not compared by the guard */
    int64_t sizes[META_MAX_DIM], strides[META_MAX_DIM];
} TensorMeta;

/* Reads what guards compare. False: not a plain dense tensor we can describe (sparse, subclass, too many dims, wrapper). */
bool meta_read(PyObject *tensor, TensorMeta *m);
/* Compact block for GUARD_TENSOR (size in *size), allocated in the arena. */
const void *meta_guard_block(Arena *a, PyObject *tensor, size_t *size);
/* The same for GUARD_FACTS: what the tensor guard does not compare, because programs hardly ask for it. */
const void *meta_facts_block(Arena *a, PyObject *tensor, size_t *size);
PyObject *meta_dtype(PyObject *tensor);  /* torch.dtype object, borrowed */
PyObject *meta_device(PyObject *tensor); /* torch.device object, new reference */
PyObject *meta_size(PyObject *tensor);   /* torch.Size, new reference */

/* -- Ambient state (torch/ambient.c) ------------------------------------------ */

/* Snapshot of grad mode, inference mode, autocast, default dtype, modes, deterministic … for GUARD_AMBIENT. */
void *ambient_block(Arena *a, size_t *size);
bool ambient_tracable(
    const char **why); /* torch-function/dispatch modes, functorch … active: run plainly */
bool ambient_grad_enabled(void);
bool ambient_inference(void);

/* A trace under inference mode works without it, on twins that count their versions: returns what brings the mode back, NULL if
 * it is not on (or, with an exception, cannot be left). */
PyObject *inference_leave(void);
int inference_return(
    PyObject *mode); /* steals; keeps the exception that may be set; -1 with an exception */
void ambient_set_grad(bool on);

/* Kernels that scaled_dot_product_attention may choose from: a bit each, in this order. */
enum { KERNELS = 5, KERNELS_ASKED = 1 << KERNELS };
extern const struct KernelName {
    const char *flag, *member; /* torch._C._get_<flag>_sdp_enabled, SDPBackend.<member> */
} kernel_names[KERNELS];
unsigned ambient_kernels(void);
void ambient_set_kernels(unsigned mask);
void ambient_ask_kernels(void *block); /* the guard compares them too from now on */
/* No profiler records, nor may one from now on: the guard asks. False: one does, or nobody can say. */
bool ambient_quiet(void *block);

/* -- Autocast, and what graphs may leave changed (torch/autocast.c) ------------- */

enum { CAST_CPU, CAST_CUDA, CAST_DEVICES };

typedef struct Autocast {
    bool on[CAST_DEVICES], cache;
    PyObject *dtype[CAST_DEVICES]; /* borrowed: they live for ever */
} Autocast;

int autocast_device(const char *name); /* CAST_CPU …; -1: a device we do not follow */
int autocast_read(Autocast *a);        /* the real state; -1 with an exception */
void autocast_set(const Autocast *a);  /* keeps the exception that may be set */

typedef struct AmbientSaved {
    bool grad, casts, kernels;
    unsigned mask;
    Autocast cast;
    int nesting;
} AmbientSaved;

/* The CPU generator's state, new reference or NULL without exception; and back. The latter keeps the exception that is set. */
PyObject *generator_state(void);
void generator_restore(PyObject *state);

/* Before a graph that switches modes (SWITCHES_ of graph.h), and after it has failed. */
void ambient_save(AmbientSaved *s, uint8_t switches);
void ambient_restore(const AmbientSaved *s);

/* -- Which callables become nodes (torch/classify.c) --------------------------- */

typedef enum {
    TC_NONE, /* not torch's business: Python functions to inline, builtins … */
    TC_NODE, /* becomes a graph node when a tensor is among its arguments or it makes tensors */
    TC_CONST, /* free of effects: fold on constants (torch.finfo, torch.Size, promote_types …) */
    TC_BREAK, /* must not be traced: graph break (torch.save, backward, manual_seed …) */
    TC_SPECIAL, /* has a handler of its own in builtin/: grad mode, is_grad_enabled, is_tensor … */
} TorchClass;

/* What autocast on CPU does to an operation's arguments before it runs. */
typedef enum {
    CASTS_NONE,
    CASTS_LOWER,  /* floats to the dtype of autocast … */
    CASTS_FULL,   /* … or to float32 */
    CASTS_WITHIN, /* it is made of operations of which some do */
} TorchCast;

typedef struct TorchOp {
    TorchClass cls;
    bool factory; /* makes a tensor out of no tensor: a node even without tensor arguments */
    bool random;    /* draws from a generator */
    bool mutates;   /* in-place, out= */
    bool may_alias; /* result may be an argument itself (to, contiguous, float, expand …) */
    bool view;      /* result shares memory */
    bool syncs;     /* result depends on data: item, nonzero, tolist … -> break */
    bool user;      /* runs user Python */
    bool declared;   /* … of which the program has said that it may stand in a graph */
    bool structured; /* result may be something other than a single tensor */
    bool pure; /* a dead node may be dropped once its shapes are known to fit (rule 14) */
    bool loose; /* strides, or whether the result is a view, depend on more than metadata … */
    bool layout;  /* … if an argument is not contiguous */
    uint8_t rule; /* number of its shape rule; 0: none */
    bool total; /* cannot raise on data, given shapes that fit: pure operations, and some that write or draw */
    bool trial; /* may be inferred by running it on made-up data (torch/trial.c) … */
    bool costly;  /* … if that is small */
    bool indexed; /* … and even if single integers are among its tensors */
    TorchCast cast;
    bool fresh; /* strides do not depend on those of the arguments */
} TorchOp;

/* By identity; O(1). Functions that the tables do not name are classified by module and kind. */
TorchOp torch_classify(PyObject *callable);
bool torch_custom_op(PyObject *o); /* made by torch.library.custom_op */
/* Methods of Tensor by name (method_descriptor or Python function of torch.Tensor). */
TorchOp torch_classify_method(PyObject *name);
/* Attributes of tensors: TC_NODE as getattr(x, name); TC_SPECIAL metadata, answered from inference; TC_BREAK anything else. */
TorchOp torch_classify_attr(PyObject *name);

/* -- Inference (torch/infer.c) ------------------------------------------------- */

/* A meta twin of a real tensor: same dtype, sizes, strides, offset, requires_grad, leaf or not, conj and neg bits, on the meta
 * device. New reference; NULL without exception: not a plain dense tensor. */
PyObject *infer_twin(PyObject *tensor);

/* What inference may not know of a result: strides, offset and whether it shares memory or is an argument, after kernels that
 * choose strides by size (sdpa, conv, …) and what is computed from their results; or only whether it is a view. The twin
 * remembers it: do not let the program see it. */
enum { UNSURE_STRIDES = 1, UNSURE_VIEW = 2, UNSURE_ALL = 3 };

typedef struct InferCall {
    NodeKind kind;
    PyObject *target; /* callable, or str for NODE_METHOD */
    PyObject *const *
        args; /* nargs positional then keywords; tensors are meta twins, containers are real ones */
    Py_ssize_t nargs;
    PyObject *kwnames;
    PyObject *
        device; /* device of the tensor arguments (torch.device) or NULL: none. Mixed: the caller breaks, except that
                                 0-dim CPU tensors may go with any other device */
    bool grad; /* grad mode under which the node is recorded; the rest of the ambient state is the real one now */
    unsigned unsure; /* out: what eager may have otherwise, UNSURE_STRIDES … Sizes, dtype and requires_grad are certain */
    bool ruled;      /* out: a shape rule answered, which follows odd strides … */
    unsigned loose; /* out: … but for these bits; what arguments are unsure of comes on top */
} InferCall;

/* Runs the operation on meta tensors. *out: new reference (meta tensor, tuple/list of them, Python scalars …); *device: borrowed,
 * device its tensors are on in the real program, NULL if there are none. ST_OK; ST_RAISE: it raised on the program's own values
 * (exception set in Python, not a program exception yet: the caller decides); ST_DECLINE: meta cannot tell (no kernel, data
 * dependent), nothing set: break; ST_ERROR: interrupt or memory. Warnings are muted, generators untouched.
 *
 * Identity: *out (or an item of it) is the very object of an argument's twin exactly if eager returns its argument.
 * Writing: an operation that writes an argument bumps `_version` of the twin and of its views, as in eager (infer_version; running
 * statistics of batch and instance norm are written without, in eager too: TorchOp.mutates), and it
 * changes the twin's metadata in place (unsqueeze_, requires_grad_, resize_). There is no undo: what was read before stays valid
 * as a constant; after a rewind over such an operation the metas of the nodes that stay are made anew by infer_replay. */
Status infer_call(InferCall *c, PyObject **out, PyObject **device);

/* A twin's value where it is made of constants alone: a small tensor on CPU, borrowed; NULL: not known. */
PyObject *known_value(PyObject *twin);
/* What a call that reads data (TorchOp.syncs) gives if all its tensors are known: new reference, no tensor; NULL: not known. */
PyObject *known_answer(const InferCall *c);

int64_t infer_version(PyObject *twin); /* -1: inference tensor, has none */
unsigned infer_unsure(PyObject *twin); /* UNSURE_… bits */

/* Sets Node.meta (and device) of nodes [0, n) afresh, by running them in order on fresh twins. ST_OK, ST_DECLINE, ST_ERROR. */
Status infer_replay(Graph *g, size_t n);

/* -- torch.fx (torch/fx.c) ------------------------------------------------------ */

/* Builds torch.fx.Graph from the live nodes (graph_prune first) with Node objects made in C: placeholders first, in id order, the
 * order of the example inputs; one output node with a tuple. New reference to (graph, example_inputs list). */
PyObject *fx_build(const Graph *g, const uint32_t *outputs, int noutputs,
                   PyObject *slot_names);

/* The same graph as a function that runs it: positional arguments are the live inputs in id order, the value is the tuple of
 * outputs. What the "eager" backend comes to: no torch.fx. New reference. */
PyObject *fx_function(const Graph *g, const uint32_t *outputs, int noutputs);

/* A number as the tensor that stands for it in graphs of other backends. New reference. */
PyObject *fx_number(PyObject *number);

/* The node's arguments with made[i] in the place of node i; a tuple, a dict. New references. */
PyObject *fx_args(const Node *n, PyObject **made);
PyObject *fx_kwargs(const Node *n, PyObject **made);

/* Whether the numbers among n arguments are in the range of a dtype (torch/fits.c). */
bool numbers_fit(const GArg *args, uint32_t n, int dtype);

/* A pure node that nobody reads: may it vanish? Its kernel is run once on zeros (torch/dead.c). */
bool dead_node_goes(const Graph *g, const Node *n);

/* Whether this backend's graphs run as they were captured, operation by operation (jedlik._backends.eager). */
bool hand_off_own(PyObject *backend);

/* Whether what is no operation on tensors may stand in its graphs: not with torch's compilers, which would run it once, while they
 * trace. A callable of the user's may be one as well: such nodes then raise jedlik._nodes.OutOfGraph, as hand_off_refused tells. */
bool hand_off_replays(PyObject *backend);
bool hand_off_refused(void); /* of the exception that is set */

/* What runs the graph for this backend (Options.backend): the same calling convention, always a tuple of noutputs values. New
 * reference; NULL with jedlik._handoff.BackendError (the backend failed: goes to the user) or another exception. */
PyObject *hand_off(const Graph *g, const uint32_t *outputs, int noutputs,
                   PyObject *backend, PyObject *slot_names);

#endif
