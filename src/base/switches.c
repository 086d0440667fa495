/*
 * base/switches.c -- settings by name.
 */
#include "base/switches.h"

Switches switches = {
#define SWITCH(name, value) .name = value,
#include "base/switches.def"
#undef SWITCH
};

void switches_init(void)
{
    const char *at = getenv("JEDLIK_BREAK_AT");
    switches.break_at = at ? atol(at) : 0;
}

int switches_set(const char *name, PyObject *value)
{
    long n = PyObject_IsTrue(value);
    if (PyLong_Check(value) && !PyBool_Check(value))
        n = PyLong_AsLong(value);
    if (n == -1 && PyErr_Occurred())
        return -1;
#define SWITCH(id, initial)                                                              \
    if (strcmp(name, #id) == 0) {                                                        \
        switches.id = n;                                                                 \
        return 0;                                                                        \
    }
#include "base/switches.def"
#undef SWITCH
    PyErr_Format(PyExc_AttributeError, "jedlik has no setting '%s'", name);
    return -1;
}
