/*
 * run/point.h -- the points of code objects, found by place.
 */
#ifndef JEDLIK_RUN_POINT_H
#define JEDLIK_RUN_POINT_H

#include "run/run.h"

/* Points of one (code, options). Hangs on the code object and dies with it. */
struct PointTable {
    PointTable *next;  /* same code, other options */
    PointTable *all;   /* of all code objects, for run_forget */
    PointTable **back; /* where `all` points here from */
    PyCodeObject *co;  /* borrowed */
    const Code *c;     /* borrowed */
    Options *options;
    int16_t *saved_exc; /* per instruction, see table_saved_exc; NULL until asked for */
    PyCodeObject *
        stops; /* copy of co that halts where compiled code can be entered; NULL: no stop */
    bool *stop; /* per instruction: a stop is set */
    int nstops, nlive;
    uint64_t wasted; /* turns of loops that were traced and came to nothing */
    Point *at[];     /* per instruction */
};

PointTable *table_of(PyCodeObject *co, Options *o); /* NULL with an exception set */

/* The point at instruction `index` with this operand stack; made if there is none. NULL with
 * an exception set, or without: a NULL lies too deep for Point.shape. */
Point *table_point(PointTable *t, int index, PyObject *const *stack, int depth);

/* Arguments of the entry's segment, the graph included. */
static inline int segment_args(const Entry *e)
{
    return e->seg == NULL ? 0 : ((PyCodeObject *)e->seg->func_code)->co_argcount;
}

/* A new entry of the point. */
void point_add(Point *p, Entry *e);

/* The point has been of use: plainly running frames halt there. */
void point_wake(Point *p);

/* The code in which a plainly running frame halts at the next place where compiled code can
 * be entered, or NULL if there is no such place. */
PyCodeObject *table_stops(PointTable *t);
void table_stop(PointTable *t, int index, bool on);

/* Operand stack slot that holds the exception state the frame was entered with, or -1: it is
 * still the thread's. `index` must be reachable. */
int table_saved_exc(PointTable *t, int index);

#endif
