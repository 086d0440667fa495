/*
 * cpy/inner311.h -- the one door to CPython 3.11's internal headers.
 */
#ifndef JEDLIK_CPY_INNER311_H
#define JEDLIK_CPY_INNER311_H

#include "cpy/cpy.h"

/* Two macros of the public headers that the internal ones define anew. */
#undef _PyGC_FINALIZED
#undef _PyObject_LookupSpecial
#define Py_BUILD_CORE 1
#include <internal/pycore_code.h>
#include <internal/pycore_dict.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_object.h>
#undef Py_BUILD_CORE

/* Exported, but declared in headers that clash with others. */
PyAPI_FUNC(PyObject *)
    _PyEval_EvalFrameDefault(PyThreadState *ts, CpyFrame *f, int raising);
PyAPI_FUNC(int) _Py_CheckRecursiveCall(PyThreadState *ts, const char *where);

#endif
