/*
 * trace/tx.h -- one trace: everything that is known while a point is executed symbolically.
 *
 * Declared in trace/ but included by var/ and builtin/ through base/status.h's forward declaration: they see the
 * trace as the place where nodes, guards and effects go.
 */
#ifndef JEDLIK_TRACE_TX_H
#define JEDLIK_TRACE_TX_H

#include "graph/graph.h"
#include "torch/torch.h"
#include "var/proto.h"

typedef enum {
    RET_PUSH,
    RET_NATIVE
} RetKind; /* CALL in the frame above; or C code waits for the value */

struct Frame {
    Frame *up;
    FuncVar *fn;
    const Code *code;
    Var **slots; /* fast slots, then the operand stack; NULL: unbound or NULL */
    size_t sp;   /* index of the first free slot; journalled */
    size_t pc;   /* next instruction */
    size_t cur;  /* the one being executed */
    size_t mark; /* journal mark at its start */
    RetKind ret;
    bool resumable;    /* a break can be taken in this frame */
    GenVar *gen;       /* frame of a generator */
    PyObject *kwnames; /* set by KW_NAMES for the next CALL */
    Var **consts;      /* one Var a constant, made on first use */
    Var *locals;       /* namespace of a class body, or NULL */
    bool resumed;      /* it has run for real before */
};

typedef struct Break {
    int id;     /* row of breaks.def */
    char *text; /* arena */
    PyCodeObject *co;
    int line;
    bool cut; /* nothing runs for real here: the next trace begins with this instruction */
    uint64_t born; /* found too late, after the trace: the step that had better be the break; 0: none */
} Break;

/* An autocast region that is open: its object, its node, the state before it, what it was entered with. */
typedef struct ActiveCast {
    struct ActiveCast *up; /* the region around it */
    Var *self;
    uint32_t node;
    const Autocast *before;
    PyObject *entered[4]; /* device, dtype, enabled, cache */
} ActiveCast;

/* An inference_mode region that is open. */
typedef struct ActiveMode {
    struct ActiveMode *up;
    Var *self;
    uint32_t node;
    uintptr_t grad, inference; /* before it */
} ActiveMode;

/* A call answered by what an lru_cache holds: it still counts. */
typedef struct CacheHit {
    Var *fn, *first;
    Args args;
} CacheHit;

/* A cache that was filled while tracing; taken back if the call that did it is not in the trace that comes to run. */
typedef struct CacheFill {
    struct CacheFill *before;
    PyObject *wrapper, *keys;      /* keys: list of those that are new */
    Py_ssize_t hits, misses, size; /* size: of the cache, before */
    uintptr_t kept;                /* journalled */
} CacheFill;

