/*
 * emit/effects.c -- the ledger as writes.
 *
 * Takes: tx->dirty, existing values that were changed, in order of first change. Gives: Effects that write the final
 * state; where it can be observed, the delta (appends) or the history (sets). Holds: nothing real is read here.
 */
#include "emit/plan.h"
#include <structmember.h>

/* -- Making effects ------------------------------------------------------------------ */

static Status add(Emit *e, EffectKind kind, Var *target, PyObject *name, int n, Var **v)
{
    Var **copy = emit_alloc(e, (size_t)n * sizeof *copy);
    TRY_PTR(copy);
    if (n)
        memcpy(copy, v, (size_t)n * sizeof *copy);
    Effect fx = { .kind = kind, .target = target, .name = name, .v = copy, .n = n };
    return EMIT_PUSH(e, &e->effects, fx);
}

static Status add_call(Emit *e, EffectKind kind, Helper h, Var *target, int n, Var **v)
{
    TRY(add(e, kind, target, NULL, n, v));
    e->effects.v[e->effects.n - 1].helper = h;
    return ST_OK;
}

/* -- Attributes ------------------------------------------------------------------------- */

/* STORE_ATTR writes just the instance dictionary: no __setattr__, no data descriptor of that name. Attributes of tensors, functions and
 * exceptions that are C-level fields (grad, __defaults__) are written through their descriptors. */
static bool plain_store(Var *owner, PyObject *name)
{
    PyTypeObject *t = owner->real ? Py_TYPE(owner->real) : owner->type;
    if (t == NULL || t->tp_setattro == NULL)
        return false;
    if (owner->kind->id == KIND_tensor || t == &PyFunction_Type || t == &PyModule_Type)
        return true;
    PyObject *descr = cpy_type_lookup(t, name);
    return t->tp_setattro == PyObject_GenericSetAttr &&
           (descr == NULL || Py_TYPE(descr)->tp_descr_set == NULL);
}

static Status attr_effect(Emit *e, Var *owner, PyObject *name, Var *value)
{
    if (name == NULL)
        return graph_break(e->tx, BRK_REBUILD, "a key of __dict__ that is no constant");
    if (PyUnicode_Check(name) && plain_store(owner, name))
        return add(e, value ? FX_SET_ATTR : FX_DEL_ATTR, owner, name, value != NULL,
                   &value);
    Var *v[2] = { NULL, value };
    TRY(const_peek(e->tx, name, &v[0]));
    if (value)
        return add_call(e, FX_CALL, HELPER_set_attr, owner, 2, v);
    return add_call(e, FX_CALL, HELPER_del_attr, owner, 1, v);
}

static Status attr_effects(Emit *e, Var *owner, DictVar *d)
{
    KeyEntry *k;
    for (size_t at = 0; (k = keymap_next(&d->dels, &at));)
        TRY(attr_effect(e, owner, k->key, NULL));
    for (size_t at = 0; (k = keymap_next(&d->writes, &at));)
        TRY(attr_effect(e, owner, k->key, k->value));
    return ST_OK;
}

/* -- Dicts ------------------------------------------------------------------------------ */

static Status key_var(Emit *e, const KeyEntry *k, Var **out)
{
    if (k->id == NULL)
        return const_peek(e->tx, k->key, out);
    *out = k->id;
    return ST_OK;
}

static bool exact_dict(Var *v)
{
    PyTypeObject *t = v->real ? Py_TYPE(v->real) : v->type;
    return t == &PyDict_Type || t == helper_types.ordered ||
           t == helper_types.defaultdict;
}

/* A key of an OrderedDict that stood there before, and moved in its order only. */
static bool same_place(DictVar *d, KeyEntry *k)
{
    KeyEntry *at = d->below.n && k->key ? keymap_find(&d->below, k->key, k->hash) : NULL;
    return at && at->value && keymap_find(&d->dels, k->key, k->hash) &&
           keymap_find(&d->writes, k->key, k->hash);
}

