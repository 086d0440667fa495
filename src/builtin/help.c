/*
 * builtin/help.c -- small things that several families of handlers need.
 */
#include "builtin/help.h"

Status arg_name(Tx *tx, Var *v, PyObject **name)
{
    PyObject *o;
    PyTypeObject *t;
    TRY(var_const(tx, v, &o));
    if (o == NULL || !PyUnicode_CheckExact(o)) {
        TRY(var_type_of(tx, v, &t));
        if (t && PyType_HasFeature(t, Py_TPFLAGS_UNICODE_SUBCLASS))
            return graph_break(tx, BRK_UNKNOWN_CALL, "attribute name of type %s",
                               t->tp_name);
        return raise_type(tx, PyExc_TypeError,
                          "attribute name must be string, not '%.200s'",
                          t ? t->tp_name : "object");
    }
    Py_INCREF(o);
    PyUnicode_InternInPlace(&o);
    *name = tx_hold(tx, o);
    TRY_PTR(*name);
    return ST_OK;
}

/* For real, on the pinned value: what the expression language does not have, or what raises. */
static Status apply_pinned(Tx *tx, ScalarVar *s, char op, Var **out)
{
    PyObject *o;
    TRY(var_const(tx, &s->v, &o));
    return fold_wrap(tx, calc_unary(op, o), out);
}

Status scalar_apply(Tx *tx, ScalarVar *s, char op, Var **out)
{
    Expr *e = expr_unary(&tx->exprs, op, s->e);
    if (e == NULL) {
        PyErr_Clear(); /* the real operation below raises it again, behind the guards it needs */
        return apply_pinned(tx, s, op, out);
    }
    if (!expr_total(e))
        TRY(guard_noraise(&tx->guards, e));
    return scalar_new(tx, e, out);
}

Var *number_part(Var *v)
{
    Var *c = var_content(v);
    if (c == NULL || (c->kind != &kind_const && c->kind != &kind_scalar) ||
        c->type == NULL)
        return NULL;
    bool number = PyType_HasFeature(c->type, Py_TPFLAGS_LONG_SUBCLASS) ||
                  c->type == &PyFloat_Type || c->type == &PyComplex_Type;
    return number ? c : NULL;
}

PyObject *lookup_path(Tx *tx, const char *module, const char *name)
{
    PyObject *m = PyDict_GetItemString(PyImport_GetModuleDict(), module);
    if (m == NULL || !PyModule_Check(m))
        return NULL;
    return tx_keep(tx, PyDict_GetItemString(PyModule_GetDict(m), name));
}

Status node_target(Tx *tx, const char *name, const char *what, PyObject **out)
{
    if (tx->backend == NULL || tx->ways.plain_nodes || !hand_off_replays(tx->backend))
        return graph_break(tx, BRK_MODE,
                           "%s, which this backend's graphs cannot have as a node", what);
    PyObject *m = PyImport_ImportModule("jedlik._nodes");
    *out = tx_hold(tx, m ? PyObject_GetAttrString(m, name) : NULL);
    Py_XDECREF(m);
    return *out ? ST_OK : ST_ERROR;
}

/* -- Closed runs ---------------------------------------------------------- */

/* Pending changes of these kinds are seen by those who read them (tx->foreign); an iterator is read by nobody else. */
static bool watched(const VarKind *k)
{
    return k == &kind_dict || k == &kind_iter || k == &kind_list || k == &kind_cell;
}

Status run_closed(Tx *tx, ClosedFn fn, void *arg, Var **out)
{
    for (size_t i = 0; i < tx->dirty.n; i++)
        if (!watched(tx->dirty.v[i]->kind))
            return graph_break(tx, BRK_SIDE_EFFECT, "%s",
                               "code that runs by itself, beside pending effects");
    tx->foreign++;
    Status st = fn(tx, arg, out);
    tx->foreign--;
    return st;
}
