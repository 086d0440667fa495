/*
 * emit/rebuild_object.c -- recipes of instances, functions, methods and exceptions.
 */
#include "emit/rebuild.h"

/* -- Attributes of new objects --------------------------------------------------------- */

static int count(const KeyMap *m)
{
    int n = 0;
    KeyEntry *k;
    for (size_t at = 0; m && (k = keymap_next(m, &at));)
        n += k->value != NULL;
    return n;
}

static void collect(PyObject *names, int *n, const KeyMap *m)
{
    KeyEntry *k;
    for (size_t at = 0; m && (k = keymap_next(m, &at));)
        if (k->value)
            PyTuple_SET_ITEM(names, (*n)++, Py_NewRef(emit_name(k)));
}

Status names_of(Emit *e, const KeyMap *attrs, const KeyMap *members, PyObject **out)
{
    int n = 0;
    PyObject *names = tx_hold(e->tx, PyTuple_New(count(attrs) + count(members)));
    TRY_PTR(names);
    collect(names, &n, attrs);
    collect(names, &n, members);
    *out = names;
    return ST_OK;
}

static Status put_values(Emit *e, const KeyMap *m)
{
    KeyEntry *k;
    for (size_t at = 0; m && (k = keymap_next(m, &at));)
        if (k->value)
            TRY(emit_load(e, k->value));
    return ST_OK;
}

/* Names, then values: the end of an argument list; *n arguments. */
static Status put_pairs(Emit *e, const KeyMap *attrs, const KeyMap *members, int *n)
{
    PyObject *names;
    TRY(names_of(e, attrs, members, &names));
    TRY(emit_load_obj(e, names));
    TRY(put_values(e, attrs));
    *n = 1 + (int)PyTuple_GET_SIZE(names);
    return put_values(e, members);
}

Status put_attrs(Emit *e, const Item *it, const KeyMap *attrs, const KeyMap *members)
{
    int n;
    if (count(attrs) + count(members) == 0)
        return ST_OK;
    put_helper(e, HELPER_set_attrs);
    put_self(e, it);
    TRY(put_pairs(e, attrs, members, &n));
    put_call(e, n + 1);
    put(e, OP_POP_TOP, 0);
    return ST_OK;
}

static const KeyMap *written(DictVar *d)
{
    return d ? &d->writes : NULL;
}

/* -- Instances ---------------------------------------------------------------------------- */

/* Content that is put into an instance made empty. */
static bool mutable_content(Var *content)
{
    KindId k = content->kind->id;
    return k == KIND_list || k == KIND_dict ||
           (k == KIND_set && !PyType_IsSubtype(content->type, &PyFrozenSet_Type));
}

bool build_object_late(Var *v)
{
    return AS(ObjectVar, v)->content != NULL;
}

static Status plain_object(Emit *e, Item *it, ObjectVar *o)
{
    int n = 0;
    put_helper(e, it->shell ? HELPER_new_object : HELPER_make_object);
    TRY(emit_load_obj(e, (PyObject *)it->v->type));
    if (!it->shell)
        TRY(put_pairs(e, written(o->attrs), &o->members, &n));
    put_call(e, n + 1);
    return ST_OK;
}

static Status put_tuple(Emit *e, TupleVar *t)
{
    if (t)
        return emit_load(e, &t->v);
    put(e, OP_BUILD_TUPLE, 0);
    return ST_OK;
}

static Status put_exc(Emit *e, PyTypeObject *t, ExcVar *x)
{
    put_helper(e, HELPER_make_exc);
    TRY(emit_load_obj(e, (PyObject *)t));
    TRY(put_tuple(e, x->args));
    if (x->made)
        TRY(emit_load(e, &x->made->v));
    else
        put_const(e, Py_None);
    put_call(e, 3);
    return ST_OK;
}

Status build_object(Emit *e, Item *it)
{
    ObjectVar *o = AS(ObjectVar, it->v);
    if (o->content == NULL)
        return plain_object(e, it, o);
    Var *content = emit_settled(o->content);
    bool empty = mutable_content(content);
    if (content->kind->id == KIND_exc)
        return put_exc(e, it->v->type, AS(ExcVar, content));
    put_helper(e, empty ? HELPER_new_object : HELPER_new_like);
    TRY(emit_load_obj(e, (PyObject *)it->v->type));
    if (!empty)
        TRY(emit_load(e, content));
    put_call(e, empty ? 1 : 2);
    return ST_OK;
}

