/*
 * torch/failure.h -- what a graph had computed when one of its operations raised (rule 13).
 *
 * Takes: a run of a captured graph that ended in an exception. Gives: the values of its nodes, so that the state of the program
 * at the operation that raised can be made from them. Holds: nothing is run twice.
 */
#ifndef JEDLIK_TORCH_FAILURE_H
#define JEDLIK_TORCH_FAILURE_H

#include "graph/graph.h"

typedef struct GraphFailure {
    uint32_t node;      /* that raised */
    uint32_t n;         /* nodes of the trace before it */
    PyObject **values;  /* by node; NULL: not computed, or an operation that has none */
    Ways ways;          /* of the trace */
    PyObject **targets; /* by node: what was called; NULL: nothing */
} GraphFailure;

/* Of the run of `graph` that has just ended in this thread; NULL: it keeps none. To be freed. */
GraphFailure *fx_failure(PyObject *graph);
void fx_failure_free(GraphFailure *f);

/* What a node says that stands for a branch of the program: the program's own exception comes of the instruction (trace/assertion.c). */
#define CHECK_FAILS "a check of a tensor fails"

/* Whether runs of this graph keep what failures need. */
bool fx_keeps(PyObject *graph);

/* A callable that gives these outputs as the failed run had them. NULL without exception: one was not computed. */
PyObject *fx_values(const GraphFailure *f, const uint32_t *outputs, int noutputs);

/* Whether the graph of another trace is the failed one up to the operation that raised. */
bool fx_same_start(const GraphFailure *f, const Graph *g);

#endif
