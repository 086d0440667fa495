/*
 * emit/rebuild.c -- the table of recipes; containers and tensors.
 *
 * A recipe loads its parts and writes one instruction or call. If it->shell is set, build makes the value empty and fill
 * puts the content in.
 */
#include "emit/rebuild.h"

/* -- Shared ----------------------------------------------------------------------- */

Status put_all(Emit *e, Var **v, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < n; i++)
        TRY(emit_load(e, v[i]));
    return ST_OK;
}

Status put_new(Emit *e, PyTypeObject *type, Var **v, int n)
{
    TRY(put_callee(e, (PyObject *)type));
    TRY(put_all(e, v, n));
    put_call(e, n);
    return ST_OK;
}

bool is_plain(const Var *v, PyTypeObject *t)
{
    return v->type == t || v->type == NULL;
}

/* -- Tensors ------------------------------------------------------------------------- */

Status build_tensor(Emit *e, Item *it)
{
    if (e->code == NULL) {
        it->arg = (int)e->outputs.n;
        return EMIT_PUSH(e, &e->outputs, (uint32_t)AS(TensorVar, it->v)->node - 1);
    }
    PyObject *place = tx_hold(e->tx, PyLong_FromLong(it->arg));
    TRY_PTR(place);
    put(e, OP_LOAD_FAST, e->out);
    put_const(e, place);
    put(e, OP_BINARY_SUBSCR, 0);
    if (--e->left == 0)
        put(e, OP_DELETE_FAST, e->out);
    return ST_OK;
}

bool build_tensor_late(Var *v)
{
    DictVar *d = AS(TensorVar, v)->attrs;
    return d && d->writes.n;
}

/* Attributes such as grad are fields behind descriptors, so the instruction is right for all. */
Status build_tensor_fill(Emit *e, Item *it)
{
    KeyEntry *k;
    for (size_t at = 0; (k = keymap_next(&AS(TensorVar, it->v)->attrs->writes, &at));) {
        TRY(emit_load(e, k->value));
        put_self(e, it);
        put_name(e, OP_STORE_ATTR, k->key);
    }
    return ST_OK;
}

/* -- Tuples and slices --------------------------------------------------------------------- */

Status build_tuple(Emit *e, Item *it)
{
    TupleVar *t = AS(TupleVar, it->v);
    bool plain = is_plain(it->v, &PyTuple_Type);
    if (!plain) {
        put_helper(e, HELPER_new_like);
        TRY(emit_load_obj(e, (PyObject *)it->v->type));
    }
    TRY(put_all(e, t->items, t->n));
    put(e, OP_BUILD_TUPLE, (int)t->n);
    if (!plain)
        put_call(e, 2);
    return ST_OK;
}

Status build_slice(Emit *e, Item *it)
{
    TRY(put_all(e, AS(SliceVar, it->v)->part, 3));
    put(e, OP_BUILD_SLICE, 3);
    return ST_OK;
}

/* -- Lists and deques ------------------------------------------------------------------------ */

static Status put_list(Emit *e, ListVar *l, bool empty)
{
    if (!empty)
        TRY(put_all(e, l->items.v, (Py_ssize_t)l->items.n));
    put(e, OP_BUILD_LIST, empty ? 0 : (int)l->items.n);
    return ST_OK;
}

Status build_list(Emit *e, Item *it)
{
    ListVar *l = AS(ListVar, it->v);
    bool deque = is_plain(it->v, helper_types.deque) && it->v->type;
    if (!deque)
        return put_list(e, l, it->shell);
    TRY(put_callee(e, (PyObject *)it->v->type));
    TRY(put_list(e, l, it->shell));
    if (l->maxlen)
        TRY(emit_load(e, l->maxlen));
    put_call(e, l->maxlen ? 2 : 1);
    return ST_OK;
}

Status build_list_fill(Emit *e, Item *it)
{
    ListVar *l = AS(ListVar, it->v);
    bool deque = is_plain(it->v, helper_types.deque) && it->v->type;
    if (deque)
        put_helper(e, HELPER_extend_deque);
    put_self(e, it);
    TRY(put_list(e, l, false));
    if (deque)
        put_call(e, 2);
    else
        put(e, OP_LIST_EXTEND, 1);
    put(e, OP_POP_TOP, 0);
    return ST_OK;
}

Status build_bytearray(Emit *e, Item *it)
{
    TRY(put_callee(e, (PyObject *)&PyByteArray_Type));
    put_const(e, AS(ByteArrayVar, it->v)->now);
    put_call(e, 1);
    return ST_OK;
}

