/*
 * var/var.h -- symbolic values.
 *
 * A value either exists already (real != NULL), is a constant, or is made by the trace. `src` says how the finished
 * code gets at it; NULL for what the trace makes. Vars live in the trace arena; fields that change are journalled words.
 */
#ifndef JEDLIK_VAR_VAR_H
#define JEDLIK_VAR_VAR_H

#include "base/map.h"
#include "base/vec.h"
#include "bytecode/code.h"
#include "guard/guard.h"

typedef struct VarKind VarKind;
typedef struct Frame Frame;

/* Arguments of a call: positional v[0..n), then the values of kwnames. */
typedef struct Args {
    Var **v;
    int n, nkw;
    PyObject *kwnames; /* tuple of str, or NULL */
} Args;

typedef enum {
#define KIND(name, text) KIND_##name,
#include "var/kinds.def"
#undef KIND
    KIND_COUNT
} KindId;

struct VarKind {
    const char *name;
    KindId id;
#define SLOT(name, signature) Status(*name) signature;
#include "var/slots.def"
#undef SLOT
};

struct Var {
    const VarKind *kind;
    PyTypeObject *type; /* of the value in the traced program; NULL while lazy */
    Source *src;
    PyObject *real;  /* existing object or constant; NULL: made by the trace */
    uintptr_t dirty; /* journalled: on the ledger's list of changed values */
    uint32_t id;     /* emit: number of the temporary; dumps: order of first use */
    uint32_t by_value
        : 1; /* a constant that stands for any equal object: an equality guard holds it */
    uint32_t born
        : 31; /* the step of the trace that made it; 0: it was there at the start */
};

/* -- The kinds' structs -------------------------------------------------------- */

typedef struct LazyVar {
    Var v;
    Var *got; /* journalled */
} LazyVar;

typedef struct ScalarVar {
    Var v;
    Expr *e;
} ScalarVar;

typedef struct TensorVar {
    Var v;          /* real: the input tensor */
    uintptr_t node; /* graph node + 1; 0: an input that is not in the graph yet. journalled */
    PyObject *meta;        /* meta twin; NULL until asked. journalled */
    PyObject *device;      /* torch.device */
    struct DictVar *attrs; /* Python attributes set on it, or NULL. journalled */
    Var *same; /* the Var that is this very object (x.contiguous() may be x), or NULL */
    bool external; /* its storage may exist outside of the graph: inputs and what may alias them */
    bool fresh; /* external only because a user's operator, which made it, may break its word */
    bool vague; /* whether it is, or shares memory with, what it was made from hangs on strides that are not certain */
} TensorVar;

typedef struct ListVar {
    Var v;
    VEC(Var *) items; /* closed: only what was appended */
    uintptr_t open;   /* items are all there is; new lists are always open. journalled */
    Py_ssize_t base;  /* existing: length when first seen */
    Var *maxlen;      /* deque */
    uintptr_t room;   /* free cells before the first item. journalled */
    uintptr_t stirs;  /* of a deque: changes that its iterators notice. journalled */
} ListVar;

typedef struct TupleVar {
    Var v;
    Py_ssize_t n;
    Var **items; /* immutable once made */
} TupleVar;

typedef struct DictVar {
    Var v; /* real: the existing dict, or NULL for inline instance values and new ones */
    Var *owner; /* instance dictionary of this object; NULL: a dict of its own */
    KeyMap reads; /* existing: what was looked at; value NULL: known absent. All keys in order once open */
    KeyMap writes; /* what the trace stored, in order; new dicts keep everything here */
    KeyMap dels;   /* existing keys that were deleted (they may stand in writes again) */
    KeyMap below; /* of an OrderedDict in which keys moved: those that did not move in the dict below. New ones: all, in its order */
    uintptr_t open;        /* all keys of the existing dict are in reads. journalled */
    Var *factory;          /* defaultdict */
    struct DictVar *attrs; /* of an OrderedDict, which has attributes too. journalled */
    bool shown; /* what __dict__ of a new class shows: cannot be made by itself */
} DictVar;

typedef struct DictViewVar {
    Var v;
    Var *dict;
    char what; /* 'k', 'v', 'i' */
} DictViewVar;

