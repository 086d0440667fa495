/*
 * trace/number.c -- numbers that enter the graph, of whatever value.
 *
 * Takes: an argument that is a number from outside, of an operation whose result is described by the number's type alone. Gives: an input
 * of the graph, once the point has met a second value of it; before that the value is pinned, and backends see a constant. Holds: our own
 * runner is given the number itself. Other backends are given a tensor without dimensions, where that comes to the same to the bit: one
 * floating-point tensor that has dimensions, and an operation that computes with both in the tensor's type.
 */
#include "base/same.h"
#include "torch/failure.h"
#include "trace/torchcall.h"

enum { KEYWORD = 0x80, AT0 = 1, AT1 = 2, AT2 = 4, TENSOR = 1, RAISES = 2 };

/* Names as the targets have them: functions, methods, functions of the operator module. where: positions, KEYWORD. */
static const struct {
    const char *names;
    uint8_t where, how;
} rows[] = {
    { " add add_ __add__ __radd__ __iadd__ iadd sub sub_ __sub__ __rsub__ __isub__ isub "
      "subtract subtract_ "
      "mul mul_ __mul__ __rmul__ __imul__ imul multiply multiply_ ",
      AT0 | AT1, TENSOR },
    { " div div_ divide divide_ true_divide true_divide_ truediv itruediv __truediv__ "
      "__itruediv__ ",
      AT1, TENSOR },
    { " lt le gt ge eq ne __lt__ __le__ __gt__ __ge__ __eq__ __ne__ ", AT0 | AT1, TENSOR },
    { " truediv __rtruediv__ ", AT0 | AT1, 0 }, /* number / x is x.reciprocal() * number */
    { " pow pow_ __pow__ __rpow__ __ipow__ ipow ", AT0 | AT1, RAISES },
    { " add add_ sub sub_ addcmul addcmul_ addcdiv addcdiv_ addmm baddbmm ", KEYWORD,
      RAISES },
    { " lerp lerp_ masked_fill masked_fill_ ", AT2 | KEYWORD, RAISES },
    { " clamp clamp_ clip clip_ ", AT1 | AT2 | KEYWORD, RAISES },
    { " clamp_min clamp_min_ clamp_max clamp_max_ fill_ leaky_relu ", AT1 | KEYWORD,
      RAISES },
    { " _foreach_add _foreach_add_ _foreach_sub _foreach_sub_ _foreach_mul _foreach_mul_ "
      "_foreach_div _foreach_div_ ",
      AT1 | KEYWORD, RAISES },
};

/* 1 + how; 0: no row. */
static int row_of(const char *name, int at, bool keyword)
{
    char word[64];
    if (snprintf(word, sizeof word, " %s ", name) >= (int)sizeof word)
        return 0;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if ((rows[i].where & (keyword  ? KEYWORD
                              : at < 3 ? 1 << at
                                       : 0)) &&
            strstr(rows[i].names, word))
            return 1 + rows[i].how;
    return 0;
}

/* -- What it meets -------------------------------------------------------------- */

typedef struct Others {
    int tensors;
    bool floating, dims; /* all of them */
} Others;

static bool is_floating(PyObject *meta)
{
    PyObject *yes = PyObject_GetAttrString(meta_dtype(meta), "is_floating_point");
    PyErr_Clear();
    Py_XDECREF(yes);
    return yes == Py_True;
}

static Status look(Tx *tx, Var *v, Others *o)
{
    PyObject *meta;
    TensorMeta m;
    TRY(var_real(tx, &v));
    if (v->kind == &kind_list || v->kind == &kind_tuple) {
        Var **items;
        Py_ssize_t n;
        TRY(var_unpack(tx, v, &items, &n));
        for (Py_ssize_t i = 0; i < n; i++)
            TRY(look(tx, items[i], o));
        return ST_OK;
    }
    if (v->kind != &kind_tensor)
        return ST_OK;
    TRY(tensor_meta(tx, AS(TensorVar, v), &meta));
    bool known = meta_read(meta, &m);
    o->tensors++;
    o->floating &= known && is_floating(meta);
    o->dims &= known && m.ndim > 0;
    return ST_OK;
}

/* -- Which values there were ------------------------------------------------------ */

static bool number(PyObject *o)
{
    return o && (PyFloat_CheckExact(o) || PyLong_CheckExact(o));
}

