/*
 * emit/plan.c -- how each value gets on the stack, and the one function that puts it there.
 *
 * Takes: Vars. Gives: loads (second pass), use counts, exports, outputs and cycles (first pass). Holds: a value is
 * made once, however often it is loaded.
 */
#include "emit/plan.h"
#include "base/same.h"
#include "var/made.h"

enum { MAX_DEPTH = 1500 }; /* nesting of new objects; deeper ones are not made again */

/* -- Exports -------------------------------------------------------------------- */

/* Nothing of a class's model leaves the trace. */
static Status outside(Emit *e, const Source *src)
{
    while (src && src->base)
        src = src->base;
    if (src && src->kind == SRC_CONST && made_inside(e->tx, src->key))
        return graph_break(e->tx, BRK_REBUILD, "a part of a new class: %s",
                           Py_TYPE(src->key)->tp_name);
    return ST_OK;
}

Status emit_export(Emit *e, Source *src, Expr *expr, int *index)
{
    if (e->tx->made_classes)
        TRY(outside(e, src));
    if (expr && expr->kind == EX_LEAF) {
        src = expr->src;
        expr = NULL;
    }
    void *known, *what = expr ? (void *)expr : (void *)src;
    if (ptrmap_get(&e->exported, what, &known)) {
        *index = (int)(uintptr_t)known;
        return ST_OK;
    }
    assert(e->code == NULL);
    *index = (int)e->exports.n;
    if (!ptrmap_put(&e->exported, &e->tx->arena, &e->tx->journal, what,
                    (void *)e->exports.n))
        return ST_ERROR;
    return EMIT_PUSH(e, &e->exports, (Export){ .src = expr ? NULL : src, .expr = expr });
}

/* Tuples that recipes make anew in each pass are equal, not identical. */
static bool exported_equal(Emit *e, PyObject *obj, int *index)
{
    for (size_t i = 0; i < e->exports.n; i++) {
        const Source *s = e->exports.v[i].src;
        if (s && s->kind == SRC_CONST && const_same(s->key, obj)) {
            *index = (int)i;
            return true;
        }
    }
    return false;
}

static bool exported(Emit *e, PyObject *obj)
{
    for (size_t i = 0; i < e->exports.n; i++) {
        const Source *s = e->exports.v[i].src;
        if (s && s->kind == SRC_CONST && s->key == obj)
            return true;
    }
    return false;
}

static Status export_object(Emit *e, PyObject *obj, int *index)
{
    if (e->code && !exported(e, obj) && exported_equal(e, obj, index))
        return ST_OK;
    Source *src = source_get(&e->tx->sources, SRC_CONST, NULL, obj, 0);
    TRY_PTR(src);
    return emit_export(e, src, NULL, index);
}

/* -- Constants -------------------------------------------------------------------- */

static bool all_constant(PyObject *tuple)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++)
        if (!emit_is_constant(PyTuple_GET_ITEM(tuple, i)))
            return false;
    return true;
}

static bool is_static(PyTypeObject *t)
{
    return !(t->tp_flags & Py_TPFLAGS_HEAPTYPE);
}

/* C functions of modules, methods of static types. */
static bool is_c_function(PyObject *o)
{
    if (PyCFunction_CheckExact(o)) {
        PyObject *self = PyCFunction_GET_SELF(o);
        return self == NULL || PyModule_Check(self);
    }
    PyTypeObject *t = Py_TYPE(o);
    if (t == &PyMethodDescr_Type || t == &PyWrapperDescr_Type ||
        t == &PyGetSetDescr_Type || t == &PyMemberDescr_Type ||
        t == &PyClassMethodDescr_Type)
        return is_static(((PyDescrObject *)o)->d_type);
    return false;
}

static bool is_torch_constant(PyTypeObject *t)
{
    return torch_ready && (t == torch_types.dtype || t == torch_types.device ||
                           t == torch_types.layout || t == torch_types.memory_format);
}

static bool is_singleton(PyObject *o)
{
    return o == Py_None || o == Py_True || o == Py_False || o == Py_Ellipsis ||
           o == Py_NotImplemented;
}

/* A text that would become another object among the constants of a code object, which interns what looks like a name. */
static bool would_be_interned(PyObject *o)
{
    return !PyUnicode_CHECK_INTERNED(o) && PyUnicode_GET_LENGTH(o) > 1 &&
           PyUnicode_IS_ASCII(o) && PyUnicode_IsIdentifier(o);
}