typedef struct SetOp {
    uintptr_t
        what; /* '+' added, '-' discarded, 'p' popped, 'c' cleared; '|', '&', '_', '^': in place with a set or dict */
    Var *item;
    PyObject *key;    /* NULL: item goes by identity. Of the operand: a real one */
    uintptr_t serial; /* unique in the process: tells whether a replayed log was rewound */
} SetOp;

typedef struct SetVar {
    Var v;
    KeyMap items;   /* value: the Var. Existing and not open: what was added only */
    uintptr_t open; /* journalled */
    PyObject *
        shadow; /* a real set with the same history up to `log`: its order is the set's order. Never changed; NULL: empty. journalled */
    VEC(SetOp) log; /* what happened since: existing sets are changed by replaying it */
    uintptr_t blurred; /* the order cannot be known. journalled */
    PyObject *live;    /* shadow with log[0..nlive) applied, a cache */
    size_t nlive;
    uintptr_t live_serial;
} SetVar;

typedef struct ObjectVar {
    Var v;
    DictVar *attrs; /* made when first needed; journalled */
    Var *content; /* list, tuple, dict … part of a subclass of a built-in; NULL: none. journalled */
    KeyMap members; /* __slots__ values that were read or written: member descriptor -> Var */
} ObjectVar;

/* What a class statement or type() in the trace was given: the class is made of it again for real (var/made.c). */
typedef struct ClassMade {
    PyObject *name;
    Var *bases;      /* tuple */
    PyObject *names; /* tuple of the namespace's names, in order */
    Var **values;
    Var *mro, *dict; /* what __mro__ has given, what __dict__ shows; journalled */
    uintptr_t abc;   /* _abc_init has been called for it; journalled */
    KeyMap again; /* names that it was made with, deleted and stored again: they stand at the end */
} ClassMade;

typedef struct ClassVar {
    Var v;           /* real: the type; of a class made by the trace: its model */
    KeyMap writes;   /* class attributes stored in the trace */
    uintptr_t shown; /* an existing class's __dict__ was asked for; journalled */
    ClassMade *made; /* NULL: it existed before */
} ClassVar;

typedef struct FuncVar {
    Var v;
    PyCodeObject *co;
    const Code *code;
    Var *globals;         /* DictVar */
    Var *builtins;        /* DictVar; NULL: the usual ones */
    Var *name, *qualname; /* new functions; else NULL. journalled, as are: */
    Var *module, *doc;  /* new functions: stored in the trace; NULL: as they were made */
    TupleVar *defaults; /* NULL: none */
    DictVar *kwdefaults;
    Var **closure;  /* CellVars, co_nfreevars */
    DictVar *attrs; /* function attributes; journalled */
    Var *annotations;
} FuncVar;

typedef struct MethodVar {
    Var v;
    Var *func, *self;
} MethodVar;

typedef struct BuiltinVar {
    Var v;           /* real: the builtin, method descriptor, wrapper descriptor … */
    Var *self;       /* bound: what it is bound to; NULL: none */
    PyObject *descr; /* of a bound method that existed: the method's descriptor; else NULL */
} BuiltinVar;

/* What is called, with self in front if there is one. */
static inline PyObject *builtin_callable(const BuiltinVar *b)
{
    return b->descr ? b->descr : b->v.real;
}

typedef struct ModuleVar {
    Var v;
    DictVar *attrs;
} ModuleVar;

typedef struct CellVar {
    Var v;        /* real: existing cell */
    Var *content; /* NULL: empty. journalled */
} CellVar;

typedef struct IterVar {
    Var v;
    Var *seq;     /* what it walks; NULL once exhausted. journalled */
    uintptr_t at; /* position; journalled */
    Var **items; /* snapshot, or NULL: seq is asked each time (lists may grow under the iterator) */
    Py_ssize_t n; /* of items; dicts: size at the start */
    long step;    /* -1: reversed; `at` is then one above the next */
    uintptr_t
        stamp; /* state of the container at the start, where changes matter. Existing iterators (real): exhausted,
                       * and `at` is how many times next() was called. journalled */
} IterVar;

typedef struct WrapIterVar {
    Var v;
    char what; /* 'm' map, 'f' filter, 'z' zip, 'e' enumerate, 'c' callable+sentinel, 'h' chain, 's' islice … */
    Var *fn;
    Var **its;
    int n;
    uintptr_t at;          /* journalled: count, current iterator … */
    uintptr_t state;       /* journalled */
    uintptr_t busy;        /* in the middle of a step; journalled */
    Py_ssize_t stop, step; /* islice */
    bool strict;
} WrapIterVar;

