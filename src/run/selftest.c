/*
 * run/selftest.c -- frames and single instructions, for tests.
 *
 * Takes: functions and the values of their argument slots (a tuple, in slot order). Gives:
 * what the call gives, got in another way than by calling.
 */
#include "run/selftest.h"
#include "run/real.h"

/* -- Stepping through one frame ----------------------------------------------------- */

typedef struct Walk {
    PyThreadState *ts;
    PyFunctionObject *func;
    const Code *c;
    CpyFrame *f;
    long steps;
} Walk;

/* A linked frame of args[0] with the slots of args[1], before its first unit. */
static bool start(Walk *w, PyObject *func, PyObject *slots)
{
    w->ts = PyThreadState_Get();
    if (!PyFunction_Check(func) || !PyTuple_Check(slots)) {
        PyErr_SetString(PyExc_TypeError, "a function and a tuple are needed");
        return false;
    }
    w->func = (PyFunctionObject *)func;
    w->c = code_of((PyCodeObject *)w->func->func_code);
    w->f = w->c == NULL ? NULL : cpy_frame_push(w->ts, w->func, 0);
    if (w->f == NULL)
        return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(slots); i++)
        cpy_frame_slots(w->f)[i] = Py_NewRef(PyTuple_GET_ITEM(slots, i));
    cpy_frame_link(w->ts, w->f);
    return true;
}

static int at_index(Walk *w)
{
    return w->c->index_of[cpy_frame_at(w->f)];
}

static PyObject *leave(Walk *w, PyObject *value)
{
    cpy_frame_unlink(w->ts, w->f);
    cpy_frame_pop(w->ts, w->f);
    return value;
}

/* One instruction. True while the frame goes on; else it is gone and *value is what came out. */
static bool step(Walk *w, PyObject **value)
{
    int i = at_index(w);
    w->steps++;
    if (w->c->ins[i].op == OP_RETURN_VALUE) {
        int depth = cpy_frame_depth(w->f);
        *value = cpy_frame_slots(w->f)[w->c->nlocalsplus + depth - 1];
        cpy_frame_set(w->f, depth - 1, cpy_frame_at(w->f));
        leave(w, NULL);
        return false;
    }
    if (real_run(w->ts, w->f, w->c, i) == REAL_OK)
        return true;
    *value = leave(w, NULL);
    return false;
}

static PyObject *step_from(PyObject *self, PyObject *args)
{
    Walk w = { 0 };
    PyObject *func, *slots, *value;
    long k;
    if (!PyArg_ParseTuple(args, "OOl", &func, &slots, &k) || !start(&w, func, slots))
        return NULL;
    while (w.steps != k)
        if (!step(&w, &value))
            return value;
    cpy_frame_unlink(w.ts, w.f);
    return cpy_frame_run(w.ts, w.f);
}

static PyObject *count_steps(PyObject *self, PyObject *args)
{
    Walk w = { 0 };
    PyObject *func, *slots, *value = NULL;
    if (!PyArg_ParseTuple(args, "OO", &func, &slots) || !start(&w, func, slots))
        return NULL;
    while (step(&w, &value))
        ;
    Py_XDECREF(value);
    PyErr_Clear();
    return PyLong_FromLong(w.steps);
}

/* -- Stops ------------------------------------------------------------------------------ */

static long met; /* stops met by the last call */

static PyObject *run_with_stops(Walk *w, PyCodeObject *stops)
{
    met = 0;
    for (;;) {
        bool stopped;
        PyObject *value;
        cpy_frame_unlink(w->ts, w->f);
        value = cpy_frame_run_to(w->ts, w->f, stops, &stopped);
        if (!stopped)
            return value;
        met++;
        cpy_frame_link(w->ts, w->f);
        if (!step(w, &value))
            return value;
    }
}

static PyObject *stops_new(PyObject *self, PyObject *code)
{
    return (PyObject *)cpy_stops_new((PyCodeObject *)code);
}

static PyObject *stops_set(PyObject *self, PyObject *args)
{
    PyObject *stops, *code;
    int index, on;
    if (!PyArg_ParseTuple(args, "OOip", &stops, &code, &index, &on))
        return NULL;
    const Code *c = code_of((PyCodeObject *)code);
    if (c == NULL)
        return NULL;
    return PyBool_FromLong(
        cpy_stops_set((PyCodeObject *)stops, c->co, c->ins[index].at, on));
}