bool emit_is_constant(PyObject *o)
{
    PyTypeObject *t = Py_TYPE(o);
    if (t == &PyUnicode_Type && would_be_interned(o))
        return false;
    if (o == Py_None || o == Py_Ellipsis || o == Py_NotImplemented || t == &PyBool_Type ||
        t == &PyLong_Type || t == &PyFloat_Type || t == &PyComplex_Type ||
        t == &PyUnicode_Type || t == &PyBytes_Type || t == &PyCode_Type)
        return true;
    if (t == &PyTuple_Type)
        return all_constant(o);
    if (PyType_Check(o))
        return is_static((PyTypeObject *)o);
    return is_torch_constant(t) || is_c_function(o);
}

/* -- Choosing the way ---------------------------------------------------------------- */

/* A value that was specialised to a constant still comes from its source: the object counts, not just the value. */
Var *emit_settled(Var *v)
{
    while (v->kind->id == KIND_lazy) {
        Var *got = AS(LazyVar, v)->got;
        if (got == NULL ||
            (got->kind->id == KIND_const && !got->src && !is_singleton(got->real)))
            break;
        v = got;
    }
    while (v->kind->id == KIND_tensor && AS(TensorVar, v)->same)
        v = AS(TensorVar, v)->same;
    return v;
}

static Status from_source(Emit *e, Item *it, Source *src, Expr *expr)
{
    it->how = HOW_EXPORT;
    return emit_export(e, src, expr, &it->arg);
}

bool emit_pinned(const Source *s)
{
    return s->kind == SRC_CONST || s->asked >> GUARD_IS & 1;
}

/* An existing object without a source of its own: the same object may have come in by another way. */
static Status from_object(Emit *e, Item *it)
{
    void *same;
    if (emit_is_constant(it->v->real)) {
        it->how = HOW_CONST;
        it->obj = it->v->real;
        return ST_OK;
    }
    if (ptrmap_get(&e->tx->wrapped, it->v->real, &same) && ((Var *)same)->src &&
        emit_pinned(((Var *)same)->src))
        return from_source(e, it, ((Var *)same)->src, NULL);
    it->how = HOW_EXPORT;
    return export_object(e, it->v->real, &it->arg);
}

/* A tensor: as it came in, or out of the graph. */
static Status from_tensor(Emit *e, Item *it)
{
    TensorVar *t = AS(TensorVar, it->v);
    Node *node = t->node ? &e->tx->graph.node.v[t->node - 1] : NULL;
    if (node && node->kind == NODE_INPUT)
        return from_source(e, it, node->src, NULL);
    if (node == NULL)
        return from_object(e, it);
    it->how = HOW_BUILD;
    return ST_OK;
}

static Status choose(Emit *e, Item *it)
{
    Var *v = it->v;
    bool is_const = v->kind->id == KIND_const;
    it->slot = -1;
    if (is_const && is_singleton(v->real))
        return from_object(e, it);
    if (v->kind->id == KIND_scalar)
        return from_source(e, it, NULL, AS(ScalarVar, v)->e);
    if (v->src)
        return from_source(e, it, v->src, NULL);
    if (v->kind->id == KIND_tensor)
        return from_tensor(e, it);
    bool bound = v->kind->id == KIND_builtin && AS(BuiltinVar, v)->self;
    if (v->real && !bound && !is_made_class(v))
        return from_object(e, it);
    it->how = HOW_BUILD;
    return ST_OK;
}

/* Iterators and views of an instance's content are those of the instance. */
static Var *whole(Emit *e, Var *content)
{
    void *instance;
    return ptrmap_get(&e->tx->wholes, content, &instance) ? instance : content;
}

Status emit_item(Emit *e, Var *v, Item **out)
{
    v = whole(e, emit_settled(v));
    if (v->id < e->items.n && e->items.v[v->id]->v == v) {
        *out = e->items.v[v->id];
        return ST_OK;
    }
    Item *it = emit_alloc(e, sizeof *it);
    TRY_PTR(it);
    it->v = v;
    TRY(choose(e, it));
    v->id = (uint32_t)e->items.n;
    TRY(EMIT_PUSH(e, &e->items, it));
    *out = it;
    return ST_OK;
}

static Status no_way(Emit *e, Item *it, const char *why)
{
    return graph_break(e->tx, BRK_REBUILD, "%s%s", it->v->kind->name, why);
}