/* -- Dicts and views --------------------------------------------------------------------------- */

static KeyEntry *same_key(const KeyMap *m, const KeyEntry *k)
{
    return k->key ? keymap_find(m, k->key, k->hash) : keymap_find_id(m, k->id);
}

static Status put_pair(Emit *e, const KeyEntry *k, int *n)
{
    ++*n;
    TRY(put_key(e, k));
    return emit_load(e, k->value);
}

/* In the order of the dict itself, which is another than an OrderedDict's once keys moved. */
static Status put_map(Emit *e, DictVar *d, bool empty)
{
    KeyEntry *k, *now;
    int n = 0;
    for (size_t at = 0; !empty && (k = keymap_next(&d->below, &at));)
        if ((now = same_key(&d->writes, k)) != NULL)
            TRY(put_pair(e, now, &n));
    for (size_t at = 0; !empty && (k = keymap_next(&d->writes, &at));)
        if (d->below.n == 0 || same_key(&d->below, k) == NULL)
            TRY(put_pair(e, k, &n));
    put(e, OP_BUILD_MAP, n);
    return ST_OK;
}

/* Behind move_keys and the dictionary: calls it with the keys in an OrderedDict's order. */
static Status put_order(Emit *e, DictVar *d)
{
    KeyEntry *k;
    int n = 1;
    for (size_t at = 0; (k = keymap_next(&d->writes, &at)); n++)
        TRY(put_key(e, k));
    put_call(e, n);
    return ST_OK;
}

Status build_dict(Emit *e, Item *it)
{
    DictVar *d = AS(DictVar, it->v);
    if (d->owner || d->shown)
        return graph_break(e->tx, BRK_REBUILD, "__dict__ of a new object");
    if (is_plain(it->v, &PyDict_Type))
        return put_map(e, d, it->shell);
    bool moved = d->below.n && !it->shell;
    if (moved)
        put_helper(e, HELPER_move_keys);
    TRY(put_callee(e, (PyObject *)it->v->type));
    bool factory = it->v->type == helper_types.defaultdict;
    if (factory)
        TRY(emit_load(e, d->factory ? d->factory : tx_none(e->tx)));
    TRY(put_map(e, d, it->shell));
    put_call(e, factory ? 2 : 1);
    return moved ? put_order(e, d) : ST_OK;
}

bool build_dict_late(Var *v)
{
    DictVar *attrs = AS(DictVar, v)->attrs;
    return attrs && attrs->writes.n;
}

Status build_dict_fill(Emit *e, Item *it)
{
    DictVar *d = AS(DictVar, it->v);
    put_helper(e, HELPER_update_dict);
    put_self(e, it);
    TRY(put_map(e, d, false));
    put_call(e, 2);
    put(e, OP_POP_TOP, 0);
    if (d->below.n) {
        put_helper(e, HELPER_move_keys);
        put_self(e, it);
        TRY(put_order(e, d));
        put(e, OP_POP_TOP, 0);
    }
    return d->attrs ? put_attrs(e, it, &d->attrs->writes, NULL) : ST_OK;
}

Status build_dictview(Emit *e, Item *it)
{
    DictViewVar *w = AS(DictViewVar, it->v);
    PyTypeObject *base =
        w->dict->type && PyType_IsSubtype(w->dict->type, helper_types.ordered)
            ? helper_types.ordered
            : &PyDict_Type;
    const char *name = w->what == 'k' ? "keys" : w->what == 'v' ? "values" : "items";
    PyObject *f = tx_hold(e->tx, PyObject_GetAttrString((PyObject *)base, name));
    TRY_PTR(f);
    TRY(put_callee(e, f));
    TRY(emit_load(e, w->dict));
    put_call(e, 1);
    return ST_OK;
}

Status build_proxy(Emit *e, Item *it)
{
    return put_new(e, &PyDictProxy_Type, &AS(ProxyVar, it->v)->mapping, 1);
}

/* -- Sets ------------------------------------------------------------------------------------------ */

/* A member for which the shadow has an equal object: the number that an enumeration's member is, that a scalar has now. */
static bool stood_in(const SetVar *s, const KeyEntry *k)
{
    return s->v.real == NULL && k->key != NULL && ((Var *)k->value)->real != k->key;
}

/* What replay_set does, and with which items: the log; then what goes by identity and so is in no shadow; and, without
 * a step, the members themselves where the shadow has equal ones. */
