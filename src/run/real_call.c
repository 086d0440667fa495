/*
 * run/real_call.c -- calls, functions, imports, exceptions and `with`.
 *
 * Calls run from C on the frame's own operands, the frame's position being the CALL.
 */
#include "run/real_op.h"

/* -- Calls ---------------------------------------------------------------------------- */

static bool callee_ran(void)
{
    PyObject *type, *value, *tb;
    PyErr_Fetch(&type, &value, &tb);
    bool ran = tb != NULL;
    PyErr_Restore(type, value, tb);
    return ran;
}

Outcome real_call(Real *r)
{
    int n = r->in->arg;
    PyObject **base = r->sp - n - 2; /* NULL and callable, or method and self */
    bool method = base[0] != NULL;
    PyObject *callable = base[!method], **args = base + (method ? 1 : 2);
    size_t total = (size_t)(n + method);
    size_t nkw = r->kwnames == NULL ? 0 : (size_t)PyTuple_GET_SIZE(r->kwnames);
    bool inlines = cpy_call_inlines(callable);
    if (inlines)
        cpy_frame_mark(r->f, r->in->end - 1);
    PyObject *told, *v = NULL;
    if (cpy_tell_c_call(r->ts, callable, total > nkw ? args[0] : NULL, &told))
        v = PyObject_Vectorcall(
            callable, args, (total - nkw) | PY_VECTORCALL_ARGUMENTS_OFFSET, r->kwnames);
    if (!cpy_tell_c_return(r->ts, told))
        Py_CLEAR(v);
    if (v == NULL && inlines && !callee_ran())
        cpy_frame_mark(
            r->f, cpy_lasti(r->c, (int)(r->in - r->c->ins))); /* arguments did not fit */
    return result(r, n + 2, v);
}

/* What ** found wrong becomes a message about the call. */
static void explain_kwargs(PyObject *func, PyObject *kwargs)
{
    if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        PyObject *name = _PyObject_FunctionStr(func);
        if (name != NULL)
            PyErr_Format(PyExc_TypeError,
                         "%U argument after ** must be a mapping, not %.200s", name,
                         Py_TYPE(kwargs)->tp_name);
        Py_XDECREF(name);
        return;
    }
    if (!PyErr_ExceptionMatches(PyExc_KeyError))
        return;
    PyObject *type, *value, *tb;
    PyErr_Fetch(&type, &value, &tb);
    /* A duplicate is reported as KeyError whose value is a bare tuple, not yet an instance. */
    if (value == NULL || !PyTuple_Check(value) || PyTuple_GET_SIZE(value) != 1) {
        PyErr_Restore(type, value, tb);
        return;
    }
    PyObject *name = _PyObject_FunctionStr(func);
    if (name != NULL)
        PyErr_Format(PyExc_TypeError, "%U got multiple values for keyword argument '%S'",
                     name, PyTuple_GET_ITEM(value, 0));
    Py_XDECREF(name);
    Py_DECREF(type);
    Py_DECREF(value);
    Py_XDECREF(tb);
}

Outcome real_dict_merge(Real *r)
{
    PyObject *more = peek(r, 1), *func = peek(r, r->in->arg + 3);
    int error = _PyDict_MergeEx(peek(r, r->in->arg + 1), more, 2);
    if (error < 0)
        explain_kwargs(func, more);
    return used(r, 1, error);
}

/* The top becomes an exact dict; func lies `below` it. */
static bool dict_on_top(Real *r, PyObject *func)
{
    PyObject *kwargs = peek(r, 1);
    if (PyDict_CheckExact(kwargs))
        return true;
    PyObject *d = PyDict_New();
    if (d == NULL || _PyDict_MergeEx(d, kwargs, 2) < 0) {
        if (d != NULL)
            explain_kwargs(func, kwargs);
        Py_XDECREF(d);
        return false;
    }
    r->sp[-1] = d;
    Py_DECREF(kwargs);
    return true;
}

static bool tuple_at(Real *r, PyObject **slot, PyObject *func)
{
    PyObject *args = *slot;
    if (PyTuple_CheckExact(args))
        return true;
    if (Py_TYPE(args)->tp_iter == NULL && !PySequence_Check(args)) {
        PyObject *name = _PyObject_FunctionStr(func);
        if (name != NULL)
            PyErr_Format(PyExc_TypeError,
                         "%U argument after * must be an iterable, not %.200s", name,
                         Py_TYPE(args)->tp_name);
        Py_XDECREF(name);
        return false;
    }
    PyObject *t = PySequence_Tuple(args);
    if (t == NULL)
        return false;
    *slot = t;
    Py_DECREF(args);
    return true;
}

Outcome real_call_function_ex(Real *r)
{
    int kw = r->in->arg & 1;
    PyObject *func = peek(r, 2 + kw);
    if (kw && !dict_on_top(r, func))
        return RAISED;
    if (!tuple_at(r, &r->sp[-1 - kw], func))
        return RAISED;
    PyObject *args = peek(r, 1 + kw), *told, *v = NULL;
    PyObject *self = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : NULL;
    if (cpy_tell_c_call(r->ts, func, self, &told))
        v = PyObject_Call(func, args, kw ? peek(r, 1) : NULL);
    if (!cpy_tell_c_return(r->ts, told))
        Py_CLEAR(v);
    return result(r, 3 + kw, v);
}

