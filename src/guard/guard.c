/*
 * guard/guard.c -- recording: one guard a question, and none for what is known already.
 *
 * A source names a place at the moment of entry, so that a question about it has one answer
 * in a trace: a bit per kind says that it was asked. Kinds with a parameter (ABSENT, ALIAS,
 * HASNEXT) look along the source's chain.
 */
#include "guard/guard.h"

enum { MAX_PREDICATES = 8 };

bool (*guard_tensor_check)(PyObject *obj, const void *meta);
bool (*guard_ambient_check)(const void *ambient);
PyObject *(*guard_tensor_why)(PyObject *obj, const void *meta);
int64_t (*guard_tensor_dim)(PyObject *obj, int dim);
bool (*guard_tensor_facts)(PyObject *obj, const void *facts);
void *(*guard_tensor_storage)(PyObject *obj, int64_t *offset);

#define BIT(kind) ((uintptr_t)1 << GUARD_##kind)

_Static_assert(GUARD_COUNT <= 64, "kinds of guards are bits of a word");

/* -- Is it known? ----------------------------------------------------------- */

/* Kinds that answer a question of this kind too, itself included. */
static uintptr_t implied_by(GuardKind kind)
{
    uintptr_t self = (uintptr_t)1 << kind;
    switch (kind) {
    case GUARD_TYPE: return self | BIT(EQ) | BIT(TENSOR);
    case GUARD_BOUND: return ~(BIT(UNBOUND) | BIT(QUIET));
    case GUARD_QUIET: return self | BIT(EQ);
    case GUARD_LEN: return self | BIT(EQ) | BIT(KEYS) | BIT(SETEQ);
    case GUARD_NONEMPTY: return self | BIT(EQ) | BIT(KEYS) | BIT(SETEQ) | BIT(LEN);
    default: return self;
    }
}

static bool has_parameter(GuardKind kind)
{
    return kind == GUARD_ABSENT || kind == GUARD_ALIAS || kind == GUARD_HASNEXT ||
           kind == GUARD_DISTINCT || kind == GUARD_QUIET;
}

/* Looks at the newest ones only: a guard that stands twice costs a little time, a walk over all that a long loop has
 * asked of one source costs the square of it. */
enum { CHAIN_LOOK = 64 };

static bool in_chain(const GuardList *l, const Guard *g)
{
    int left = CHAIN_LOOK;
    for (uintptr_t at = g->src->last; at && left-- > 0; at = l->g.v[at - 1].prev) {
        const Guard *old = &l->g.v[at - 1];
        if (old->kind == g->kind && old->obj == g->obj && old->other == g->other &&
            old->size == g->size && old->p == g->p && old->n == g->n)
            return true;
    }
    return false;
}

static bool known(const GuardList *l, const Guard *g)
{
    if (g->src == NULL)
        return g->kind == GUARD_AMBIENT && (l->asked & BIT(AMBIENT));
    if (g->src->kind == SRC_CONST && (g->kind == GUARD_IS || g->kind == GUARD_EQ))
        return true;
    if (!(g->src->asked & implied_by(g->kind)))
        return false;
    return !has_parameter(g->kind) || in_chain(l, g);
}

/* -- Adding ----------------------------------------------------------------- */

static bool hold(GuardList *l, PyObject *obj)
{
    return obj == NULL || arena_hold(l->arena, Py_NewRef(obj)) != NULL;
}

Status guard_add(GuardList *l, Guard g)
{
    if (known(l, &g))
        return ST_OK;
    if (!hold(l, g.obj) || !hold(l, g.key) || !hold(l, g.obj2))
        return ST_ERROR;
    g.prev = g.src ? g.src->last : 0;
    if (!VEC_PUSH(l->arena, l->journal, &l->g, g))
        return ST_ERROR;
    if (g.src == NULL) {
        JSET(l->journal, l->asked, l->asked | (uintptr_t)1 << g.kind);
        return ST_OK;
    }
    JSET(l->journal, g.src->asked, g.src->asked | (uintptr_t)1 << g.kind);
    JSET(l->journal, g.src->last, l->g.n);
    return ST_OK;
}