Status emit_set_steps(Emit *e, Var *v, PyObject **steps, Var ***items, int *n)
{
    SetVar *s = AS(SetVar, v);
    KeyEntry *k;
    size_t most = s->log.n + s->items.n, count = 0;
    char *what = emit_alloc(e, most + 1);
    *items = emit_alloc(e, (most + 1) * sizeof **items);
    if (what == NULL || *items == NULL)
        return ST_ERROR;
    *n = 0;
    for (size_t i = 0; i < s->log.n; i++) {
        what[count++] = (char)s->log.v[i].what;
        if (s->log.v[i].what != 'p' && s->log.v[i].what != 'c')
            (*items)[(*n)++] = s->log.v[i].item;
    }
    for (size_t i = 0; s->shadow && (k = keymap_next(&s->items, &i));)
        if (k->key == NULL) {
            what[count++] = '+';
            (*items)[(*n)++] = k->value;
        }
    for (size_t i = 0; s->shadow && (k = keymap_next(&s->items, &i));)
        if (stood_in(s, k))
            (*items)[(*n)++] = k->value;
    *steps = tx_hold(e->tx, PyBytes_FromStringAndSize(what, (Py_ssize_t)count));
    return *steps ? ST_OK : ST_ERROR;
}

/* The set before its log: a copy of the shadow, or empty. */
static Status put_base(Emit *e, SetVar *s)
{
    if (s->shadow == NULL) {
        put(e, OP_BUILD_SET, 0);
        return ST_OK;
    }
    put_helper(e, HELPER_copy_set);
    TRY(emit_load_obj(e, s->shadow));
    put_const(e, Py_False);
    put_call(e, 2);
    return ST_OK;
}

static Status put_steps(Emit *e, PyObject *steps, Var **items, int n)
{
    put_const(e, steps);
    TRY(put_all(e, items, n));
    put_call(e, n + 2);
    return ST_OK;
}

static bool only_adds(const char *steps)
{
    return steps[strspn(steps, "+")] == '\0';
}

static Status put_set(Emit *e, Item *it)
{
    SetVar *s = AS(SetVar, it->v);
    PyObject *steps;
    Var **items;
    int n;
    if (s->blurred && s->items.n > 1 &&
        e->tx->late == NULL) /* a late trace runs once, on the tables it has seen */
        return graph_break(e->tx, BRK_REBUILD,
                           "a set whose order depends on its hidden history");
    if (it->shell)
        return put_base(e, s);
    TRY(emit_set_steps(e, it->v, &steps, &items, &n));
    if (s->shadow == NULL && only_adds(PyBytes_AS_STRING(steps))) {
        TRY(put_all(e, items, n));
        put(e, OP_BUILD_SET, n);
        return ST_OK;
    }
    put_helper(e, HELPER_replay_set);
    TRY(put_base(e, s));
    return put_steps(e, steps, items, n);
}

Status build_set(Emit *e, Item *it)
{
    bool frozen = !is_plain(it->v, &PySet_Type);
    if (!frozen)
        return put_set(e, it);
    if (it->shell)
        return graph_break(e->tx, BRK_REBUILD, "a frozenset that contains itself");
    put_helper(e, HELPER_copy_set);
    TRY(put_set(e, it));
    put_const(e, Py_True);
    put_call(e, 2);
    return ST_OK;
}

static Status put_replay(Emit *e, Item *it, PyObject *steps, Var **items, int n)
{
    put_helper(e, HELPER_replay_set);
    put_self(e, it);
    TRY(put_steps(e, steps, items, n));
    put(e, OP_POP_TOP, 0);
    return ST_OK;
}

Status build_set_fill(Emit *e, Item *it)
{
    PyObject *steps;
    Var **items;
    int n;
    TRY(emit_set_steps(e, it->v, &steps, &items, &n));
    return put_replay(e, it, steps, items, n);
}

/* The set inside an object of a subclass starts empty: first it takes over the shadow. */
Status build_set_content(Emit *e, Item *it)
{
    Var *shadow;
    if (AS(SetVar, it->v)->shadow) {
        PyObject *assume = tx_hold(e->tx, PyBytes_FromString("="));
        TRY_PTR(assume);
        TRY(const_peek(e->tx, AS(SetVar, it->v)->shadow, &shadow));
        TRY(put_replay(e, it, assume, &shadow, 1));
    }
    return build_set_fill(e, it);
}

/* -- The table --------------------------------------------------------------------------------------- */

#define NULL_ NULL
#define build_NULL NULL
const Recipe recipes[KIND_COUNT] = {
#define RECIPE(kind, make, fill, late)                                                   \
    [KIND_##kind] = { build_##make, build_##fill, build_##late },
    RECIPES(RECIPE)
#undef RECIPE
};
