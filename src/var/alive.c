/*
 * var/alive.c -- who is certainly held by the program at this moment of the trace.
 *
 * Takes: the open frames, the ledger, a value that the trace has made. Gives: whether a strong reference leads there. Holds: only what
 * CPython holds as well is followed, so that "yes" is certain; what is not followed (a C function's own variables, tracebacks) makes a "no"
 * that says nothing.
 */
#include "var/weak.h"

#include "var/made.h"

enum { MOST_LOOKS = 1000000 }; /* values looked into in a trace */

typedef struct Mark {
    Tx *tx;
    VEC(Var *) todo; /* nearest first */
    size_t next;
    Var *wanted;         /* NULL: all */
    const Source *place; /* of it, if it lies in what the trace was entered with; or NULL */
    bool found;
    PtrMap *seen;
    Journal journal; /* of this search: nothing of it is undone */
    Status st;
} Mark;

/* Does the place of v lead to the one that is looked for? */
static bool leads(const Mark *m, const Var *v)
{
    const Source *s = v->src ? m->place : NULL;
    while (s && s != v->src)
        s = s->base;
    return s != NULL;
}

static void meet(Mark *m, Var *v)
{
    for (; v && v->kind == &kind_lazy; v = AS(LazyVar, v)->got)
        m->found |= leads(m, v);
    v = same_object(v);
    m->found |= v && (v == m->wanted || leads(m, v));
    if (v == NULL || v == &made_deleted || m->st != ST_OK || v->kind == &kind_const ||
        ptrmap_get(m->seen, v, NULL))
        return;
    Arena *arena = &m->tx->arena;
    if (!ptrmap_put(m->seen, arena, &m->journal, v, NULL) ||
        !VEC_PUSH(arena, &m->journal, &m->todo, v))
        m->st = ST_ERROR;
}

static void meet_all(Mark *m, Var **v, size_t n)
{
    for (size_t i = 0; v && i < n; i++)
        meet(m, v[i]);
}

/* `vars`: what the entries go by is a Var as well. */
static void meet_map(Mark *m, const KeyMap *map, bool vars)
{
    KeyEntry *e;
    for (size_t at = 0; map->n && (e = keymap_next(map, &at)) != NULL;) {
        meet(m, e->value);
        if (vars && e->value)
            meet(m, e->id);
    }
}

static void meet_args(Mark *m, const Args *a)
{
    meet_all(m, a->v, (size_t)(a->n + a->nkw));
}

static void meet_dict(Mark *m, DictVar *d)
{
    if (d == NULL)
        return;
    meet_map(m, &d->writes, true);
    meet(m, d->factory);
}

static void meet_frame(Mark *m, Frame *f)
{
    meet_all(m, f->slots, f->sp);
    meet(m, f->locals);
    meet(m, (Var *)f->fn);
}

static void meet_func(Mark *m, FuncVar *f)
{
    meet_all(m, f->closure, f->closure ? (size_t)f->code->nfree : 0);
    meet(m, (Var *)f->defaults);
    meet(m, (Var *)f->kwdefaults);
    meet(m, f->annotations);
    meet_dict(m, f->attrs);
}

static void meet_exc(Mark *m, ExcVar *x)
{
    meet(m, (Var *)x->args);
    meet(m, (Var *)x->made);
    meet(m, (Var *)x->excs);
    meet(m, x->cause);
    meet(m, x->context);
    meet(m, x->self_object);
    meet_dict(m, x->attrs);
}

static void meet_class(Mark *m, ClassVar *c)
{
    meet_map(m, &c->writes, false);
    if (c->made == NULL)
        return;
    meet(m, c->made->bases);
    meet_all(m, c->made->values, (size_t)PyTuple_GET_SIZE(c->made->names));
}

static void meet_object(Mark *m, ObjectVar *o)
{
    meet_dict(m, o->attrs);
    meet(m, o->content);
    meet_map(m, &o->members, false);
    if (o->v.real == NULL && o->v.type && o->v.type->tp_flags & Py_TPFLAGS_HEAPTYPE) {
        void *cls;
        if (ptrmap_get(&m->tx->wrapped, o->v.type, &cls))
            meet(m, cls);
    }
}