typedef enum { GEN_CREATED, GEN_SUSPENDED, GEN_RUNNING, GEN_DONE } GenState;

typedef struct GenVar {
    Var v;
    Frame *frame;
    FuncVar *fn;
    uintptr_t state; /* GenState; journalled */
    uintptr_t begun; /* Tx.steps when it was first resumed; journalled */
    Var *exc_saved;  /* exception handled inside while suspended; journalled */
    uintptr_t kept;  /* an attribute or a dictionary has it; journalled */
} GenVar;

typedef struct SliceVar {
    Var v;
    Var *part[3]; /* start, stop, step: never NULL */
} SliceVar;

typedef struct SuperVar {
    Var v;
    Var *cls, *self;     /* self NULL: unbound */
    PyTypeObject *start; /* type(self), or self if that is the class */
} SuperVar;

typedef struct ExcVar {
    Var v;          /* type: the exception class; real: an existing exception */
    TupleVar *args; /* journalled */
    TupleVar *
        made; /* what its C fields were made of; NULL: the C class's __init__ has not run. journalled */
    Var *cause, *context; /* journalled; NULL: None */
    uintptr_t suppress;
    TupleVar *excs;   /* of a group: its exceptions */
    Var *message;     /* of a group */
    uintptr_t tb;     /* a number for its traceback: equal ones are one; journalled */
    uintptr_t raised; /* journalled: it has a traceback, which only a real raise makes */
    DictVar *attrs;   /* journalled */
    KeyMap members;   /* C fields that its args do not give: descriptor -> constant */
    uintptr_t
        partial; /* it has C fields (AttributeError.obj …) that are not known: it cannot be made again; journalled */
    Var *self_object; /* ObjectVar of a user-defined exception class, or NULL */
} ExcVar;

typedef struct PartialVar {
    Var v;
    Var *fn;
    Args args;  /* keywords included */
    Var *tuple; /* what .args has given; journalled */
} PartialVar;

/* operator.itemgetter and its like. */
typedef struct GetterVar {
    Var v;
    PyObject *model; /* a real one, which nobody else sees */
    Args args;       /* of its constructor: constants */
} GetterVar;

/* property: getter, setter, deleter, text; classmethod, staticmethod: the function. */
typedef struct DescrVar {
    Var v;
    Var *part[4]; /* NULL: not given */
    PyObject *
        name; /* of a property: what __set_name__ has told it; NULL: nothing. journalled */
    Var *copied[5]; /* what functools_wraps of the others took from the function; NULL: it had none */
} DescrVar;

typedef struct TokenVar TokenVar;

typedef struct CtxVar {
    Var v;
    Var *now;       /* its value; NULL: none. journalled */
    TokenVar *top;  /* of the last set() that was not undone; journalled */
    uintptr_t seen; /* journalled */
} CtxVar;

struct TokenVar {
    Var v;
    CtxVar *var;
    Var *value, *old;
    TokenVar *below; /* of the set() before, which was not undone either */
    uintptr_t used;  /* journalled */
};

typedef struct LockVar {
    Var v;
    uintptr_t held; /* journalled */
    bool many;      /* RLock */
} LockVar;

typedef struct FrameVar {
    Var v;
    Frame *f;
} FrameVar;

typedef struct ProxyVar {
    Var v;
    Var *mapping;
} ProxyVar;

/* What the trace has made with weakref.ref() and weakref.proxy(). */
typedef struct WeakVar {
    Var v;
    Var *of;
    Var *callback;          /* NULL: none */
    uintptr_t drops;        /* Tx.weak_drops and holder_drops when it was made */
    struct WeakVar *before; /* one more to the same object */
} WeakVar;

typedef struct ByteArrayVar {
    Var v;
    PyObject *now; /* its content as bytes; journalled */
} ByteArrayVar;

#define AS(Type, var) ((Type *)(var))

extern const VarKind kind_object, kind_exc;
/* An instance whose class may be written in Python, with special methods of its own. */
static inline bool var_is_instance(const Var *v)
{
    return v->kind == &kind_object || v->kind == &kind_exc;
}

/* -- Making values ---------------------------------------------------------------- */