/* -- Functions and classes -------------------------------------------------------------- */

Outcome real_make_function(Real *r)
{
    PyObject *code = peek(r, 1);
    PyFunctionObject *func =
        (PyFunctionObject *)PyFunction_New(code, func_of(r)->func_globals);
    if (func == NULL)
        return RAISED;
    drop(r, 1);
    if (r->in->arg & 8)
        func->func_closure = take(r);
    if (r->in->arg & 4)
        func->func_annotations = take(r);
    if (r->in->arg & 2)
        func->func_kwdefaults = take(r);
    if (r->in->arg & 1)
        func->func_defaults = take(r);
    put(r, (PyObject *)func);
    return DONE;
}

/* A builtin by name, new reference; NULL, with an exception unless it is just not there. */
static PyObject *find_builtin(Real *r, const char *name)
{
    PyObject *builtins = func_of(r)->func_builtins, *v;
    if (PyDict_CheckExact(builtins)) {
        PyObject *key = PyUnicode_InternFromString(name);
        v = key == NULL ? NULL : Py_XNewRef(PyDict_GetItemWithError(builtins, key));
        Py_XDECREF(key);
        return v;
    }
    v = PyMapping_GetItemString(builtins, name);
    if (v == NULL && PyErr_ExceptionMatches(PyExc_KeyError))
        PyErr_Clear();
    return v;
}

Outcome real_load_build_class(Real *r)
{
    PyObject *v = find_builtin(r, "__build_class__");
    if (v == NULL && !PyErr_Occurred())
        PyErr_SetString(PyExc_NameError, "__build_class__ not found");
    return result(r, 0, v);
}

/* -- Imports -------------------------------------------------------------------------------- */

Outcome real_import_name(Real *r)
{
    PyObject *import = find_builtin(r, "__import__");
    if (import == NULL) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ImportError, "__import__ not found");
        return RAISED;
    }
    PyObject *args[] = { name_of(r), func_of(r)->func_globals, Py_None, peek(r, 1),
                         peek(r, 2) };
    PyObject *v = PyObject_Vectorcall(import, args, COUNT_OF(args), NULL);
    Py_DECREF(import);
    return result(r, 2, v);
}

/* The ImportError for a name that a module does not have. */
static void no_such_name(PyObject *module, PyObject *name, PyObject *package)
{
    PyObject *path = PyModule_GetFilenameObject(module);
    if (path == NULL)
        PyErr_Clear();
    PyObject *text;
    if (path == NULL)
        text = PyUnicode_FromFormat("cannot import name %R from %R (unknown location)",
                                    name, package);
    else {
        PyObject *spec = PyObject_GetAttrString(module, "__spec__");
        const char *format =
            _PyModuleSpec_IsInitializing(spec)
                ? "cannot import name %R from partially initialized module %R "
                  "(most likely due to a circular import) (%S)"
                : "cannot import name %R from %R (%S)";
        PyErr_Clear();
        Py_XDECREF(spec);
        text = PyUnicode_FromFormat(format, name, package, path);
    }
    if (text != NULL)
        PyErr_SetImportError(text, package, path);
    Py_XDECREF(text);
    Py_XDECREF(path);
}

/* A submodule that is loaded but not yet an attribute of its package (circular imports). */
static PyObject *from_loaded(PyObject *module, PyObject *name)
{
    PyObject *package = PyObject_GetAttrString(module, "__name__");
    if (package == NULL || !PyUnicode_Check(package)) {
        PyErr_Clear();
        Py_XDECREF(package);
        package = PyUnicode_FromString("<unknown module name>");
        if (package != NULL)
            no_such_name(module, name, package);
        Py_XDECREF(package);
        return NULL;
    }
    PyObject *full = PyUnicode_FromFormat("%U.%U", package, name);
    PyObject *v = full == NULL ? NULL : PyImport_GetModule(full);
    Py_XDECREF(full);
    if (v == NULL && !PyErr_Occurred())
        no_such_name(module, name, package);
    Py_DECREF(package);
    return v;
}

Outcome real_import_from(Real *r)
{
    PyObject *module = peek(r, 1), *v;
    if (_PyObject_LookupAttr(module, name_of(r), &v) == 0)
        v = from_loaded(module, name_of(r));
    return result(r, 0, v);
}

/* -- Exceptions -------------------------------------------------------------------------------- */

Outcome real_push_exc_info(Real *r)
{
    PyObject *exc = take(r), *old = cpy_exc_handled(r->ts);
    put(r, Py_NewRef(old == NULL ? Py_None : old));
    put(r, exc);
    cpy_exc_set_handled(r->ts, Py_NewRef(exc));
    return DONE;
}

