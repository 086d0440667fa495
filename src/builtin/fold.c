/*
 * builtin/fold.c -- constant folding: calls of functions free of effects on constants are made for real, at once.
 *
 * Takes: a callable and arguments. Gives: its result, or its exception as the program's. What may be folded is said by the
 * table below, never guessed: time.time() has no arguments either (rule 22).
 */
#include "builtin/help.h"
#include "builtin/paths.h"
#include "var/bytearray.h"
#include "var/consts.h"
#include "var/object.h"

static PathTable pure;

/* Callables whose result depends on their arguments alone and which change nothing. `*` leaves out the methods that make or
 * change objects (paths.c). */
static const char *const pure_paths[] = {
    "math.*",
    "cmath.*",
    "builtins.abs",
    "builtins.round",
    "builtins.divmod",
    "builtins.pow",
    "builtins.chr",
    "builtins.ord",
    "builtins.bin",
    "builtins.oct",
    "builtins.hex",
    "builtins.ascii",
    "builtins.repr",
    "builtins.format",
    "builtins.hash",
    "builtins.len",
    "builtins.dir",
    "builtins.min",
    "builtins.max",
    "builtins.sum",
    "builtins.any",
    "builtins.all",
    "builtins.sorted",
    "builtins.int",
    "builtins.float",
    "builtins.bool",
    "builtins.complex",
    "builtins.str",
    "builtins.bytes",
    "builtins.slice",
    "builtins.range",
    "builtins.tuple",
    "builtins.frozenset",
    "builtins.str.*",
    "builtins.bytes.*",
    "builtins.int.*",
    "builtins.float.*",
    "builtins.complex.*",
    "builtins.bool.*",
    "builtins.tuple.*",
    "builtins.frozenset.*",
    "builtins.range.*",
    "builtins.slice.*",
    "_operator.*",
    "numpy.bool_",
    "numpy.int8",
    "numpy.int16",
    "numpy.int32",
    "numpy.int64",
    "numpy.uint8",
    "numpy.float16",
    "numpy.float32",
    "numpy.float64",
    "numpy.generic.item",
    "numpy.prod",
    "numpy.sum",
    "numpy.mean",
    "numpy.max",
    "numpy.min",
    "numpy.round",
    "re.Pattern.*",
    "re.Match.*",
    "_struct.pack",
    "_struct.unpack",
    "_struct.calcsize",
    "sys.intern",
    "sys.getdefaultencoding",
    "posix.fspath",
};

int fold_init(void)
{
    for (size_t i = 0; i < COUNT_OF(pure_paths); i++)
        if (paths_add(&pure, pure_paths[i], pure_paths[i]) < 0)
            return -1;
    return 0;
}

/* -- Constants in ----------------------------------------------------------- */

/* Classes that nobody can change, as in int.from_bytes. */
static bool fixed_class(PyObject *o)
{
    return PyType_CheckExact(o) && !(((PyTypeObject *)o)->tp_flags & Py_TPFLAGS_HEAPTYPE);
}

static bool all_possible(Var **v, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < n; i++)
        if (!fold_possible(v[i]))
            return false;
    return true;
}

bool fold_possible(Var *v)
{
    if (v->kind == &kind_lazy && AS(LazyVar, v)->got)
        v = AS(LazyVar, v)->got;
    switch (v->kind->id) {
    case KIND_scalar: return true;
    case KIND_lazy:
    case KIND_const:
    case KIND_class:
        return v->real && (const_immutable(v->real) || fixed_class(v->real) ||
                           const_object(v->real));
    case KIND_tuple:
        return v->type == &PyTuple_Type &&
               all_possible(AS(TupleVar, v)->items, AS(TupleVar, v)->n);
    case KIND_slice: return all_possible(AS(SliceVar, v)->part, 3);
    case KIND_bytearray: return true; /* a copy of it */
    default: return false;
    }
}

bool fold_ready(const Args *a)
{
    return all_possible(a->v, a->n + a->nkw);
}