static void look_into(Mark *m, Var *v)
{
    switch (v->kind->id) {
    case KIND_tensor: meet_dict(m, AS(TensorVar, v)->attrs); break;
    case KIND_list: meet_all(m, AS(ListVar, v)->items.v, AS(ListVar, v)->items.n); break;
    case KIND_tuple:
        meet_all(m, AS(TupleVar, v)->items, (size_t)AS(TupleVar, v)->n);
        break;
    case KIND_dict: meet_dict(m, AS(DictVar, v)); break;
    case KIND_dictview: meet(m, AS(DictViewVar, v)->dict); break;
    case KIND_set: meet_map(m, &AS(SetVar, v)->items, false); break;
    case KIND_object: meet_object(m, AS(ObjectVar, v)); break;
    case KIND_class: meet_class(m, AS(ClassVar, v)); break;
    case KIND_func: meet_func(m, AS(FuncVar, v)); break;
    case KIND_method:
        meet(m, AS(MethodVar, v)->func);
        meet(m, AS(MethodVar, v)->self);
        break;
    case KIND_builtin: meet(m, AS(BuiltinVar, v)->self); break;
    case KIND_module: meet_dict(m, AS(ModuleVar, v)->attrs); break;
    case KIND_cell: meet(m, AS(CellVar, v)->content); break;
    case KIND_iter: meet(m, AS(IterVar, v)->seq); break;
    case KIND_wrapiter:
        meet(m, AS(WrapIterVar, v)->fn);
        meet_all(m, AS(WrapIterVar, v)->its, (size_t)AS(WrapIterVar, v)->n);
        break;
    case KIND_gen:
        if (AS(GenVar, v)->state != GEN_DONE)
            meet_frame(m, AS(GenVar, v)->frame);
        break;
    case KIND_slice: meet_all(m, AS(SliceVar, v)->part, 3); break;
    case KIND_super:
        meet(m, AS(SuperVar, v)->cls);
        meet(m, AS(SuperVar, v)->self);
        break;
    case KIND_exc: meet_exc(m, AS(ExcVar, v)); break;
    case KIND_proxy: meet(m, AS(ProxyVar, v)->mapping); break;
    case KIND_partial:
        meet(m, AS(PartialVar, v)->fn);
        meet_args(m, &AS(PartialVar, v)->args);
        break;
    case KIND_descr: meet_all(m, AS(DescrVar, v)->part, 4); break;
    case KIND_context: meet(m, AS(CtxVar, v)->now); break;
    case KIND_weakref:
    case KIND_weakproxy: meet(m, AS(WeakVar, v)->callback); break;
    default: break;
    }
}

static void meet_roots(Mark *m, Var *value)
{
    Tx *tx = m->tx;
    bool root = false;
    for (Frame *f = tx->top; f; f = f->up) {
        meet_frame(m, f);
        root |= f == tx->root;
    }
    if (!root && tx->root)
        meet_frame(m, tx->root);
    meet(m, value);
    meet(m, tx->handled);
    meet(m, tx->inherited);
    meet(m, tx->exc);
    meet_all(m, tx->dirty.v, tx->dirty.n);
}

/* What a point was entered with may be held by its slots alone. */
static const Source *slot_place(const Var *v)
{
    const Source *s = v->src;
    while (s && s->base)
        s = s->base;
    return s && (s->kind == SRC_SLOT || s->kind == SRC_EXC) ? v->src : NULL;
}

/* A class holds itself in many ways, and only the collector can take it away. What exists elsewhere is held there until it is dropped. */
static bool immortal(Var *v)
{
    return is_made_class(v) || (v->real != NULL && slot_place(v) == NULL);
}

static Status search(Tx *tx, Mark *m, Var *value)
{
    meet_roots(m, value);
    while (m->st == ST_OK && m->next < m->todo.n && !m->found) {
        if (tx->looks++ > MOST_LOOKS)
            m->st = graph_break(tx, BRK_WEAK, "%s", "among too many objects");
        else
            look_into(m, m->todo.v[m->next++]);
    }
    journal_free(&m->journal);
    return m->st;
}

Status alive_mark(Tx *tx, Var *value, PtrMap *seen)
{
    *seen = (PtrMap){ 0 };
    Mark m = { .tx = tx, .seen = seen, .st = ST_OK };
    return search(tx, &m, value);
}

Status alive(Tx *tx, Var *v, bool *yes)
{
    PtrMap seen = { 0 };
    *yes = immortal(v);
    if (*yes)
        return ST_OK;
    Mark m = { .tx = tx, .seen = &seen, .wanted = v, .place = slot_place(v), .st = ST_OK };
    TRY(search(tx, &m, NULL));
    *yes = m.found;
    return ST_OK;
}

bool alive_in(const PtrMap *seen, Var *v)
{
    return v->real != NULL || is_made_class(v) || ptrmap_get(seen, v, NULL);
}