static KeyEntry *same_key(const KeyMap *m, const KeyEntry *k)
{
    return k->key ? keymap_find(m, k->key, k->hash) : keymap_find_id(m, k->id);
}

static Status set_effect(Emit *e, Var *v, KeyEntry *k, bool exact)
{
    Var *pair[2] = { NULL, k->value };
    TRY(key_var(e, k, &pair[0]));
    return add_call(e, exact ? FX_SET_ITEM : FX_CALL, HELPER_set_item, v, 2, pair);
}

/* Keys whose place in the dict below is another than in an OrderedDict's order: they are stored first, and moved in their turn. */
static Status place_below(Emit *e, Var *v, bool exact)
{
    DictVar *d = AS(DictVar, v);
    KeyEntry *k, *now;
    for (size_t at = 0; (k = keymap_next(&d->below, &at));)
        if (k->value == NULL && (now = same_key(&d->writes, k)) != NULL)
            TRY(set_effect(e, v, now, exact));
    return ST_OK;
}

/* In the order of writes: what stands in `below` is there, or put there by place_below. */
static Status write_effect(Emit *e, Var *v, KeyEntry *k, bool exact)
{
    DictVar *d = AS(DictVar, v);
    KeyEntry *place = d->below.n ? same_key(&d->below, k) : NULL;
    Var *key;
    if (place == NULL || place->value)
        TRY(set_effect(e, v, k, exact));
    if (place == NULL || (place->value && !same_place(d, k)))
        return ST_OK;
    TRY(key_var(e, k, &key));
    return add_call(e, FX_CALL, HELPER_move_keys, v, 1, &key);
}

static Status dict_effects(Emit *e, Var *v)
{
    DictVar *d = AS(DictVar, v);
    if (d->owner)
        return attr_effects(e, d->owner, d);
    KeyEntry *k;
    Var *key;
    bool exact = exact_dict(v);
    for (size_t at = 0; (k = keymap_next(&d->dels, &at));) {
        if (same_place(d, k))
            continue;
        TRY(key_var(e, k, &key));
        TRY(add_call(e, exact ? FX_DEL_ITEM : FX_CALL, HELPER_del_item, v, 1, &key));
    }
    TRY(place_below(e, v, exact));
    for (size_t at = 0; (k = keymap_next(&d->writes, &at));)
        TRY(write_effect(e, v, k, exact));
    return ST_OK;
}

/* -- Lists and deques ---------------------------------------------------------------------- */

static Status list_effects(Emit *e, Var *v)
{
    ListVar *l = AS(ListVar, v);
    int n = (int)l->items.n;
    PyTypeObject *t = v->real ? Py_TYPE(v->real) : v->type;
    bool deque = PyType_IsSubtype(t, helper_types.deque);
    if (!l->open && n == 0)
        return ST_OK;
    if (deque)
        return add_call(e, FX_CALL_LIST,
                        !l->open   ? HELPER_extend_deque
                        : l->stirs ? HELPER_renew_deque
                                   : HELPER_assign_deque,
                        v, n, l->items.v);
    if (!l->open)
        return add(e, n == 1 ? FX_APPEND : FX_EXTEND, v, NULL, n, l->items.v);
    if (t == &PyList_Type)
        return add(e, FX_FILL, v, NULL, n, l->items.v);
    return add_call(e, FX_CALL_LIST, HELPER_assign_list, v, n, l->items.v);
}

/* -- Other kinds ------------------------------------------------------------------------------ */

static Status cell_effects(Emit *e, Var *v)
{
    PyObject *name = tx_hold(e->tx, PyUnicode_InternFromString("cell_contents"));
    TRY_PTR(name);
    Var *content = AS(CellVar, v)->content;
    return add(e, content ? FX_SET_ATTR : FX_DEL_ATTR, v, name, content != NULL, &content);
}

static Status list_one(Emit *e, Var *v);