/* A trace for a graph that failed does as that graph's did. */
static bool varied(const Tx *tx)
{
    size_t id = tx->graph.node.n;
    return id < tx->late->n && tx->late->targets[id] == NULL &&
           number(tx->late->values[id]);
}

static Status place_of(Tx *tx, Expr *e, PyObject **out)
{
    Text t = { 0 };
    expr_print(&t, e, tx->slot_names);
    *out =
        tx_hold(tx, t.failed ? PyErr_NoMemory() : PyUnicode_FromString(t.s ? t.s : ""));
    text_free(&t);
    return *out ? ST_OK : ST_ERROR;
}

Status number_varies(Tx *tx, Expr *e, bool *yes)
{
    PyObject *place;
    *yes = false;
    if (tx->numbers == NULL || !expr_small(e) || (tx->late && *tx->numbers == NULL))
        return ST_OK;
    if (*tx->numbers == NULL)
        *tx->numbers = PyDict_New();
    TRY_PTR(*tx->numbers);
    TRY(place_of(tx, e, &place));
    PyObject *before = PyDict_GetItemWithError(*tx->numbers, place);
    *yes =
        before == Py_Ellipsis || (before && !tx->late && !const_same(before, e->value));
    if (PyErr_Occurred() ||
        ((!before || *yes) && !tx->late &&
         PyDict_SetItem(*tx->numbers, place, *yes ? Py_Ellipsis : e->value) < 0))
        return ST_ERROR;
    return ST_OK;
}

static Status varies(Tx *tx, Expr *e, bool *yes)
{
    if (!tx->late)
        return number_varies(tx, e, yes);
    *yes = varied(tx);
    return ST_OK;
}

/* -- The input -------------------------------------------------------------------- */

Status number_input(Tx *tx, ScalarVar *s, bool tensor, GArg *arg)
{
    Node n = { .kind = NODE_INPUT,
               .src = s->v.src,
               .expr = s->e,
               .as_tensor = tensor,
               .example = s->e->value,
               .meta = Py_None,
               .pure = true };
    arg->tag = GA_NODE;
    return graph_add(&tx->graph, n, &arg->node);
}

static bool have(const Tx *tx, const Expr *e, GArg *arg)
{
    void *node;
    if (!ptrmap_get(&tx->number_nodes, e, &node))
        return false;
    *arg = (GArg){ .tag = GA_NODE, .node = (uint32_t)(uintptr_t)node };
    return true;
}

static Status add(Tx *tx, ScalarVar *s, GArg *arg)
{
    TRY(number_input(tx, s, tx->foreign_graph, arg));
    return ptrmap_put(&tx->number_nodes, &tx->arena, &tx->journal, s->e,
                      (void *)(uintptr_t)arg->node)
               ? ST_OK
               : ST_ERROR;
}

static Status allowed(Tx *tx, const Args *a, int how, bool *yes, bool *raises)
{
    Others o = { .floating = true, .dims = true };
    for (int i = 0; i < a->n + a->nkw; i++)
        TRY(look(tx, a->v[i], &o));
    *raises |= !o.floating; /* numbers that do not fit into the type */
    *yes = o.tensors > 0;
    if (tx->foreign_graph)
        *yes = (how & TENSOR) && o.tensors == 1 && o.dims && o.floating;
    return ST_OK;
}

Status number_arg(Tx *tx, const char *name, const Args *a, int i, GArg *g,
                  PyObject **real, bool *raises)
{
    Var *v = a->v[i];
    TRY(var_real(tx, &v));
    if (v->kind != &kind_scalar || !number(AS(ScalarVar, v)->e->value))
        return ST_DECLINE;
    Expr *e = AS(ScalarVar, v)->e;
    int row = row_of(name, i, i >= a->n);
    bool yes = row > 0, misfit = false;
    if (yes)
        TRY(allowed(tx, a, row - 1, &yes, &misfit));
    if (!yes)
        return ST_DECLINE;
    if (!have(tx, e, g)) {
        TRY(varies(tx, e, &yes));
        if (!yes)
            return ST_DECLINE;
        TRY(add(tx, AS(ScalarVar, v), g));
    }
    *real = e->value;
    *raises |= misfit || ((row - 1) & RAISES) ||
               PyLong_CheckExact(e->value); /* it may be too large */
    return ST_OK;
}
