/* The helpers of segment code as a module of their own: _emittest.<name>. */
#include "cpy/cpy.h"
#include "emit/helpers.h"
#include "torch/torch.h"

void ambient_set_grad(bool on) {}
void ambient_set_kernels(unsigned mask) {}

static PyObject *suspend(PyObject *m, PyObject *args)
{
    PyObject *func, *slots, *exc;
    int unit;
    if (!PyArg_ParseTuple(args, "OiOO", &func, &unit, &slots, &exc))
        return NULL;
    return cpy_gen_make((PyFunctionObject *)func, unit, ((PyTupleObject *)slots)->ob_item,
                        (int)PyTuple_GET_SIZE(slots), exc == Py_None ? NULL : exc);
}

static PyMethodDef methods[] = { { "suspend", suspend, METH_VARARGS, NULL }, { 0 } };
static struct PyModuleDef module = { PyModuleDef_HEAD_INIT, .m_name = "_emittest", .m_size = -1,
                                     .m_methods = methods };

PyMODINIT_FUNC PyInit__emittest(void)
{
    PyObject *m = PyModule_Create(&module);
    if (m == NULL || helpers_init() < 0)
        return NULL;
    for (int i = 0; i < HELPER_COUNT; i++)
        if (PyModule_AddObjectRef(m, helper_name(i), helper_object(i)) < 0)
            return NULL;
    return m;
}