/* Plainly up to the stops, whose instructions are run for real. */
static PyObject *run_stops(PyObject *self, PyObject *args)
{
    Walk w = { 0 };
    PyObject *func, *slots, *stops;
    if (!PyArg_ParseTuple(args, "OOO", &func, &slots, &stops) || !start(&w, func, slots))
        return NULL;
    return run_with_stops(&w, (PyCodeObject *)stops);
}

static PyObject *stops_met(PyObject *self, PyObject *none)
{
    return PyLong_FromLong(met);
}

/* -- Calls ---------------------------------------------------------------------------------- */

static PyObject *call_code(PyObject *self, PyObject *args)
{
    PyObject *func, *slots, *value = NULL;
    long times = 1;
    if (!PyArg_ParseTuple(args, "O!O!|l", &PyFunction_Type, &func, &PyTuple_Type, &slots,
                          &times))
        return NULL;
    PyThreadState *ts = PyThreadState_Get();
    for (long i = 0; i < times; i++) {
        Py_XDECREF(value);
        value =
            cpy_call_code(ts, (PyFunctionObject *)func, ((PyTupleObject *)slots)->ob_item,
                          (size_t)PyTuple_GET_SIZE(slots));
        if (value == NULL)
            break;
    }
    return value;
}

/* -- Objects ----------------------------------------------------------------------------------- */

static PyObject *inst_get(PyObject *self, PyObject *args)
{
    PyObject *obj, *name, *value;
    if (!PyArg_ParseTuple(args, "OU", &obj, &name))
        return NULL;
    Py_INCREF(name);
    PyUnicode_InternInPlace(&name);
    int found = cpy_inst_get(obj, name, &value);
    Py_DECREF(name);
    return Py_BuildValue("(iO)", found, found == 1 ? value : Py_None);
}

static PyObject *inst_names(PyObject *self, PyObject *obj)
{
    return cpy_inst_names(obj);
}

static PyObject *inst_dict(PyObject *self, PyObject *obj)
{
    PyObject *d = cpy_inst_dict(obj);
    return Py_NewRef(d == NULL ? Py_None : d);
}

static PyObject *dict_get(PyObject *self, PyObject *args)
{
    PyObject *dict, *key;
    Py_ssize_t hint = -1;
    if (!PyArg_ParseTuple(args, "O!O|n", &PyDict_Type, &dict, &key, &hint))
        return NULL;
    Py_hash_t hash = PyObject_Hash(key);
    if (hash == -1)
        return NULL;
    PyObject *v = cpy_dict_get(dict, key, hash, &hint);
    return Py_BuildValue("(On)", v == NULL ? Py_None : v, hint);
}

static PyObject *type_version(PyObject *self, PyObject *type)
{
    if (!PyType_Check(type))
        return PyErr_Format(PyExc_TypeError, "a type is needed");
    return PyLong_FromUnsignedLong(cpy_type_version((PyTypeObject *)type));
}

PyMethodDef run_selftest_methods[] = {
    { "step_from", step_from, METH_VARARGS,
      "step_from(func, slots, k): k instructions one by one, the rest plainly; -1: all" },
    { "count_steps", count_steps, METH_VARARGS,
      "count_steps(func, slots) -> instructions run" },
    { "stops_new", stops_new, METH_O, "stops_new(code) -> copy that can stop" },
    { "stops_set", stops_set, METH_VARARGS, "stops_set(stops, code, index, on) -> bool" },
    { "run_stops", run_stops, METH_VARARGS,
      "run_stops(func, slots, stops): plainly but for the stops' instructions" },
    { "stops_met", stops_met, METH_NOARGS, "stops_met() -> stops the last call met" },
    { "call_code", call_code, METH_VARARGS, "call_code(func, slots, times=1)" },
    { "inst_get", inst_get, METH_VARARGS, "inst_get(obj, name) -> (found, value)" },
    { "inst_names", inst_names, METH_O, "inst_names(obj) -> list" },
    { "inst_dict", inst_dict, METH_O, "inst_dict(obj) -> dict or None" },
    { "dict_get", dict_get, METH_VARARGS,
      "dict_get(dict, key, hint=-1) -> (value, hint)" },
    { "type_version", type_version, METH_O, "type_version(type) -> int" },
    { NULL },
};
