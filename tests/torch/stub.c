/*
 * tests/torch/stub.c -- what other folders define, for building src/torch alone; all weak, so that the real ones win.
 */
#include "guard/guard.h"

__attribute__((weak)) bool (*guard_tensor_check)(PyObject *obj, const void *meta);
__attribute__((weak)) bool (*guard_ambient_check)(const void *ambient);
__attribute__((weak)) PyObject *(*guard_tensor_why)(PyObject *obj, const void *meta);

__attribute__((weak)) void source_print(Text *t, const Source *s, PyObject *slot_names)
{
    text_put(t, "L[%ld]", (long)(s ? s->index : -1));
}

extern PyMethodDef torch_selftest_methods[];

static struct PyModuleDef def = { PyModuleDef_HEAD_INIT, .m_name = "torch_selftest",
                                  .m_size = -1, .m_methods = torch_selftest_methods };

PyMODINIT_FUNC PyInit_torch_selftest(void)
{
    return PyModule_Create(&def);
}
