/*
 * torch/revert.h -- taking back what a backend's graph has written when it raises (rule 13).
 *
 * Takes: the graph before it is handed over; its inputs at each call. Gives: after an exception, inputs as they were before the call, so
 * that the program can be run plainly from there. Holds: nothing is kept between calls.
 */
#ifndef JEDLIK_TORCH_REVERT_H
#define JEDLIK_TORCH_REVERT_H

#include "graph/graph.h"

typedef struct Revert {
    uint32_t n;
    bool late; /* the backend writes to inputs behind all else: only their versions have to be put back */
    struct {
        uint32_t arg; /* of the graph */
        bool whole;   /* the graph may write to its storage past the tensor itself */
    } v[];
} Revert;

typedef struct Saved {
    PyObject *copy;
    int64_t version;
} Saved;

/* What has to be saved before each call; *out NULL: nothing. -1 with an exception. */
int revert_plan(const Graph *g, bool late, Revert **out);

/* NULL with an exception: one could not be copied. */
Saved *revert_save(const Revert *u, PyObject *const *args);
/* Puts everything back and keeps the exception that is set. False: that was not possible. */
bool revert_restore(const Revert *u, PyObject *const *args, Saved *saved);
void revert_forget(const Revert *u, Saved *saved);

/* A run of `graph` has just ended in an exception with nothing changed; whether that is so, asked once. */
void fx_note_reverted(const void *graph);
bool fx_reverted(const void *graph);
/* Whether runs of this graph, a backend's, take back what they have changed if they raise. */
bool fx_reverts(PyObject *graph);

#endif