/* A slot that holds what its own source gives was only read; another slot's value was moved here. */
static bool just_read(const Var *owner, const KeyEntry *k)
{
    const Var *value = k->value;
    const Source *src = value ? value->src : NULL;
    PyObject *descr = emit_name(k);
    return src && src->kind == SRC_MEMBER && src->base == owner->src &&
           Py_IS_TYPE(descr, &PyMemberDescr_Type) &&
           ((PyMemberDescrObject *)descr)->d_member->offset == src->index;
}

static Status object_effects(Emit *e, Var *v)
{
    ObjectVar *o = AS(ObjectVar, v);
    KeyEntry *k;
    for (size_t at = 0; (k = keymap_next(&o->members, &at));)
        if (!just_read(v, k))
            TRY(attr_effect(e, v, emit_name(k), k->value));
    if (o->attrs)
        TRY(list_one(e, &o->attrs->v));
    return o->content ? list_one(e, o->content) : ST_OK;
}

static Status class_effects(Emit *e, Var *v)
{
    KeyEntry *k;
    for (size_t at = 0; (k = keymap_next(&AS(ClassVar, v)->writes, &at));) {
        Var *pair[2] = { NULL, k->value };
        TRY(const_peek(e->tx, emit_name(k), &pair[0]));
        Helper h = k->value ? HELPER_set_class : HELPER_del_class;
        TRY(add_call(e, FX_CALL, h, v, k->value ? 2 : 1, pair));
    }
    return ST_OK;
}

static Status tensor_effects(Emit *e, Var *v)
{
    DictVar *d = AS(TensorVar, v)->attrs;
    return d ? attr_effects(e, v, d) : ST_OK;
}

static Status func_effects(Emit *e, Var *v)
{
    DictVar *d = AS(FuncVar, v)->attrs;
    return d ? attr_effects(e, v, d) : ST_OK;
}

static Status module_effects(Emit *e, Var *v)
{
    DictVar *d = AS(ModuleVar, v)->attrs;
    return d ? attr_effects(e, v, d) : ST_OK;
}

static Status exc_effects(Emit *e, Var *v)
{
    DictVar *d = AS(ExcVar, v)->attrs;
    return d ? attr_effects(e, v, d) : ST_OK;
}

/* The real iterator makes the steps that the trace made. */
static Status iter_effects(Emit *e, Var *v)
{
    Var *steps;
    TRY(const_int(e->tx, (Py_ssize_t)AS(IterVar, v)->at, &steps));
    return add_call(e, FX_CALL, HELPER_advance, v, 1, &steps);
}

static Status set_effects(Emit *e, Var *v)
{
    PyObject *steps;
    Var **items, **all;
    int n;
    TRY(emit_set_steps(e, v, &steps, &items, &n));
    all = emit_alloc(e, ((size_t)n + 1) * sizeof *all);
    TRY_PTR(all);
    TRY(const_peek(e->tx, steps, &all[0]));
    memcpy(all + 1, items, (size_t)n * sizeof *all);
    return add_call(e, FX_CALL, HELPER_replay_set, v, n + 1, all);
}

/* Making the token of the last set() that stands sets the variable. */
static Status context_effects(Emit *e, Var *v)
{
    TokenVar *top = AS(CtxVar, v)->top;
    return top ? add_call(e, FX_CALL, HELPER_settled, &top->v, 0, NULL) : ST_OK;
}

static Status hit_effects(Emit *e, const CacheHit *h)
{
    Tx *tx = e->tx;
    int n = h->args.n + h->args.nkw;
    Var **v = emit_alloc(e, (size_t)(n + 2) * sizeof *v);
    TRY_PTR(v);
    v[0] = h->first;
    TRY(const_peek(tx, h->args.nkw ? h->args.kwnames : Py_None, &v[1]));
    memcpy(v + 2, h->args.v, (size_t)n * sizeof *v);
    return add_call(e, FX_CALL, HELPER_hit_cache, h->fn, n + 2, v);
}

