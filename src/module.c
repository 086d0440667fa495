/*
 * module.c -- the extension module jedlik._engine: its definition and method table.
 */
#include "base/status.h"

static struct PyModuleDef engine = {
    PyModuleDef_HEAD_INIT,
    .m_name = "jedlik._engine",
    .m_doc = "Graph capture in C: what the jedlik package is a thin layer over.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__engine(void)
{
    return PyModule_Create(&engine);
}