static Status fill_factory(Emit *e, Item *it, DictVar *d)
{
    PyObject *type = (PyObject *)helper_types.defaultdict;
    PyObject *descr = tx_hold(e->tx, PyObject_GetAttrString(type, "default_factory"));
    TRY_PTR(descr);
    PyObject *names = tx_hold(e->tx, PyTuple_Pack(1, descr));
    TRY_PTR(names);
    put_helper(e, HELPER_set_attrs);
    put_self(e, it);
    TRY(emit_load_obj(e, names));
    TRY(emit_load(e, d->factory));
    put_call(e, 3);
    put(e, OP_POP_TOP, 0);
    return ST_OK;
}

/* deque.__init__(self, items, maxlen): the only way to set the limit. */
static Status fill_bounded(Emit *e, Item *it, ListVar *l)
{
    PyObject *init =
        tx_hold(e->tx, PyObject_GetAttrString((PyObject *)l->v.type, "__init__"));
    TRY_PTR(init);
    TRY(put_callee(e, init));
    put_self(e, it);
    TRY(put_all(e, l->items.v, (int)l->items.n));
    put(e, OP_BUILD_LIST, (int)l->items.n);
    TRY(emit_load(e, l->maxlen));
    put_call(e, 3);
    put(e, OP_POP_TOP, 0);
    return ST_OK;
}

static Status fill_content(Emit *e, Item *it, Var *content)
{
    Item part = *it;
    part.v = content;
    if (content->kind->id == KIND_set && !mutable_content(content))
        return ST_OK; /* it was made with its members */
    switch (content->kind->id) {
    case KIND_list:
        return AS(ListVar, content)->maxlen ? fill_bounded(e, it, AS(ListVar, content))
                                            : build_list_fill(e, &part);
    case KIND_set: return build_set_content(e, &part);
    case KIND_exc: return build_exc_fill(e, &part);
    case KIND_dict:
        TRY(build_dict_fill(e, &part));
        return AS(DictVar, content)->factory ? fill_factory(e, it, AS(DictVar, content))
                                             : ST_OK;
    default: return ST_OK;
    }
}

Status build_object_fill(Emit *e, Item *it)
{
    ObjectVar *o = AS(ObjectVar, it->v);
    if (o->content)
        TRY(fill_content(e, it, emit_settled(o->content)));
    return put_attrs(e, it, written(o->attrs), &o->members);
}

/* -- Cells and functions --------------------------------------------------------------------- */

Status build_cell(Emit *e, Item *it)
{
    Var *content = AS(CellVar, it->v)->content;
    bool full = content && !it->shell;
    put_helper(e, HELPER_make_cell);
    if (full)
        TRY(emit_load(e, content));
    put_call(e, full);
    return ST_OK;
}

Status build_cell_fill(Emit *e, Item *it)
{
    Var *content = AS(CellVar, it->v)->content;
    PyObject *name = tx_hold(e->tx, PyUnicode_InternFromString("cell_contents"));
    TRY_PTR(name);
    if (content == NULL)
        return ST_OK;
    TRY(emit_load(e, content));
    put_self(e, it);
    put_name(e, OP_STORE_ATTR, name);
    return ST_OK;
}

static Status put_or_none(Emit *e, Var *v)
{
    return emit_load(e, v ? v : tx_none(e->tx));
}

bool build_func_late(Var *v)
{
    FuncVar *f = AS(FuncVar, v);
    return f->module || f->doc || (f->attrs && f->attrs->writes.n);
}

Status build_func(Emit *e, Item *it)
{
    FuncVar *f = AS(FuncVar, it->v);
    int nfree = f->code->nfree;
    put_helper(e, HELPER_make_func);
    TRY(emit_load_obj(e, (PyObject *)f->co));
    TRY(emit_load(e, f->globals));
    TRY(put_or_none(e, f->name));
    TRY(put_or_none(e, f->qualname));
    TRY(put_or_none(e, (Var *)f->defaults));
    TRY(put_or_none(e, (Var *)f->kwdefaults));
    if (nfree) {
        TRY(put_all(e, f->closure, nfree));
        put(e, OP_BUILD_TUPLE, nfree);
    } else
        put_const(e, Py_None);
    TRY(put_or_none(e, f->annotations));
    put_call(e, 8);
    return ST_OK;
}

static Status put_field(Emit *e, const Item *it, const char *name, Var *value)
{
    PyObject *s = tx_hold(e->tx, PyUnicode_InternFromString(name));
    TRY_PTR(s);
    TRY(emit_load(e, value));
    put_self(e, it);
    put_name(e, OP_STORE_ATTR, s);
    return ST_OK;
}