static Status (*const rows[KIND_COUNT])(Emit *e, Var *v) = {
    [KIND_list] = list_effects,     [KIND_dict] = dict_effects,
    [KIND_set] = set_effects,       [KIND_object] = object_effects,
    [KIND_class] = class_effects,   [KIND_cell] = cell_effects,
    [KIND_tensor] = tensor_effects, [KIND_func] = func_effects,
    [KIND_iter] = iter_effects,     [KIND_module] = module_effects,
    [KIND_exc] = exc_effects,       [KIND_context] = context_effects,
};

static Status list_one(Emit *e, Var *v)
{
    v = emit_settled(v);
    if (ptrmap_get(&e->told, v, NULL))
        return ST_OK;
    if (!ptrmap_put(&e->told, &e->tx->arena, &e->tx->journal, v, v))
        return ST_ERROR;
    if (rows[v->kind->id] == NULL)
        return graph_break(e->tx, BRK_REBUILD, "change of %s", v->kind->name);
    return rows[v->kind->id](e, v);
}

/* -- Operands and writes -------------------------------------------------------------------- */

static Status load_all(Emit *e, const Effect *fx)
{
    for (int i = 0; i < fx->n; i++)
        TRY(emit_load(e, fx->v[i]));
    return ST_OK;
}

static Status load_list(Emit *e, const Effect *fx)
{
    TRY(load_all(e, fx));
    put(e, OP_BUILD_LIST, fx->n);
    return ST_OK;
}

static Status push_items(Emit *e, const Effect *fx)
{
    switch (fx->kind) {
    case FX_SET_ATTR:
    case FX_DEL_ATTR: TRY(load_all(e, fx)); return emit_load(e, fx->target);
    case FX_SET_ITEM:
        TRY(emit_load(e, fx->v[1]));
        TRY(emit_load(e, fx->target));
        return emit_load(e, fx->v[0]);
    case FX_FILL:
        TRY(load_list(e, fx));
        TRY(emit_load(e, fx->target));
        put_const(e, Py_None);
        put_const(e, Py_None);
        put(e, OP_BUILD_SLICE, 2);
        return ST_OK;
    case FX_CALL:
    case FX_CALL_LIST: put_helper(e, fx->helper); break;
    default: break;
    }
    TRY(emit_load(e, fx->target));
    bool list = fx->kind == FX_EXTEND || fx->kind == FX_CALL_LIST;
    return list ? load_list(e, fx) : load_all(e, fx);
}

static void run(Emit *e, const Effect *fx)
{
    switch (fx->kind) {
    case FX_SET_ATTR: put_name(e, OP_STORE_ATTR, fx->name); return;
    case FX_DEL_ATTR: put_name(e, OP_DELETE_ATTR, fx->name); return;
    case FX_SET_ITEM:
    case FX_FILL: put(e, OP_STORE_SUBSCR, 0); return;
    case FX_DEL_ITEM: put(e, OP_DELETE_SUBSCR, 0); return;
    case FX_APPEND: put(e, OP_LIST_APPEND, 1); break;
    case FX_EXTEND: put(e, OP_LIST_EXTEND, 1); break;
    case FX_CALL: put_call(e, fx->n + 1); break;
    case FX_CALL_LIST: put_call(e, 2); break;
    }
    put(e, OP_POP_TOP, 0);
}

Status emit_list_effects(Emit *e)
{
    Tx *tx = e->tx;
    for (size_t i = 0; i < tx->dirty.n; i++)
        TRY(list_one(e, tx->dirty.v[i]));
    for (size_t i = 0; i < tx->hits.n; i++)
        TRY(hit_effects(e, &tx->hits.v[i]));
    for (size_t i = 0; i < e->effects.n; i++)
        TRY(push_items(e, &e->effects.v[i]));
    return ST_OK;
}

/* All operands are on the stack, the first effect's on top, before anything is written. */
Status emit_write_effects(Emit *e)
{
    for (size_t i = e->effects.n; i-- > 0;)
        TRY(push_items(e, &e->effects.v[i]));
    TRY(emit_fill(e));
    for (size_t i = 0; i < e->effects.n; i++)
        run(e, &e->effects.v[i]);
    return emit_renew(e);
}