Status guard_bound(GuardList *l, Source *s, bool bound)
{
    return guard_add(l, (Guard){ .kind = bound ? GUARD_BOUND : GUARD_UNBOUND, .src = s });
}

Status guard_type(GuardList *l, Source *s, PyTypeObject *t)
{
    return guard_add(l, (Guard){ .kind = GUARD_TYPE, .src = s, .obj = (PyObject *)t });
}

Status guard_is(GuardList *l, Source *s, PyObject *obj)
{
    return guard_add(l, (Guard){ .kind = GUARD_IS, .src = s, .obj = obj });
}

Status guard_eq(GuardList *l, Source *s, PyObject *value)
{
    return guard_add(l, (Guard){ .kind = GUARD_EQ, .src = s, .obj = value });
}

Status guard_num(GuardList *l, GuardKind kind, Source *s, Py_ssize_t n)
{
    return guard_add(l, (Guard){ .kind = kind, .src = s, .n = n });
}

static PyObject *interned(PyObject *name)
{
    Py_INCREF(name);
    if (PyUnicode_CheckExact(name))
        PyUnicode_InternInPlace(&name);
    return name;
}

Status guard_obj(GuardList *l, GuardKind kind, Source *s, PyObject *obj)
{
    if (kind != GUARD_ABSENT)
        return guard_add(l, (Guard){ .kind = kind, .src = s, .obj = obj });
    PyObject *key =
        arena_hold(l->arena, interned(obj)); /* compared by address in the chain */
    TRY_PTR(key);
    return guard_add(l, (Guard){ .kind = kind, .src = s, .obj = key });
}

Status guard_class(GuardList *l, PyTypeObject *t, PyObject *name, PyObject *value)
{
    void *names;
    PyObject *key = arena_hold(l->arena, interned(name));
    TRY_PTR(key);
    if (!ptrmap_get(&l->classes, t, &names)) {
        names = arena_alloc(l->arena, sizeof(PtrMap));
        TRY_PTR(names);
        if (!ptrmap_put(&l->classes, l->arena, l->journal, t, names))
            return ST_ERROR;
    }
    if (ptrmap_get(names, key, NULL))
        return ST_OK;
    if (!ptrmap_put(names, l->arena, l->journal, key, NULL))
        return ST_ERROR;
    return guard_add(l, (Guard){ .kind = GUARD_CLASSATTR,
                                 .absent = value == NULL,
                                 .obj = (PyObject *)t,
                                 .key = key,
                                 .obj2 = value });
}

Status guard_mro(GuardList *l, PyTypeObject *t)
{
    static PyObject *name;
    if (!(t->tp_flags & Py_TPFLAGS_HEAPTYPE) || t->tp_flags & Py_TPFLAGS_IMMUTABLETYPE)
        return ST_OK;
    if (name == NULL)
        TRY_PTR(name = PyUnicode_InternFromString("__mro__"));
    return guard_class(l, t, name, t->tp_mro);
}

Status guard_abc(GuardList *l, PyTypeObject *cls, PyTypeObject *sub, bool yes)
{
    void *subs;
    if (!ptrmap_get(&l->abcs, cls, &subs)) {
        subs = arena_alloc(l->arena, sizeof(PtrMap));
        TRY_PTR(subs);
        if (!ptrmap_put(&l->abcs, l->arena, l->journal, cls, subs))
            return ST_ERROR;
    }
    if (ptrmap_get(subs, sub, NULL))
        return ST_OK;
    if (!ptrmap_put(subs, l->arena, l->journal, sub, NULL))
        return ST_ERROR;
    return guard_add(l, (Guard){ .kind = GUARD_ABC,
                                 .obj = (PyObject *)cls,
                                 .obj2 = (PyObject *)sub,
                                 .n = yes });
}

Status guard_has_next(GuardList *l, Source *s, bool has, Py_ssize_t ahead)
{
    return guard_add(
        l, (Guard){ .kind = GUARD_HASNEXT, .src = s, .n = has, .size = (size_t)ahead });
}

