/*
 * cpy/profile311.c -- what a profiler is told of frames and calls that the evaluator does not see.
 *
 * Takes: frames that were pushed, not called; calls made from C. Gives: the events that the evaluator of CPython 3.11 would have
 * sent to sys.setprofile's function. Holds: a thread that nobody profiles pays one load; the function runs as the evaluator
 * runs it, with itself turned off, and may raise.
 */
#include <patchlevel.h>
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000

#include "cpy/inner311.h"

int cpy_watched(PyThreadState *ts)
{
    if (__builtin_expect(ts->cframe->use_tracing == 0, 1))
        return 0;
    return (ts->c_tracefunc != NULL ? CPY_TRACED : 0) |
           (ts->c_profilefunc != NULL ? CPY_PROFILED : 0);
}

void *cpy_profiler(PyThreadState *ts)
{
    return ts->c_profilefunc == NULL ? NULL : (void *)ts->c_profileobj;
}

/* -- Events --------------------------------------------------------------------- */

/* Tells the current frame's event. 0, or -1 with the exception of the profiler. */
static int tell(PyThreadState *ts, int what, PyObject *arg)
{
    if (!(cpy_watched(ts) & CPY_PROFILED) || ts->tracing)
        return 0;
    PyFrameObject *f = PyThreadState_GetFrame(ts);
    if (f == NULL)
        return PyErr_Occurred() ? -1 : 0;
    int before = ts->tracing_what;
    ts->tracing_what = what;
    PyThreadState_EnterTracing(ts);
    int r = ts->c_profilefunc(ts->c_profileobj, f, what, arg);
    PyThreadState_LeaveTracing(ts);
    ts->tracing_what = before;
    Py_DECREF(f);
    return r;
}

/* The same with an exception set, which stays unless the profiler raises another. */
static int tell_raising(PyThreadState *ts, int what, PyObject *arg)
{
    PyObject *type, *value, *tb;
    PyErr_Fetch(&type, &value, &tb);
    if (tell(ts, what, arg) == 0) {
        PyErr_Restore(type, value, tb);
        return 0;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(tb);
    return -1;
}

int cpy_tell_call(PyThreadState *ts, CpyFrame *f, int unit)
{
    assert(ts->cframe->current_frame == f);
    if (!(cpy_watched(ts) & CPY_PROFILED))
        return 0;
    _Py_CODEUNIT *rests = f->prev_instr;
    f->prev_instr = _PyCode_CODE(f->f_code) + unit;
    int r = tell(ts, PyTrace_CALL, NULL);
    f->prev_instr = rests;
    return r;
}

int cpy_tell_return(PyThreadState *ts, PyObject *value)
{
    if (!(cpy_watched(ts) & CPY_PROFILED))
        return 0;
    return value == NULL ? tell_raising(ts, PyTrace_RETURN, NULL)
                         : tell(ts, PyTrace_RETURN, value);
}

/* What events of a C call show as its function; new reference, NULL: there are none of this one (or an exception is set). */
static PyObject *c_function(PyObject *callable, PyObject *self)
{
    if (PyCFunction_CheckExact(callable) || PyCMethod_CheckExact(callable))
        return Py_NewRef(callable);
    if (self == NULL || !Py_IS_TYPE(callable, &PyMethodDescr_Type))
        return NULL;
    return Py_TYPE(callable)->tp_descr_get(callable, self, (PyObject *)Py_TYPE(self));
}

bool cpy_tell_c_call(PyThreadState *ts, PyObject *callable, PyObject *self,
                     PyObject **func)
{
    *func = NULL;
    if (!(cpy_watched(ts) & CPY_PROFILED))
        return true;
    *func = c_function(callable, self);
    if (*func == NULL)
        return !PyErr_Occurred();
    if (tell(ts, PyTrace_C_CALL, *func) == 0)
        return true;
    Py_CLEAR(*func);
    return false;
}

bool cpy_tell_c_return(PyThreadState *ts, PyObject *func)
{
    if (func == NULL)
        return true;
    int r = PyErr_Occurred() ? tell_raising(ts, PyTrace_C_EXCEPTION, func)
                             : tell(ts, PyTrace_C_RETURN, func);
    Py_DECREF(func);
    return r == 0;
}

bool cpy_profile_pause(PyThreadState *ts)
{
    if (!cpy_watched(ts))
        return false;
    PyThreadState_EnterTracing(ts);
    return true;
}

void cpy_profile_resume(PyThreadState *ts, bool paused)
{
    if (paused)
        PyThreadState_LeaveTracing(ts);
}

/* -- Stops ----------------------------------------------------------------------- */

/* A stop looks like a return. While a frame runs up to one, its profiler stands behind this function. */
typedef struct Stretch {
    CpyFrame *f;
    PyCodeObject *co; /* without stops */
    struct Stretch *below;
} Stretch;

static _Thread_local Stretch *stretches;
static _Thread_local Py_tracefunc told;

static bool at_stop(CpyFrame *f)
{
    for (Stretch *s = stretches; s != NULL; s = s->below)
        if (s->f == f)
            return cpy_frame_stopped(f, s->co);
    return false;
}

static int all_but_stops(PyObject *obj, PyFrameObject *f, int what, PyObject *arg)
{
    if (what == PyTrace_RETURN && at_stop(f->f_frame))
        return 0;
    return told(obj, f, what, arg);
}

PyObject *cpy_profile_stretch(PyThreadState *ts, CpyFrame *f, PyCodeObject *co,
                              PyObject *(*run)(PyThreadState *, CpyFrame *))
{
    if (!(cpy_watched(ts) & CPY_PROFILED))
        return run(ts, f);
    Stretch s = { f, co, stretches };
    Py_tracefunc before = told;
    stretches = &s;
    if (ts->c_profilefunc != all_but_stops) {
        told = ts->c_profilefunc;
        ts->c_profilefunc = all_but_stops;
    }
    PyObject *r = run(ts, f);
    if (s.below == NULL && ts->c_profilefunc == all_but_stops)
        ts->c_profilefunc = told;
    stretches = s.below;
    if (ts->c_profilefunc != all_but_stops)
        told = before;
    return r;
}

#endif