struct Tx {
    Arena arena;
    Journal journal;
    Sources sources;
    Exprs exprs;
    GuardList guards;
    Graph graph;
    PtrMap wrapped;   /* existing object -> Var: aliases meet here */
    PtrMap wholes;    /* list, dict or set content of a new instance -> the instance */
    PtrMap types;     /* class -> KeyMap of the lookups already guarded (var/type.c) */
    VEC(Var *) dirty; /* existing values that were changed, in order of first change */
    VEC(CacheHit) hits;
    CacheFill *fills;            /* all of them, the last first: rewinding leaves them */
    VEC(PyObject *) called;      /* wrappers of lru_cache that closed code calls */
    VEC(GenVar *) gens;          /* generators made by the trace */
    VEC(struct WeakVar *) weaks; /* weak references made by the trace */
    PtrMap weak_to;              /* Var -> the latest of those to it */
    size_t looks;        /* values looked into to find out who is alive (var/alive.c) */
    VEC(Var *) existing; /* existing mutable values seen: for DISTINCT guards */
    uintptr_t made_classes; /* classes made by the trace so far; journalled */
    PtrMap stand_ins;       /* Var -> real object in the model of a class (var/made.c) */
    PtrMap modelled; /* real objects that only a model holds: they never leave the trace */
    uintptr_t class_writes; /* a class attribute was stored; journalled */
    VEC(Var *)
    sole; /* what only the frame of the point holds, and runs code at its end (trace/sole.c) */
    Frame *top; /* innermost frame; journalled */
    Frame *root;
    int depth, max_depth; /* Python frames open in the trace */
    int nested;           /* C code waiting for a frame: > 0 means breaks move out */
    uintptr_t
        weak_drops; /* existing values with weak references that were let go; journalled */
    uintptr_t holder_drops; /* existing values that may hold others were let go; journalled */
    uintptr_t tracebacks; /* so far: each gets a number */
    Var *exc;             /* the exception in flight while ST_RAISE */
    Var *handled;         /* what the running frames handle; NULL: nothing. journalled */
    Var *inherited; /* in a generator: what is handled where it was resumed; NULL: nothing. journalled */
    Var *handled0; /* the same when the trace began */
    bool resumed;  /* it began behind a break: the frame is the only home of its slots */
    Var *result;   /* value of the frame that returned last */
    Break brk;
    struct Opened *
        opened; /* operators in Python that keep state: what they may have changed. journalled */
    uintptr_t grad; /* traced grad mode; journalled */
    uintptr_t grad0;
    PtrMap storages;  /* of the tensors from outside */
    uintptr_t shared; /* two of them lie in one. journalled */
    /* A write may have made tensors require grad that the twins know nothing of. journalled */
    uintptr_t blurred;
    uintptr_t inference; /* traced inference mode; journalled */
    uintptr_t inference0;
    uintptr_t inferred; /* there was a region: results may be inference tensors. journalled */
    ActiveMode *modes; /* open inference_mode regions, innermost first. journalled */
    Ways ways;
    uintptr_t changed; /* how many nodes change what is outside of the graph … */
    uintptr_t
        changed_late; /* … in front of the one that raised, in a trace that is to end there */
    uintptr_t
        turned; /* … whose sizes, strides or requires_grad are other ones now. journalled */
    PyObject **
        numbers; /* the point's memory of numbers at the graph's edge (number.c); NULL: none */
    PtrMap number_nodes;             /* Expr -> its input of the graph (number.c) */
    bool again;                      /* the point has entries, none of which fits */
    bool foreign_graph;              /* a backend other than our own runs the graph */
    const struct GraphFailure *late; /* the failed run whose state is wanted, or NULL */
    uintptr_t region,
        regions; /* Node.region of what is recorded now; numbers given so far. journalled */
    const Autocast *cast; /* traced autocast state; NULL: as at the start. journalled */
    ActiveCast *casts;    /* open regions, innermost first. journalled */
    void *ambient; /* the block of the guard on torch's ambient state; NULL without torch */
    uintptr_t kernels,
        kernels0; /* kernels of attention that are allowed, now and at the start; 0: not asked. journalled */
    PyObject *consts_none;
    Var *none, *true_, *false_, *notimpl;
    uintptr_t
        strange; /* an input is an inference tensor, and the mode was not on at the start; journalled */
    size_t nops; /* graph operations so far; journalled */
    bool held; /* an exception is being handled: breaks go back to where it was raised (trace/except.c) */
    size_t hold_mark, *hold_cur; /* where it and each frame around it was */
    Frame *hold_frame;
    Var *hold_handled;
    PtrMap consts;        /* code object -> Var*[] of its constants */
    Var *builtins;        /* DictVar of the builtins module */
    uint64_t steps, idle; /* instructions so far; back-edges since the last graph node */
    size_t exprs_seen;    /* expressions there were at the last back-edge */
    size_t looks_seen;    /* nested_looks that are counted */
    PyObject *
        unittest; /* globals of unittest.case; None: not loaded; NULL: not looked up yet */
    PyObject *slot_names;
    PyObject *backend; /* Options.backend, borrowed; NULL: none */
    uintptr_t applies; /* differentiable calls of autograd.Function so far; journalled */
    uintptr_t apply_failed;  /* the number of the one inside of which the trace broke … */
    const char *apply_break; /* … and the text of that break */
    PyObject *module;        /* engine state */
    int foreign; /* > 0: what is traced will run for real and by itself: it must not read what is pending (run_closed) */
    int reading; /* > 0: the world is looked at without asking (dumps) */
    uint64_t moves; /* how often containers were changed: who calls user code while looking at one compares */
    int alternatives;  /* nesting of tuples of classes that isinstance() is looking at */
    char *floor;       /* the C stack may not grow below this: see tx_deep */
    uint64_t break_at; /* force a break at the n-th instruction of the trace; 0: never */
    const Break *why;  /* the reason for that; NULL: it is only forced */
};

#define SET(tx, lvalue, value) JSET(&(tx)->journal, lvalue, value)

static inline void *tx_alloc(Tx *tx, size_t n)
{
    return arena_alloc(&tx->arena, n);
}
static inline PyObject *tx_hold(Tx *tx, PyObject *steals)
{
    return arena_hold(&tx->arena, steals);
}
static inline PyObject *tx_keep(Tx *tx, PyObject *borrowed)
{
    return borrowed ? arena_hold(&tx->arena, Py_NewRef(borrowed)) : NULL;
}

/* Something was done n times without an instruction each, by C code or a jump back: breaks when it is more than tracing is worth. */
Status tx_worked(Tx *tx, size_t n);
enum {
    WORK_STEP = 2, /* an item that C code takes from an iterator */
    WORK_ITEM = 8,
    WORK_MANY = 1000
}; /* an item counts as so much; fewer are not counted when a container is opened */
static inline Status tx_opened(Tx *tx, size_t n)
{
    return n < WORK_MANY ? ST_OK : tx_worked(tx, n * WORK_ITEM);
}

/* Values that refer to themselves, and callables that call each other through slots, recurse in C here: that is a break. */
static inline bool tx_deep(Tx *tx)
{
    return (char *)__builtin_frame_address(0) < tx->floor;
}

