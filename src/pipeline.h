/*
 * pipeline.h -- the steps from a point to a cache entry.
 */
#ifndef JEDLIK_PIPELINE_H
#define JEDLIK_PIPELINE_H

#include "run/run.h"

extern PyObject *pipeline_module; /* the engine's module: globals of the segments */

CompileResult compile_point(Point *p, PyFunctionObject *func, PyObject *const *slots,
                            int nslots, PyObject *exc, Entry **out);
struct GraphFailure;
CompileResult compile_late(Point *p, PyFunctionObject *func, PyObject *const *slots,
                           int nslots, PyObject *exc, const struct GraphFailure *f,
                           Entry **out);
void pipeline_limit(Point *p, PyFunctionObject *func, PyObject *const *slots, int nslots,
                    PyObject *exc);

#endif
