/*
 * emit/rebuild_class.c -- recipes of classes made by the trace, of the descriptors in them, of tokens and locks.
 *
 * A class is made of the parts that its statement had; what was stored into it later follows when it is there.
 */
#include "emit/rebuild.h"
#include "var/made.h"
#include "var/names.h"

static Status put_names(Emit *e, const ClassMade *m)
{
    TRY(emit_load_obj(e, m->names));
    return put_all(e, m->values, PyTuple_GET_SIZE(m->names));
}

Status build_class(Emit *e, Item *it)
{
    ClassMade *m = AS(ClassVar, it->v)->made;
    put_helper(e, HELPER_make_class);
    TRY(emit_load_obj(e, (PyObject *)Py_TYPE(it->v->real)));
    TRY(emit_load_obj(e, m->name));
    TRY(emit_load(e, m->bases));
    TRY(put_names(e, m));
    put_call(e, 4 + (int)PyTuple_GET_SIZE(m->names));
    return ST_OK;
}

bool build_class_late(Var *v)
{
    ClassVar *c = AS(ClassVar, v);
    return c->writes.n || c->made->abc;
}

static Status put_store(Emit *e, const Item *it, const KeyEntry *k, bool gone)
{
    put_helper(e, gone ? HELPER_del_class : HELPER_set_class);
    put_self(e, it);
    TRY(emit_load_obj(e, k->id));
    if (!gone)
        TRY(emit_load(e, k->value));
    put_call(e, gone ? 2 : 3);
    put(e, OP_POP_TOP, 0);
    return ST_OK;
}

Status build_class_fill(Emit *e, Item *it)
{
    ClassVar *c = AS(ClassVar, it->v);
    KeyEntry *k;
    if (c->made->abc) {
        put_helper(e, HELPER_init_abc);
        put_self(e, it);
        put_call(e, 1);
        put(e, OP_POP_TOP, 0);
    }
    for (size_t at = 0; (k = keymap_next(&c->made->again, &at));)
        TRY(put_store(e, it, k, true));
    for (size_t at = 0; (k = keymap_next(&c->writes, &at));) {
        bool gone = k->value == &made_deleted;
        if (!gone || !keymap_find_id(&c->made->again, k->id))
            TRY(put_store(e, it, k, gone));
    }
    return ST_OK;
}

/* Has the function another name, text … now than what classmethod() or staticmethod() took from it? */
static bool function_changed(const DescrVar *d)
{
    FuncVar *f = AS(FuncVar, d->part[0]);
    Var *now[] = { f->module, f->name, f->qualname, f->doc, f->annotations };
    PyObject *names[] = { str___module__, str___name__, str___qualname__, str___doc__,
                          str___annotations__ };
    for (size_t i = 0; i < COUNT_OF(now); i++) {
        bool stored =
            f->attrs && keymap_find(&f->attrs->writes, names[i], PyObject_Hash(names[i]));
        if (stored || (f->v.real == NULL && now[i] && now[i] != d->copied[i]))
            return true;
    }
    return false;
}

Status build_descr(Emit *e, Item *it)
{
    DescrVar *d = AS(DescrVar, it->v);
    int n = descr_parts(d);
    if (n == 1 && d->part[0] && d->part[0]->kind == &kind_func && function_changed(d))
        return graph_break(e->tx, BRK_REBUILD, "%s of a function that changed since",
                           it->v->type->tp_name);
    TRY(put_callee(e, (PyObject *)it->v->type));
    for (int i = 0; i < n; i++)
        TRY(emit_load(e, d->part[i] ? d->part[i] : tx_none(e->tx)));
    put_call(e, n);
    return ST_OK;
}

/* -- Tokens and locks ----------------------------------------------------------------- */

/* Only set() makes one, so making it sets the variable: that of the set() before comes first. */
Status build_token(Emit *e, Item *it)
{
    TokenVar *t = AS(TokenVar, it->v);
    if (t->used)
        return graph_break(e->tx, BRK_REBUILD, "a token that was used");
    if (t->below) {
        TRY(emit_load(e, &t->below->v));
        put(e, OP_POP_TOP, 0);
    }
    put_helper(e, HELPER_set_context);
    TRY(emit_load(e, &t->var->v));
    TRY(emit_load(e, t->value));
    put_call(e, 2);
    return ST_OK;
}

Status build_weak(Emit *e, Item *it)
{
    WeakVar *w = AS(WeakVar, it->v);
    Var *v[] = { w->of, w->callback };
    const char *name = it->v->kind == &kind_weakproxy ? "proxy" : "ref";
    PyObject *module = tx_hold(e->tx, PyImport_ImportModule("_weakref"));
    PyObject *maker =
        module ? tx_hold(e->tx, PyObject_GetAttrString(module, name)) : NULL;
    TRY_PTR(maker);
    TRY(put_callee(e, maker));
    TRY(put_all(e, v, w->callback ? 2 : 1));
    put_call(e, w->callback ? 2 : 1);
    return ST_OK;
}

Status build_getter(Emit *e, Item *it)
{
    GetterVar *g = AS(GetterVar, it->v);
    return put_new(e, it->v->type, g->args.v, g->args.n);
}

Status build_lock(Emit *e, Item *it)
{
    LockVar *l = AS(LockVar, it->v);
    if (l->held)
        return graph_break(e->tx, BRK_REBUILD, "a lock that is held");
    if (l->many)
        return put_new(e, it->v->type, NULL, 0);
    put_helper(e, HELPER_new_lock);
    put_call(e, 0);
    return ST_OK;
}