Status fold_value(Tx *tx, Var *v, PyObject **out)
{
    *out = NULL;
    if (!fold_possible(v))
        return ST_OK;
    TRY(var_real(tx, &v));
    if (v->kind == &kind_bytearray)
        return (*out = bytearray_real(tx, v)) ? ST_OK : ST_ERROR;
    if (v->real && (fixed_class(v->real) || const_object(v->real))) {
        *out = v->real;
        return ST_OK;
    }
    PyObject *o;
    TRY(var_const(tx, v, &o));
    *out = o && const_immutable(o) ? o : NULL;
    return ST_OK;
}

/* -- Results out ------------------------------------------------------------ */

/* What a real operation gave, and the operands it may have handed through. */
typedef struct Result {
    Tx *tx;
    Var *const *operands;
    Py_ssize_t n;
} Result;

static Status wrap_result(const Result *r, PyObject *o, Var **out);

/* An operand that has a place is among the items: they are to be looked at one by one. */
static bool hands_through(const Result *r, PyObject *o)
{
    if (!PyTuple_CheckExact(o))
        return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); i++)
        for (Py_ssize_t k = 0; k < r->n; k++) {
            Var *v = r->operands[k];
            if (v->kind == &kind_lazy)
                v = AS(LazyVar, v)->got;
            if (v && v->by_value && v->real == PyTuple_GET_ITEM(o, i))
                return true;
        }
    return false;
}

static Status wrap_items(const Result *r, PyObject *seq, Var ***items)
{
    Py_ssize_t n = PySequence_Fast_GET_SIZE(seq);
    *items = tx_alloc(r->tx, (size_t)(n ? n : 1) * sizeof(Var *));
    TRY_PTR(*items);
    for (Py_ssize_t i = 0; i < n; i++)
        TRY(wrap_result(r, PySequence_Fast_GET_ITEM(seq, i), &(*items)[i]));
    return ST_OK;
}

static Status wrap_dict(const Result *r, PyObject *dict, Var **out)
{
    PyObject *key, *value;
    Py_ssize_t pos = 0;
    Var *d;
    TRY(dict_new(r->tx, &d));
    while (PyDict_Next(dict, &pos, &key, &value)) {
        Var *k, *v;
        TRY(wrap_result(r, key, &k));
        TRY(wrap_result(r, value, &v));
        TRY(var_setitem(r->tx, d, k, v));
    }
    *out = d;
    return ST_OK;
}

static Status wrap_result(const Result *r, PyObject *o, Var **out)
{
    Tx *tx = r->tx;
    Var **items;
    if ((const_immutable(o) && !hands_through(r, o)) || const_object(o))
        return const_result(tx, Py_NewRef(o), r->operands, r->n, out);
    if (PyTuple_CheckExact(o) || (torch_ready && Py_IS_TYPE(o, torch_types.size))) {
        TRY(wrap_items(r, o, &items));
        return tuple_new_type(tx, Py_TYPE(o), items, PyTuple_GET_SIZE(o), out);
    }
    if (PyList_CheckExact(o)) {
        TRY(wrap_items(r, o, &items));
        return list_new(tx, items, PyList_GET_SIZE(o), out);
    }
    if (PyDict_CheckExact(o))
        return wrap_dict(r, o, out);
    if (PyType_Check(o) || PyModule_Check(o))
        return wrap_pinned(tx, o, NULL, out);
    if (const_facts(o))
        return const_peek(tx, o, out);
    return ST_DECLINE;
}

Status fold_wrap(Tx *tx, PyObject *steals, Var **out)
{
    if (steals == NULL)
        return raise_now(tx);
    TRY_PTR(tx_hold(tx, steals));
    return wrap_result(&(Result){ .tx = tx }, steals, out);
}

/* A bytearray's content is handed over as a copy. */
static bool of_bytearray(Var *const *v, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < n; i++)
        if (v[i]->kind == &kind_bytearray ||
            (v[i]->kind == &kind_tuple &&
             of_bytearray(AS(TupleVar, v[i])->items, AS(TupleVar, v[i])->n)))
            return true;
    return false;
}