Status guard_different(GuardList *l, Source *const *group, size_t n)
{
    if (n < 2)
        return ST_OK;
    Source **copy = arena_alloc(l->arena, n * sizeof *copy);
    TRY_PTR(copy);
    memcpy(copy, group, n * sizeof *copy);
    return guard_add(l, (Guard){ .kind = GUARD_DISTINCT, .n = (Py_ssize_t)n, .p = copy });
}

Status guard_storage(GuardList *l, const Sharer *v, size_t n)
{
    if (n < 2)
        return ST_OK;
    Sharer *copy = arena_alloc(l->arena, n * sizeof *copy);
    TRY_PTR(copy);
    memcpy(copy, v, n * sizeof *copy);
    return guard_add(l, (Guard){ .kind = GUARD_STORAGE, .n = (Py_ssize_t)n, .p = copy });
}

/* -- Predicates ------------------------------------------------------------- */

enum { ASKED_PRED = 1, ASKED_NORAISE = 2, ASKED_VALUE = 4 };

typedef struct Walk {
    GuardList *list;
    bool open; /* a leaf whose value is not guarded */
    bool full; /* a leaf has its share of predicates */
    Status status;
} Walk;

static bool leaf_known(const Expr *leaf)
{
    uintptr_t by =
        leaf->kind == EX_LEN ? BIT(LEN) | BIT(EQ) | BIT(KEYS) | BIT(SETEQ) : BIT(EQ);
    return leaf->kind != EX_DIM &&
           (leaf->src->kind == SRC_CONST || (leaf->src->asked & by));
}

static void look(Expr *leaf, void *arg)
{
    Walk *w = arg;
    if (leaf_known(leaf))
        return;
    w->open = true;
    w->full |= leaf->src->npreds >= MAX_PREDICATES;
}

static void count(Expr *leaf, void *arg)
{
    Walk *w = arg;
    JSET(w->list->journal, leaf->src->npreds, leaf->src->npreds + 1);
}

static void settle(Expr *leaf, void *arg)
{
    Walk *w = arg;
    GuardList *l = w->list;
    if (w->status != ST_OK || leaf_known(leaf))
        return;
    if (leaf->kind == EX_LEAF)
        w->status = guard_eq(l, leaf->src, leaf->value);
    else if (leaf->kind == EX_LEN)
        w->status = guard_num(l, GUARD_LEN, leaf->src, PyLong_AsSsize_t(leaf->value));
    else if (!(leaf->asked & ASKED_VALUE)) {
        JSET(l->journal, leaf->asked, leaf->asked | ASKED_VALUE);
        w->status = guard_add(l, (Guard){ .kind = GUARD_VALUE,
                                          .expr = leaf,
                                          .n = PyLong_AsSsize_t(leaf->value) });
    }
}

Status guard_leaves(GuardList *l, Expr *e)
{
    Walk w = { .list = l };
    expr_leaves(e, settle, &w);
    return w.status;
}

static Status ask(GuardList *l, GuardKind kind, Expr *e, bool truth, uintptr_t mark)
{
    Walk w = { .list = l };
    if (e->asked & mark)
        return ST_OK;
    JSET(l->journal, e->asked, e->asked | mark | ASKED_NORAISE);
    expr_leaves(e, look, &w);
    if (!w.open)
        return ST_OK;
    if (w.full || !expr_small(e))
        return guard_leaves(l, e);
    expr_leaves(e, count, &w);
    return guard_add(l, (Guard){ .kind = kind, .expr = e, .n = truth });
}

Status guard_pred(GuardList *l, Expr *e, bool truth)
{
    while (e->kind == EX_UNARY && (e->op == '!' || e->op == 'b')) {
        truth ^= e->op == '!';
        e = e->a;
    }
    return ask(l, GUARD_PRED, e, truth, ASKED_PRED);
}

Status guard_noraise(GuardList *l, Expr *e)
{
    while (!e->total && e->safe) { /* only what is below can raise */
        if (e->b && !e->b->total)
            TRY(guard_noraise(l, e->b));
        if (!e->a)
            return ST_OK;
        e = e->a;
    }
    return e->total ? ST_OK : ask(l, GUARD_NORAISE, e, true, ASKED_NORAISE);
}