Outcome real_pop_except(Real *r)
{
    cpy_exc_set_handled(r->ts, take(r));
    return DONE;
}

Outcome real_check_exc_match(Real *r)
{
    PyObject *type = peek(r, 1);
    bool many = PyTuple_Check(type);
    Py_ssize_t n = many ? PyTuple_GET_SIZE(type) : 1;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!PyExceptionClass_Check(many ? PyTuple_GET_ITEM(type, i) : type)) {
            PyErr_SetString(PyExc_TypeError, "catching classes that do not inherit from "
                                             "BaseException is not allowed");
            return RAISED;
        }
    return result_bool(r, 1, PyErr_GivenExceptionMatches(peek(r, 2), type));
}

static Outcome raise_again(PyObject *exc)
{
    PyErr_Restore(Py_NewRef((PyObject *)Py_TYPE(exc)), exc, PyException_GetTraceback(exc));
    return ONWARDS;
}

/* An instance out of what stands behind `raise`. */
static PyObject *instance_of(PyObject *what)
{
    if (PyExceptionInstance_Check(what))
        return Py_NewRef(what);
    if (!PyExceptionClass_Check(what)) {
        PyErr_SetString(PyExc_TypeError, "exceptions must derive from BaseException");
        return NULL;
    }
    PyObject *exc = PyObject_CallNoArgs(what);
    if (exc != NULL && !PyExceptionInstance_Check(exc)) {
        PyErr_Format(
            PyExc_TypeError,
            "calling %R should have returned an instance of BaseException, not %R", what,
            Py_TYPE(exc));
        Py_CLEAR(exc);
    }
    return exc;
}

/* Of `raise … from cause`; the cause is stored even if it is None, and what a class gives whatever it is. */
static bool set_cause(PyObject *exc, PyObject *cause)
{
    PyObject *fixed = NULL;
    if (PyExceptionClass_Check(cause)) {
        fixed = PyObject_CallNoArgs(cause);
        if (fixed == NULL)
            return false;
    } else if (PyExceptionInstance_Check(cause)) {
        fixed = Py_NewRef(cause);
    } else if (cause != Py_None) {
        PyErr_SetString(PyExc_TypeError,
                        "exception causes must derive from BaseException");
        return false;
    }
    PyException_SetCause(exc, fixed);
    return true;
}

Outcome real_raise_varargs(Real *r)
{
    int n = r->in->arg;
    if (n == 0) {
        PyObject *exc = PyErr_GetHandledException();
        if (exc != NULL)
            return raise_again(exc);
        PyErr_SetString(PyExc_RuntimeError, "No active exception to reraise");
        return RAISED;
    }
    PyObject *what = peek(r, n), *exc = instance_of(what);
    if (exc != NULL &&
        (n < 2 || set_cause(exc, peek(r, 1)))) /* of the class that was named */
        PyErr_SetObject(exc == what ? (PyObject *)Py_TYPE(exc) : what, exc);
    Py_XDECREF(exc);
    drop(r, n);
    return RAISED;
}

Outcome real_reraise(Real *r)
{
    if (r->in->arg) {
        long at = PyLong_AsLong(peek(r, r->in->arg + 1));
        if (at == -1 && PyErr_Occurred())
            return RAISED;
        cpy_frame_mark(r->f, (int)at);
    }
    return raise_again(take(r));
}

Outcome real_load_assertion_error(Real *r)
{
    return result(r, 0, Py_NewRef(PyExc_AssertionError));
}

/* -- with ---------------------------------------------------------------------------------------- */

static PyObject *special(PyObject *obj, const char *name)
{
    PyObject *key = PyUnicode_InternFromString(name);
    PyObject *v = key == NULL ? NULL : cpy_special(obj, key);
    Py_XDECREF(key);
    return v;
}

Outcome real_before_with(Real *r)
{
    PyObject *mgr = peek(r, 1), *exit = NULL;
    const char *which = "";
    PyObject *enter = special(mgr, "__enter__");
    if (enter != NULL) {
        exit = special(mgr, "__exit__");
        which = " (missed __exit__ method)";
    }
    if (exit == NULL) {
        if (!PyErr_Occurred())
            PyErr_Format(
                PyExc_TypeError,
                "'%.200s' object does not support the context manager protocol%s",
                Py_TYPE(mgr)->tp_name, which);
        Py_XDECREF(enter);
        return RAISED;
    }
    r->sp[-1] = exit;
    Py_DECREF(mgr);
    PyObject *v = PyObject_CallNoArgs(enter);
    Py_DECREF(enter);
    return result(r, 0, v);
}

/* Stack: exit function, lasti, previous exception, exception. */
Outcome real_with_except_start(Real *r)
{
    PyObject *exc = peek(r, 1), *tb = PyException_GetTraceback(exc);
    PyObject *args[] = { NULL, (PyObject *)Py_TYPE(exc), exc, tb == NULL ? Py_None : tb };
    PyObject *v = PyObject_Vectorcall(peek(r, 4), args + 1,
                                      3 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    Py_XDECREF(tb);
    return result(r, 0, v);
}
