/*
 * source/source.h -- interned names of places. One node a place; ids in order of first use.
 *
 * Lives in the trace arena; interning is not journalled (a node nobody uses is harmless).
 * `asked` is: it says which guards stand on this source already.
 */
#ifndef JEDLIK_SOURCE_SOURCE_H
#define JEDLIK_SOURCE_SOURCE_H

#include "base/journal.h"
#include "base/text.h"

typedef enum {
#define SRC(name, text) SRC_##name,
#include "source/sources.def"
#undef SRC
    SRC_COUNT
} SrcKind;

/* A CONST that the program has, which was met without a place to read it from: entries do not own it. */
enum { FOUND = 1 };

typedef struct Source Source;
struct Source {
    SrcKind kind;
    uint32_t id;
    Source *base;     /* NULL for roots */
    PyObject *key;    /* ATTR, ITEM … : interned str or constant key; CONST: the object */
    Py_ssize_t index; /* of an element; CONST: FOUND, or 0 */
    Source *chain;    /* hash chain of the table */
    uintptr_t asked;  /* bit set of GuardKind; journalled */
    uintptr_t last; /* 1 + index of the last guard on this source, chained; journalled */
    uintptr_t npreds; /* predicates this source is a leaf of; journalled */
    PyObject *
        hint; /* the object found there while tracing, borrowed from the trace; may be NULL */
    int reg; /* used by freeze */
};

typedef struct Sources {
    Arena *arena;
    Source **bucket;
    size_t nbuckets, n;
} Sources;

int sources_init(Sources *t, Arena *arena);

/* Interned; NULL with MemoryError set. `key` is compared by identity for str (intern it), by exact type and value else. */
Source *source_get(Sources *t, SrcKind kind, Source *base, PyObject *key,
                   Py_ssize_t index);

/* The element of `base` at an index that is an expression; it is kept in `index`. */
struct Expr;
Source *source_at(Sources *t, Source *base, struct Expr *index);

/* Whether reading it gives a reference that the reader alone may hold. */
bool source_makes_new(SrcKind k);
/* Whether what lies there stays alive without whoever read it: it is neither a slot's nor made by the reading. */
bool source_keeps(const Source *s);

static inline struct Expr *source_expr(const Source *s)
{
    return (struct Expr *)s->index;
}

/* Set by guard/, which knows expressions. */
extern void (*source_print_expr)(Text *t, const struct Expr *e, PyObject *slot_names);

/* slot_names: tuple of str or NULL; slots that have one come out as L['x']. */
void source_print(Text *t, const Source *s, PyObject *slot_names);

/* The same in pieces, for those who keep paths in another form: what stands before the base,
 * behind it, and a root as a whole. */
void source_print_head(Text *t, SrcKind kind, PyObject *key, Py_ssize_t index);
void source_print_tail(Text *t, SrcKind kind, PyObject *key, Py_ssize_t index);
void source_print_root(Text *t, SrcKind kind, PyObject *key, Py_ssize_t index,
                       PyObject *slot_names);

#endif
