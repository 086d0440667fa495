/*
 * emit/helpers.c -- objects, functions and exceptions: see helpers.h. Containers and iterators: helpers_seq.c.
 *
 * Arguments come from code that emit/ wrote: their number and types are right by construction.
 */
#include "emit/helpers_def.h"

#include "cpy/cpy.h"
#include "torch/torch.h"

/* -- Objects --------------------------------------------------------------------- */

/* The type whose C constructor makes instances of cls: the first one along the MRO that has a __new__ written in C. */
static PyTypeObject *native(PyTypeObject *cls)
{
    PyObject *mro = cls->tp_mro;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(mro); i++) {
        PyTypeObject *t = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        PyObject *made_by = PyDict_GetItemString(t->tp_dict, "__new__");
        if (made_by && PyCFunction_Check(made_by))
            return t;
    }
    return &PyBaseObject_Type;
}

static PyObject *create(PyTypeObject *cls, PyObject *args)
{
    return native(cls)->tp_new(cls, args, NULL);
}

PyObject *do_new_object(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    PyObject *none = PyTuple_New(0);
    PyObject *made = none ? create((PyTypeObject *)a[0], none) : NULL;
    Py_XDECREF(none);
    return made;
}

/* A slot that was set and deleted again in the trace may never have been set for real. */
static int store_member(PyObject *obj, PyObject *descr, PyObject *value)
{
    int result = Py_TYPE(descr)->tp_descr_set(descr, obj, value);
    if (result == 0 || value || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return result;
    PyErr_Clear();
    return 0;
}

/* A store into the instance dictionary, or through a member descriptor given instead of a name. */
static int store(PyObject *obj, PyObject *name, PyObject *value)
{
    bool text = PyUnicode_Check(name);
    if (!text && Py_TYPE(name)->tp_descr_set)
        return store_member(obj, name, value);
    PyObject *descr = text ? cpy_type_lookup(Py_TYPE(obj), name) : NULL;
    if (text && (descr == NULL || Py_TYPE(descr)->tp_descr_set == NULL))
        return PyObject_GenericSetAttr(obj, name, value);
    PyObject *dict = PyObject_GenericGetDict(obj, NULL);
    if (dict == NULL)
        return -1;
    int result = value ? PyDict_SetItem(dict, name, value) : PyDict_DelItem(dict, name);
    Py_DECREF(dict);
    return result;
}

static int store_all(PyObject *obj, PyObject *names, PyObject *const *values)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++)
        if (store(obj, PyTuple_GET_ITEM(names, i), values[i]) < 0)
            return -1;
    return 0;
}

PyObject *do_make_object(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    PyObject *made = do_new_object(m, a, 1);
    if (made && store_all(made, a[1], a + 2) < 0)
        Py_CLEAR(made);
    return made;
}

