/*
 * module.c -- the extension module jedlik._engine: its definition, its methods, the wiring of upward calls.
 */
#include "base/switches.h"
#include "builtin/handler.h"
#include "builtin/register.h"
#include "bytecode/selftest.h"
#include "cpy/peek.h"
#include "emit/emit.h"
#include "guard/selftest.h"
#include "pipeline.h"
#include "report.h"
#include "run/selftest.h"
#include "torch/torch.h"
#include "var/binops.h"
#include "var/names.h"

/* -- Methods ----------------------------------------------------------------------- */

static PyObject *set_config(PyObject *module, PyObject *args)
{
    const char *name;
    PyObject *value;
    if (!PyArg_ParseTuple(args, "sO", &name, &value) || switches_set(name, value) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *register_(PyObject *module, PyObject *args)
{
    PyObject *fn;
    const char *kind;
    if (!PyArg_ParseTuple(args, "Os", &fn, &kind) || register_add(fn, kind) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *suspend(PyObject *module, PyObject *flag)
{
    int before = run_disabled > 0, on = PyObject_IsTrue(flag);
    if (on < 0)
        return NULL;
    run_disabled = on;
    return PyBool_FromLong(before);
}

static PyObject *set_unsupported(PyObject *module, PyObject *cls)
{
    report_unsupported(cls);
    Py_RETURN_NONE;
}

static PyObject *explain_begin(PyObject *module, PyObject *unused)
{
    return report_events(true);
}
static PyObject *explain_end(PyObject *module, PyObject *unused)
{
    return report_events(false);
}
static PyObject *stats(PyObject *module, PyObject *unused)
{
    return report_stats();
}

static PyObject *reset(PyObject *module, PyObject *unused)
{
    run_forget();
    report_reset();
    Py_RETURN_NONE;
}

static PyObject *dump(PyObject *module, PyObject *letters)
{
    const char *s = PyUnicode_AsUTF8(letters);
    return s ? emit_dump(s) : NULL;
}

static PyObject *dump_begin(PyObject *module, PyObject *unused)
{
    Py_XSETREF(emit_log, PyList_New(0));
    if (emit_log == NULL)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *dump_end(PyObject *module, PyObject *unused)
{
    Py_CLEAR(emit_log);
    Py_RETURN_NONE;
}

static PyObject *blocks(PyObject *module, PyObject *unused)
{
    return PyLong_FromSsize_t(mem_blocks);
}

static PyObject *fail_alloc(PyObject *module, PyObject *n)
{
    Py_ssize_t before = mem_fail_at, at = PyLong_AsSsize_t(n);
    if (at == -1 && PyErr_Occurred())
        return NULL;
    mem_fail_at = at;
    return PyLong_FromSsize_t(before);
}

static PyMethodDef methods[] = {
    { "set_config", set_config, METH_VARARGS,
      "set_config(name, value): a setting of jedlik.config." },
    { "register", register_, METH_VARARGS,
      "register(fn, kind): how a trace treats a function." },
    { "suspend", suspend, METH_O,
      "suspend(flag): leave this thread's frames alone; the flag before." },
    { "set_unsupported", set_unsupported, METH_O, "The class that fullgraph raises." },
    { "explain_begin", explain_begin, METH_NOARGS, "Starts collecting events." },
    { "explain_end", explain_end, METH_NOARGS, "The events since explain_begin()." },
    { "stats", stats, METH_NOARGS, "Counts since the start or the last reset()." },
    { "reset", reset, METH_NOARGS,
      "Forgets everything that was compiled, and the counts." },
    { "dump", dump, METH_O, "dump(letters): representations of the last compile." },
    { "dump_begin", dump_begin, METH_NOARGS,
      "Starts keeping representations for dump()." },
    { "dump_end", dump_end, METH_NOARGS, "Forgets them." },
    { "fail_alloc", fail_alloc, METH_O,
      "Stress: lets the n-th allocation from now on fail; what was left of the last." },
    { "blocks", blocks, METH_NOARGS, "Blocks of raw memory the engine holds." },
    { NULL, NULL, 0, NULL },
};

/* -- The module ---------------------------------------------------------------------- */

static struct PyModuleDef engine = {
    PyModuleDef_HEAD_INIT,
    .m_name = "jedlik._engine",
    .m_doc = "Graph capture in C: what the jedlik package is a thin layer over.",
    .m_size = -1,
    .m_methods = methods,
};

extern PyMethodDef torch_selftest_methods[];

static int add_selftest(PyObject *module)
{
    PyMethodDef *tables[] = { bytecode_selftest_methods, run_selftest_methods,
                              run_tramp_selftest_methods, guard_selftest_methods,
                              torch_selftest_methods };
    PyObject *sub = PyModule_New("jedlik._engine.selftest");
    if (sub == NULL)
        return -1;
    for (size_t i = 0; i < COUNT_OF(tables); i++)
        if (PyModule_AddFunctions(sub, tables[i]) < 0) {
            Py_DECREF(sub);
            return -1;
        }
    if (PyDict_SetItemString(PyImport_GetModuleDict(), "jedlik._engine.selftest", sub) < 0)
        return -1;
    return PyModule_AddObject(module, "selftest", sub);
}

/* Segments have the module's dictionary as their globals: what they call may import, which looks for the built-ins there. */
static int add_builtins(PyObject *m)
{
    return PyDict_SetItemString(PyModule_GetDict(m), "__builtins__", PyEval_GetBuiltins());
}

PyMODINIT_FUNC PyInit__engine(void)
{
    switches_init();
    run_compile = compile_point;
    run_compile_late = compile_late;
    run_check = guards_check;
    run_guards_free = guards_free;
    run_limit_warning = pipeline_limit;
    PyObject *m = PyModule_Create(&engine);
    if (m == NULL)
        return NULL;
    pipeline_module = m;
    if (add_builtins(m) < 0 || names_init() < 0 || binop_init() < 0 || match_init() < 0 ||
        report_init() < 0 || cpy_iter_check() < 0 || run_init(m) < 0 ||
        add_selftest(m) < 0) {
        Py_DECREF(m);
        return NULL;
    }
    return m;
}
