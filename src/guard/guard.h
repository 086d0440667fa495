/*
 * guard/guard.h -- recording guards while tracing, freezing them into a check program.
 *
 * Takes: questions the trace asked of sources. Gives: Guards, a program over registers that loads every
 * source once, checks in record order (rule 7: nothing moves past its premise), and exports the values the
 * segment needs. Runs no user code.
 */
#ifndef JEDLIK_GUARD_GUARD_H
#define JEDLIK_GUARD_GUARD_H

#include "base/map.h"
#include "base/vec.h"
#include "guard/expr.h"

/* What of GUARD_QUIET: whatever runs code; what has a finalizer, or would run code and has no other reference; the latter alone. */
enum { QUIET_END, QUIET_SLOT, QUIET_LAST };

typedef enum {
#define GUARD(name, payload, text) GUARD_##name,
#include "guard/guards.def"
#undef GUARD
    GUARD_COUNT
} GuardKind;

typedef struct Guard {
    GuardKind kind;
    bool absent;   /* CLASSATTR: the lookup finds nothing */
    Source *src;   /* NULL for PRED, NORAISE, AMBIENT, CLASSATTR */
    PyObject *obj; /* borrowed from the trace (arena_hold) */
    PyObject *key; /* CLASSATTR: the name; obj2: the value */
    PyObject *obj2;
    Source *other;
    Py_ssize_t n;
    const void *
        p; /* TENSOR, FACTS, AMBIENT: a block that guard_tensor… / guard_ambient understand; DISTINCT: Source*[n]; STORAGE: Sharer[n] */
    size_t size; /* bytes of p to copy at freeze; HASNEXT: how many items ahead */
    Expr *expr;
    uintptr_t prev; /* 1 + index of the guard before on the same source */
} Guard;

typedef struct GuardList {
    Arena *arena;
    Journal *journal;
    VEC(Guard) g;
    PtrMap classes;  /* class -> PtrMap of the names asked */
    PtrMap abcs;     /* ABC -> PtrMap of the classes asked about */
    uintptr_t asked; /* bit set of the GuardKinds without a source; journalled */
} GuardList;

/* Records a guard unless the same question stands already (Source.asked). TYPE followed by EQ or IS on one source
 * is folded at freeze. KEYS, LEN, NONEMPTY, ABSENT ask of the container itself: for an instance dictionary their
 * source is the SRC_DICT of the instance (which materialises nothing unless it is exported). */
Status guard_add(GuardList *l, Guard g);

/* That the place of s holds something (or nothing): for whoever goes on without asking what. */
Status guard_bound(GuardList *l, Source *s, bool bound);
Status guard_type(GuardList *l, Source *s, PyTypeObject *t);
Status guard_is(GuardList *l, Source *s, PyObject *obj);
Status guard_eq(GuardList *l, Source *s, PyObject *value);
Status guard_num(GuardList *l, GuardKind kind, Source *s, Py_ssize_t n);
Status guard_obj(GuardList *l, GuardKind kind, Source *s, PyObject *obj);
/* A number in a class that changes: written by the code that reads it (`stored`), or seen to change before. */
bool class_counter(PyObject *name, PyObject *value, bool stored);
/* issubclass(sub, cls) for an ABC. */
Status guard_abc(GuardList *l, PyTypeObject *cls, PyTypeObject *sub, bool yes);
Status guard_class(GuardList *l, PyTypeObject *t, PyObject *name,
                   PyObject *value /* NULL: absent */);
/* The classes that t looks through, in order. */
Status guard_mro(GuardList *l, PyTypeObject *t);
Status guard_pred(GuardList *l, Expr *e, bool truth);
Status guard_noraise(GuardList *l, Expr *e);
Status guard_has_next(GuardList *l, Source *s, bool has, Py_ssize_t ahead);
Status guard_different(GuardList *l, Source *const *group, size_t n);

/* A tensor and who shares memory with it. */
typedef struct Sharer {
    Source *src;
    size_t first; /* index of the first of the group on the same storage: its own, if there is none before */
    int64_t offset; /* in that storage; compared where it is shared */
    bool shared;
} Sharer;

/* The group shares storages as it did in the trace. Copies v. */
Status guard_storage(GuardList *l, const Sharer *v, size_t n);
/* Equality of everything the expression is made of: instead of a predicate that is too large or one too many
 * (guard_pred and guard_noraise do it themselves), or when the value itself is needed. */
Status guard_leaves(GuardList *l, Expr *e);

/* -- Freezing --------------------------------------------------------------- */

typedef struct Guards Guards;

/* What the segment is called with, in order, behind the graph callable: a source or an expression. */
typedef struct Export {
    Source *src;
    Expr *expr;
} Export;

/* Exact-size block owned by the entry. NULL with an exception set. `slot_names`: tuple of str or NULL, for reports. */
Guards *guards_freeze(GuardList *l, const Export *exports, int nexports,
                      PyObject *slot_names);
void guards_free(Guards *g);

/* The check. slots: the point's slots (borrowed), nslots; func: the function entered; exc: exception being handled or NULL.
 * True: out[0..nexports) are new references. False: nothing is written and no exception is set. */
bool guards_check(Guards *g, PyObject *func, PyObject *const *slots, int nslots,
                  PyObject *exc, PyObject **out);
int guards_nexports(const Guards *g);
/* Something it compares by address is gone: no call will ever match again. */
bool guards_dead(const Guards *g);

/* After a miss: what failed, as text ("type(L['x']) is …, but it is …"). New str. */
PyObject *guards_why(Guards *g, PyObject *func, PyObject *const *slots, int nslots,
                     PyObject *exc);
PyObject *guards_text(
    const Guards *g); /* the whole program as text, for explain() and dumps */

/* Set by torch/ when torch is there; NULL else (then the guards are never recorded). */
extern bool (*guard_tensor_check)(PyObject *obj, const void *meta);
extern bool (*guard_tensor_facts)(PyObject *obj, const void *facts);
extern void *(*guard_tensor_storage)(PyObject *obj,
                                     int64_t *offset); /* NULL: no plain tensor */
extern bool (*guard_ambient_check)(const void *ambient);
extern PyObject *(*guard_tensor_why)(PyObject *obj,
                                     const void *meta); /* "dtype float32, was float64" */
extern int64_t (*guard_tensor_dim)(PyObject *obj,
                                   int dim); /* size of one dimension; negative: none */

#endif