static PyObject *done(int result)
{
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

PyObject *do_set_attrs(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    return done(store_all(a[0], a[1], a + 2));
}

PyObject *do_set_attr(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    return done(store(a[0], a[1], a[2]));
}

PyObject *do_del_attr(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    return done(store(a[0], a[1], NULL));
}

PyObject *do_set_class(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    return done(PyType_Type.tp_setattro(a[0], a[1], a[2]));
}

PyObject *do_del_class(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    return done(PyType_Type.tp_setattro(a[0], a[1], NULL));
}

/* cls(content), as the built-in type below cls makes it: tuples, numbers, strings, frozensets. */
PyObject *do_new_like(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    PyObject *args = PyTuple_Pack(1, a[1]);
    PyObject *made = args ? create((PyTypeObject *)a[0], args) : NULL;
    Py_XDECREF(args);
    return made;
}

/* -- Functions ------------------------------------------------------------------- */

PyObject *do_make_cell(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    return PyCell_New(n ? a[0] : NULL);
}

typedef int (*SetPart)(PyObject *function, PyObject *part);

PyObject *do_make_func(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    static const SetPart set[] = { PyFunction_SetDefaults, PyFunction_SetKwDefaults,
                                   PyFunction_SetClosure, PyFunction_SetAnnotations };
    PyObject *f = PyFunction_NewWithQualName(a[0], a[1], a[3] == Py_None ? NULL : a[3]);
    if (f == NULL)
        return NULL;
    int bad = a[2] == Py_None ? 0 : PyObject_SetAttrString(f, "__name__", a[2]);
    for (int i = 0; i < 4 && bad == 0; i++)
        if (a[4 + i] != Py_None)
            bad = set[i](f, a[4 + i]);
    if (bad)
        Py_CLEAR(f);
    return f;
}

PyObject *do_bind(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    bool of_class =
        Py_IS_TYPE(a[0], &PyClassMethodDescr_Type); /* `a[1]` is the class then */
    return Py_TYPE(a[0])->tp_descr_get(a[0], of_class ? NULL : a[1],
                                       of_class ? a[1] : (PyObject *)Py_TYPE(a[1]));
}

/* -- Classes --------------------------------------------------------------------- */

/* Properties are told their names, which no code of the program has to run for. */
static bool name_properties(PyObject *cls, PyObject *names, PyObject *const *values)
{
    bool ok = true;
    for (Py_ssize_t i = 0; ok && i < PyTuple_GET_SIZE(names); i++) {
        if (!Py_IS_TYPE(values[i], &PyProperty_Type))
            continue;
        PyObject *r = PyObject_CallMethod(values[i], "__set_name__", "OO", cls,
                                          PyTuple_GET_ITEM(names, i));
        ok = r != NULL;
        Py_XDECREF(r);
    }
    return ok;
}

PyObject *do_make_class(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    PyObject *ns = PyDict_New(), *made = NULL;
    bool ok = ns != NULL;
    for (Py_ssize_t i = 0; ok && i < PyTuple_GET_SIZE(a[3]); i++)
        ok = PyDict_SetItem(ns, PyTuple_GET_ITEM(a[3], i), a[4 + i]) == 0;
    if (ok)
        made = cpy_class_new((PyTypeObject *)a[0], a[1], a[2], ns);
    if (made && !name_properties(made, a[3], a + 4))
        Py_CLEAR(made);
    Py_XDECREF(ns);
    return made;
}

PyObject *do_init_abc(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    PyObject *abc = PyImport_ImportModule("_abc");
    PyObject *r = abc ? PyObject_CallMethod(abc, "_abc_init", "O", a[0]) : NULL;
    Py_XDECREF(abc);
    return r;
}

/* -- Contexts, locks, caches ----------------------------------------------------- */

PyObject *do_set_context(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    return PyContextVar_Set(a[0], a[1]);
}

PyObject *do_new_lock(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    PyObject *thread = PyImport_ImportModule("_thread");
    PyObject *lock = thread ? PyObject_CallMethod(thread, "allocate_lock", NULL) : NULL;
    Py_XDECREF(thread);
    return lock;
}

/* What there was to do was done when the token was made. */
PyObject *do_settled(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    Py_RETURN_NONE;
}

/* A call that a guard knows to find its value in the cache is made for its counters and the order of use. The call that filled the cache while
 * tracing has counted already: `first` is a list that has an item then. */
PyObject *do_hit_cache(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    if (PyList_GET_SIZE(a[1]))
        return PyList_SetSlice(a[1], 0, 1, NULL) < 0 ? NULL : Py_NewRef(Py_None);
    bool named = PyTuple_Check(a[2]);
    Py_ssize_t nkw = named ? PyTuple_GET_SIZE(a[2]) : 0;
    return PyObject_Vectorcall(a[0], a + 3, (size_t)(n - 3 - nkw), named ? a[2] : NULL);
}

/* -- Exceptions ------------------------------------------------------------------ */

/* Built-in classes are called, since many keep more than args; of classes written in Python what they have from those. made: what the
 * C constructor was called with, None if it was not; args may be other ones by now. */
PyObject *do_make_exc(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    PyTypeObject *cls = (PyTypeObject *)a[0];
    if (a[2] == Py_None)
        return create(cls, a[1]);
    bool python = cls->tp_flags & Py_TPFLAGS_HEAPTYPE;
    PyObject *exc = python ? create(cls, a[2]) : PyObject_Call(a[0], a[2], NULL);
    if (exc && python && cpy_c_base(cls)->tp_init(exc, a[2], NULL) < 0)
        Py_CLEAR(exc);
    if (exc && a[1] != a[2])
        Py_XSETREF(((PyBaseExceptionObject *)exc)->args, Py_NewRef(a[1]));
    return exc;
}

PyObject *do_link_exc(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    if (a[1] != Py_None)
        PyException_SetCause(a[0], Py_NewRef(a[1]));
    if (a[2] != Py_None)
        PyException_SetContext(a[0], Py_NewRef(a[2]));
    return done(PyObject_SetAttrString(a[0], "__suppress_context__", a[3]));
}

/* -- Torch ----------------------------------------------------------------------- */

PyObject *do_set_kernels(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    ambient_set_kernels((unsigned)PyLong_AsLong(a[0]));
    Py_RETURN_NONE;
}

PyObject *do_set_grad(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    ambient_set_grad(a[0] == Py_True);
    Py_RETURN_NONE;
}

/* The region's own object, which is a value of the program, leaves it. */
PyObject *do_enter_cast(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    PyObject *modes = PyImport_ImportModule("torch.amp.autocast_mode");
    PyObject *enter = modes ? PyObject_GetAttrString(modes, "_enter_autocast") : NULL;
    PyObject *mode = enter ? PyObject_Vectorcall(enter, a, (size_t)n, NULL) : NULL;
    Py_XDECREF(modes);
    Py_XDECREF(enter);
    return mode;
}

/* -- The table ------------------------------------------------------------------- */

struct HelperTypes helper_types;

static PyMethodDef defs[] = {
#define HELPER(name, signature)                                                          \
    { #name, (PyCFunction)(void (*)(void))do_##name, METH_FASTCALL, NULL },
#include "emit/helpers.def"
#undef HELPER
};
static PyObject *made[HELPER_COUNT];

static int find_type(const char *module, const char *name, PyTypeObject **out)
{
    PyObject *m = PyImport_ImportModule(module);
    *out = m ? (PyTypeObject *)PyObject_GetAttrString(m, name) : NULL;
    Py_XDECREF(m);
    return *out ? 0 : -1;
}

int helpers_init(void)
{
    if (made[0])
        return 0;
    if (find_type("_collections", "deque", &helper_types.deque) < 0 ||
        find_type("_collections", "defaultdict", &helper_types.defaultdict) < 0 ||
        find_type("_functools", "partial", &helper_types.partial) < 0)
        return -1;
    helper_types.ordered = &PyODict_Type;
    for (int i = HELPER_COUNT - 1; i >= 0; i--)
        if ((made[i] = PyCFunction_New(&defs[i], NULL)) == NULL)
            return -1;
    return 0;
}

PyObject *helper_object(Helper h)
{
    return made[h];
}

const char *helper_name(Helper h)
{
    return defs[h].ml_name;
}