#define KIND(name, text) extern const VarKind kind_##name;
#include "var/kinds.def"
#undef KIND
extern const VarKind *const kind_table[KIND_COUNT]; /* by KindId */

/* A zeroed struct of the kind; type, src and real set. */
Status var_make(Tx *tx, const VarKind *kind, size_t size, PyTypeObject *type, Var **out);
#define VAR_MAKE(tx, kindname, Struct, type, out)                                        \
    var_make((tx), &kind_##kindname, sizeof(Struct), (type), (Var **)(out))

Status const_new(Tx *tx, PyObject *steals,
                 Var **out); /* NULL in (exception set) gives ST_ERROR */
Status const_peek(Tx *tx, PyObject *borrowed, Var **out);
/* A value that an equality guard on its place holds: returned from there (rule 2). */
Status const_known(Tx *tx, PyObject *borrowed, Source *src, Var **out);
/* Item i (-1: without a place) of a constant: as well known as the whole. */
Status const_item(Tx *tx, const Var *whole, PyObject *borrowed, Py_ssize_t i, Var **out);
/* The result of an operation on constants; one that is an operand itself stays that operand, with its place (rule 2). */
Status const_result(Tx *tx, PyObject *steals, Var *const *operands, Py_ssize_t n,
                    Var **out);
Status const_int(Tx *tx, Py_ssize_t n, Var **out);
Status const_str(Tx *tx, const char *s, Var **out);
Var *tx_none(Tx *tx);
Var *tx_bool(Tx *tx, bool b);
Var *tx_notimpl(Tx *tx);

Status list_new(Tx *tx, Var **items, Py_ssize_t n, Var **out);
Status tuple_new(Tx *tx, Var **items, Py_ssize_t n,
                 Var **out); /* copies items; all constants: a const */
/* torch.Size takes whole numbers only. */
Status size_check(Tx *tx, Var *const *items, Py_ssize_t n);
Status tuple_new_type(Tx *tx, PyTypeObject *t, Var **items, Py_ssize_t n, Var **out);
Status dict_new(Tx *tx, Var **out);
Status set_new(Tx *tx, PyTypeObject *t, Var **out);
Status set_add(Tx *tx, SetVar *s, Var *item);
Status set_update(Tx *tx, SetVar *s, Var *iterable);
Status proxy_new(Tx *tx, Var *mapping, Var **out);
Status cell_new(Tx *tx, Var *content, Var **out);
Status cell_get(Tx *tx, CellVar *c, Var **out); /* *out NULL: empty (guarded) */
Status cell_set(Tx *tx, CellVar *c, Var *value);
Status method_new(Tx *tx, Var *func, Var *self, Var **out);
Status builtin_new(Tx *tx, PyObject *callable, Var *self, Var **out);
Status slice_new(Tx *tx, Var *a, Var *b, Var *c, Var **out);
Status iter_new(Tx *tx, PyTypeObject *t, Var *seq, Var **items, Py_ssize_t n, Var **out);
Status object_new(Tx *tx, PyTypeObject *cls, Var **out);
Status object_concrete(Tx *tx, PyTypeObject *cls); /* raises for an abstract class */
Status exc_new(Tx *tx, PyTypeObject *cls, Var **args, Py_ssize_t n, Var **out);
Status scalar_new(Tx *tx, Expr *e, Var **out);
Status scalar_pin(Tx *tx, ScalarVar *s, PyObject **out);
Status gen_new(Tx *tx, FuncVar *fn, Frame *frame, Var **out);

/* An existing object found at a source: lazy, unguarded. obj is kept alive by the trace. */
Status lazy_new(Tx *tx, PyObject *obj, Source *src, Var **out);
/* The same, asked at once: guards its type, merges aliases (var/wrap.c). */
Status wrap(Tx *tx, PyObject *obj, Source *src, Var **out);
/* An object whose identity a guard pins already (class attribute, constant): no identity guard. src may be NULL. */
Status wrap_pinned(Tx *tx, PyObject *obj, Source *src, Var **out);
/* What a lookup in a class gives: constants are held by value there. */
Status wrap_classvar(Tx *tx, PyObject *obj, Source *src, Var **out);
/* A key or member of what exists, which a guard compares. */
Status wrap_member(Tx *tx, PyObject *obj, Var **out);

#endif
