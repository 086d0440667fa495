/* A module with nothing but selftest methods, for running these tests before and without the
 * whole engine. */
#include "bytecode/selftest.h"
#include "run/run.h"
#include "run/selftest.h"

PyMODINIT_FUNC PyInit__runtest(void)
{
    static struct PyModuleDef def = { PyModuleDef_HEAD_INIT, "_runtest", NULL, -1, NULL,
                                      NULL,                  NULL,       NULL, NULL };
    PyObject *m = PyModule_Create(&def);
    if (m != NULL && (PyModule_AddFunctions(m, run_selftest_methods) < 0 ||
                      PyModule_AddFunctions(m, run_tramp_selftest_methods) < 0 ||
                      PyModule_AddFunctions(m, bytecode_selftest_methods) < 0 || run_init(m) < 0))
        Py_CLEAR(m);
    return m;
}