/* -- Breaks and exceptions ---------------------------------------------------------- */

typedef enum {
#define BREAK(name, sentence, hint) BRK_##name,
#include "base/breaks.def"
#undef BREAK
    BRK_COUNT
} BreakId;

/* Records the reason and returns ST_BREAK. */
/* Formats are those of PyUnicode_FromFormat. */
Status graph_break(Tx *tx, BreakId id, const char *format, ...);
/* The same, so that effects are settled and the next trace begins with this instruction; a break for real where that would lead nowhere. */
Status graph_cut(Tx *tx, const char *format, ...);
/* `o` is looked at for the first time in this trace: a cut if an operator in Python may have changed it (open.c). */
Status open_touch_slow(Tx *tx, PyObject *o);
static inline Status open_touch(Tx *tx, PyObject *o)
{
    return tx->opened ? open_touch_slow(tx, o) : ST_OK;
}

/* The traced program raises. */
Status raise_type(Tx *tx, PyObject *type, const char *format, ...);
/* Moves the Python exception that is set into the traced program: ST_RAISE. A MemoryError is a break; KeyboardInterrupt: ST_ERROR. */
Status raise_now(Tx *tx);
Status raise_var(Tx *tx, Var *exc);
Status except_handled(
    Tx *tx, Var **out); /* sys.exception() of the traced program, asked for; NULL: None */
/* Is the exception one of a class, or of one of a tuple of classes? */
Status except_matches_var(Tx *tx, Var *exc, Var *cls, bool *yes);
/* A traceback cannot be modelled: passing it on is fine, looking into it breaks. */
Status except_traceback(Tx *tx, Var **out);
bool exc_matches(Tx *tx, PyObject *type); /* of tx->exc, built-in classes only */
/* After ST_RAISE that is swallowed: forgets tx->exc. */
void exc_clear(Tx *tx);

/* -- Running ---------------------------------------------------------------------------- */

/* Pushes a frame for a call of fn; binds the arguments (TypeError as CPython words it). *out NULL: it makes a generator, which is in tx->result. */
Status frame_enter(Tx *tx, FuncVar *fn, const Args *a, RetKind ret, Frame **out);
/* The builtins of the frame that runs. */
Status frame_builtins(Tx *tx, DictVar **out);
/* Runs a class body on its namespace; *out what it returns, the __class__ cell or None. */
Status frame_body(Tx *tx, FuncVar *fn, Var *ns, Var **out);
/* Runs until `base` has returned; its value in *out. */
Status trace_run(Tx *tx, Frame *base, Var **out);
/* Resumes a generator: value sent in; *out NULL: it returned (its value in tx->result). */
Status gen_resume(Tx *tx, GenVar *g, Var *sent, Var **out);
Status gen_throw(Tx *tx, GenVar *g, Var *exc, Var **out);
Status gen_close(Tx *tx, GenVar *g);
/* Does it wait inside a `try` or `with`, so that code runs when it goes? */
bool gen_open(GenVar *g);
/* Nobody may hold the value any more: a break if that would run the rest of a `try` in a generator. NULL: no value. A frame leaves it,
 * which another place may hold; or such a place does. */
Status gen_left(Tx *tx, Var *v);
Status gen_dropped(Tx *tx, Var *v);
/* After ST_RAISE by what a generator delegates to: the value a StopIteration carries, or what was raised else. */
Status gen_ended(Tx *tx, Var **value, Var **raised);

/* A graph operation: target is a callable (function) or a str (method of v[0]). Builds the argument trees, infers, wraps the result. */
Status torch_call(Tx *tx, PyObject *target, bool method, TorchOp op, const Args *a,
                  Var **out);
/* What the program says of a tensor's data, as a node that fails unless bool(cond) is `truth`. Possible: realises *cond. */
Status assert_possible(Tx *tx, Var **cond, bool *yes);
Status assert_truth(Tx *tx, Var *cond, bool truth);
/* Tensor in the graph: its node, adding the input on first use. */
Status tensor_node(Tx *tx, TensorVar *t, uint32_t *id);
Status tensor_meta(Tx *tx, TensorVar *t, PyObject **meta);
/* What f makes of a tensor that is made of constants alone; *out NULL: its value is not known, or f fails. */
Status tensor_known(Tx *tx, TensorVar *t, PyObject *f(PyObject *), Var **out);

static inline Status push(Tx *tx, Frame *f, Var *v)
{
    assert((int)f->sp < f->code->nlocalsplus + f->code->stacksize);
    journal_word(&tx->journal, &f->slots[f->sp]);
    f->slots[f->sp] = v;
    SET(tx, f->sp, f->sp + 1);
    return ST_OK;
}
static inline Var *pop(Tx *tx, Frame *f)
{
    assert((int)f->sp > f->code->nlocalsplus);
    SET(tx, f->sp, f->sp - 1);
    return f->slots[f->sp];
}
static inline Var *peek(Frame *f, int n)
{
    return f->slots[f->sp - (size_t)n];
}

#endif