/* What cannot be made again had better be made for real: a break where it came to be. */
static Status blame(Emit *e, const Item *it, Status st)
{
    if (st == ST_BREAK && e->tx->brk.born == 0)
        e->tx->brk.born = it->v->born;
    return st;
}

/* -- First pass: Tarjan's strongly connected components over new values ------------------ */

/* Everything in a cycle that can be made empty first is. */
static Status close_component(Emit *e, Item *root)
{
    Item *it;
    bool cycle = e->open.v[e->open.n - 1] != root;
    do {
        it = e->open.v[--e->open.n];
        it->open = false;
        if (cycle && recipes[it->v->kind->id].fill)
            it->shell = true;
    } while (it != root);
    return ST_OK;
}

static Status visit(Emit *e, Item *it)
{
    const Recipe *r = &recipes[it->v->kind->id];
    if (r->build == NULL)
        return blame(e, it, no_way(e, it, ""));
    if (e->depth >= MAX_DEPTH)
        return no_way(e, it, ", nested too deep");
    Item *parent = e->parent;
    it->order = it->low = ++e->norder;
    it->open = true;
    TRY(EMIT_PUSH(e, &e->open, it));
    e->parent = it;
    e->depth++;
    it->shell = r->late && r->late(it->v);
    TRY(blame(e, it, r->build(e, it)));
    if (it->shell)
        TRY(blame(e, it, r->fill(e, it)));
    e->depth--;
    e->parent = parent;
    return it->low == it->order ? close_component(e, it) : ST_OK;
}

static Status plan_load(Emit *e, Item *it)
{
    it->uses++;
    if (it->how != HOW_BUILD)
        return ST_OK;
    if (it->order == 0)
        TRY(visit(e, it));
    Item *parent = e->parent;
    if (parent == NULL || !it->open)
        return ST_OK;
    if (it == parent)
        it->shell = recipes[it->v->kind->id].fill != NULL;
    if (it->low < parent->low)
        parent->low = it->low;
    return ST_OK;
}

/* -- Second pass ------------------------------------------------------------------------- */

static Status keep(Emit *e, Item *it)
{
    char name[24];
    snprintf(name, sizeof name, "t%d", it->order);
    it->slot = asm_local(e->code, name);
    it->made = true;
    put(e, OP_COPY, 1);
    put(e, OP_STORE_FAST, it->slot);
    if (it->renew)
        return EMIT_PUSH(e, &e->renewed, it);
    return it->shell ? EMIT_PUSH(e, &e->fills, it) : ST_OK;
}

static Status write_build(Emit *e, Item *it)
{
    if (it->made) {
        put(e, OP_LOAD_FAST, it->slot);
        return ST_OK;
    }
    if (it->busy) /* a cycle of values none of which can be made empty first */
        return no_way(e, it, ", refers to itself");
    it->busy = true;
    TRY(recipes[it->v->kind->id].build(e, it));
    it->busy = false;
    return it->shell || it->renew || it->uses > 1 ? keep(e, it) : ST_OK;
}

static Status write_load(Emit *e, Item *it)
{
    switch (it->how) {
    case HOW_EXPORT: put(e, OP_LOAD_FAST, e->first_arg + it->arg); return ST_OK;
    case HOW_CONST: put_const(e, it->obj); return ST_OK;
    case HOW_BUILD: return write_build(e, it);
    }
    return ST_OK;
}

Status emit_load(Emit *e, Var *v)
{
    Item *it;
    TRY(emit_item(e, v, &it));
    return e->code ? write_load(e, it) : plan_load(e, it);
}

Status emit_load_obj(Emit *e, PyObject *obj)
{
    int index;
    ClassVar *made = class_made(e->tx, obj);
    if (made)
        return emit_load(e, &made->v);
    if (emit_is_constant(obj)) {
        put_const(e, obj);
        return ST_OK;
    }
    TRY(export_object(e, obj, &index));
    put(e, OP_LOAD_FAST, e->first_arg + index);
    return ST_OK;
}

Status put_key(Emit *e, const KeyEntry *k)
{
    return k->id ? emit_load(e, k->id) : emit_load_obj(e, k->key);
}

/* Contents may make further shells. */
Status emit_fill(Emit *e)
{
    while (e->filled < e->fills.n) {
        Item *it = e->fills.v[e->filled++];
        TRY(recipes[it->v->kind->id].fill(e, it));
    }
    return ST_OK;
}
