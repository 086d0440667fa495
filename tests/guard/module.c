/* A module with nothing but selftest methods, for running these tests without the whole engine. */
#include "guard/selftest.h"

PyMODINIT_FUNC PyInit__guardtest(void)
{
    static struct PyModuleDef def = { PyModuleDef_HEAD_INIT, "_guardtest", NULL, -1, NULL,
                                      NULL,                  NULL,         NULL, NULL };
    PyObject *m = PyModule_Create(&def);
    if (m != NULL && PyModule_AddFunctions(m, guard_selftest_methods) < 0)
        Py_CLEAR(m);
    return m;
}