Status fold_run(Tx *tx, PyObject *callable, const Args *a, Var **out)
{
    if (!fold_ready(a))
        return ST_DECLINE;
    size_t n = (size_t)(a->n + a->nkw);
    PyObject **v = tx_alloc(tx, (n + 1) * sizeof *v);
    TRY_PTR(v);
    for (size_t i = 0; i < n; i++) {
        TRY(fold_value(tx, a->v[i], &v[i]));
        if (v[i] == NULL)
            return ST_DECLINE;
    }
    PyObject *r =
        PyObject_Vectorcall(callable, v, (size_t)a->n, a->nkw ? a->kwnames : NULL);
    if (r == NULL)
        return raise_now(tx);
    TRY_PTR(tx_hold(tx, r));
    if (!const_immutable(r) && const_object(r) && of_bytearray(a->v, (Py_ssize_t)n))
        return ST_DECLINE; /* a match looks into what it was found in, later too */
    return wrap_result(&(Result){ tx, a->v, (Py_ssize_t)n }, r, out);
}

/* A bound method of a constant is what its descriptor is. */
static PyObject *pure_key(PyObject *callable)
{
    if (!PyCFunction_Check(callable))
        return callable;
    PyCFunctionObject *f = (PyCFunctionObject *)callable;
    if (f->m_self &&
        fixed_class(f->m_self)) { /* a class method, which is bound anew each time */
        PyObject *d = paths_class_entry((PyTypeObject *)f->m_self, f->m_ml->ml_name);
        return d && Py_IS_TYPE(d, &PyClassMethodDescr_Type) ? d : callable;
    }
    if (f->m_self == NULL || PyModule_Check(f->m_self) ||
        (!const_immutable(f->m_self) && !const_object(f->m_self)))
        return callable;
    PyObject *d = paths_class_entry(Py_TYPE(f->m_self), f->m_ml->ml_name);
    return d ? d : callable;
}

/* A C method of an instance of a subclass of int, str …: it works on the built-in part. */
static Status on_content(Tx *tx, PyObject *callable, const Args *a, Args *out)
{
    PyTypeObject *t = Py_TYPE(callable);
    *out = *a;
    if (a->n < 1 || (t != &PyMethodDescr_Type && t != &PyWrapperDescr_Type))
        return ST_OK;
    Var *self = a->v[0];
    TRY(var_real(tx, &self));
    Var *content = self->kind == &kind_object ? AS(ObjectVar, self)->content : NULL;
    if (content == NULL || !fold_possible(content))
        return ST_OK;
    out->v = tx_alloc(tx, (size_t)(a->n + a->nkw) * sizeof(Var *));
    TRY_PTR(out->v);
    memcpy(out->v, a->v, (size_t)(a->n + a->nkw) * sizeof(Var *));
    out->v[0] = content;
    return ST_OK;
}

bool fold_is_pure(PyObject *callable)
{
    return paths_find(&pure, pure_key(callable)) != NULL;
}

/* Does an error name the class of the built-in part? */
static bool names_part(Tx *tx, const Var *part, Status st)
{
    if (st != ST_RAISE || tx->exc->kind != &kind_exc)
        return false;
    TupleVar *args = AS(ExcVar, tx->exc)->args;
    PyObject *text = args->n ? args->items[0]->real : NULL;
    const char *told = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : "";
    PyErr_Clear();
    return told == NULL || strstr(told, part->type->tp_name) != NULL;
}

Status fold_call(Tx *tx, PyObject *callable, const Args *call, Var **out)
{
    Args content;
    TRY(on_content(tx, callable, call, &content));
    const Args *a = &content;
    if (!fold_ready(a))
        return ST_DECLINE;
    if (paths_find(&pure, pure_key(callable)) == NULL &&
        (!torch_ready || torch_classify(callable).cls != TC_CONST))
        return ST_DECLINE;
    Status st = fold_run(tx, callable, a, out);
    /* what is wrong is told of the object itself, whose class may be in the text */
    if (a->v == call->v || st != ST_RAISE ||
        !(exc_matches(tx, PyExc_TypeError) || names_part(tx, a->v[0], st)))
        return st;
    Var *self = call->v[0];
    TRY(var_real(tx, &self));
    return object_part_raised(tx, self, st);
}