Status build_func_fill(Emit *e, Item *it)
{
    FuncVar *f = AS(FuncVar, it->v);
    if (f->module)
        TRY(put_field(e, it, "__module__", f->module));
    if (f->doc)
        TRY(put_field(e, it, "__doc__", f->doc));
    return put_attrs(e, it, written(f->attrs), NULL);
}

/* -- Bound things --------------------------------------------------------------------------------- */

Status build_method(Emit *e, Item *it)
{
    MethodVar *m = AS(MethodVar, it->v);
    Var *v[] = { m->func, m->self };
    return put_new(e, &PyMethod_Type, v, 2);
}

Status build_builtin(Emit *e, Item *it)
{
    BuiltinVar *b = AS(BuiltinVar, it->v);
    put_helper(e, HELPER_bind);
    TRY(emit_load_obj(e, it->v->real));
    TRY(emit_load(e, b->self));
    put_call(e, 2);
    return ST_OK;
}

Status build_super(Emit *e, Item *it)
{
    SuperVar *s = AS(SuperVar, it->v);
    Var *v[] = { s->cls, s->self };
    return put_new(e, &PySuper_Type, v, s->self ? 2 : 1);
}

Status build_partial(Emit *e, Item *it)
{
    PartialVar *p = AS(PartialVar, it->v);
    TRY(put_callee(e, (PyObject *)it->v->type));
    TRY(emit_load(e, p->fn));
    TRY(put_all(e, p->args.v, p->args.n + p->args.nkw));
    if (e->code)
        asm_call(e->code, 1 + p->args.n + p->args.nkw,
                 p->args.nkw ? p->args.kwnames : NULL);
    return ST_OK;
}

/* -- Exceptions --------------------------------------------------------------------------------------- */

/* Attributes of an exception class written in Python stand with its object. */
static DictVar *exc_attrs(ExcVar *x)
{
    if (x->attrs == NULL && x->self_object)
        return AS(ObjectVar, x->self_object)->attrs;
    return x->attrs;
}

bool build_exc_late(Var *v)
{
    ExcVar *x = AS(ExcVar, v);
    DictVar *d = exc_attrs(x);
    return x->cause || x->context || x->suppress || x->members.n || (d && d->writes.n);
}

/* Its exceptions are those that the list given for them had then. */
static bool changed_group(ExcVar *x)
{
    if (x->excs == NULL || x->args == NULL || x->args->n != 2)
        return x->excs != NULL;
    if (emit_settled(x->args->items[0]) != emit_settled(x->message))
        return true;
    Var *given = emit_settled(x->args->items[1]);
    bool list = given->kind->id == KIND_list, tuple = given->kind->id == KIND_tuple;
    Var **v = list    ? AS(ListVar, given)->items.v
              : tuple ? AS(TupleVar, given)->items
                      : NULL;
    size_t n = list    ? AS(ListVar, given)->items.n
               : tuple ? (size_t)AS(TupleVar, given)->n
                       : 0;
    bool same = v && n == (size_t)x->excs->n && given->real == NULL;
    for (size_t i = 0; same && i < n; i++)
        same = emit_settled(v[i]) == emit_settled(x->excs->items[i]);
    return !same;
}

Status build_exc(Emit *e, Item *it)
{
    bool told = AS(ExcVar, it->v)->raised || AS(ExcVar, it->v)->partial;
    if (told &&
        e->tx->late == NULL) /* a late trace has no second one: without its traceback */
        return graph_break(e->tx, BRK_REBUILD, "a %s that was raised",
                           it->v->type->tp_name);
    if (changed_group(AS(ExcVar, it->v)))
        return graph_break(e->tx, BRK_REBUILD, "a group whose list has changed since");
    return put_exc(e, it->v->type, AS(ExcVar, it->v));
}

Status build_exc_fill(Emit *e, Item *it)
{
    ExcVar *x = AS(ExcVar, it->v);
    if (x->cause || x->context || x->suppress) {
        put_helper(e, HELPER_link_exc);
        put_self(e, it);
        TRY(put_or_none(e, x->cause));
        TRY(put_or_none(e, x->context));
        put_const(e, x->suppress ? Py_True : Py_False);
        put_call(e, 4);
        put(e, OP_POP_TOP, 0);
    }
    return put_attrs(e, it, written(exc_attrs(x)), &x->members);
}
