/*
 * report.h -- counts and events: what explain(), stats() and the fullgraph error are made of.
 */
#ifndef JEDLIK_REPORT_H
#define JEDLIK_REPORT_H

#include "run/run.h"
#include "trace/run.h"

int report_init(void);
PyObject *report_stats(void); /* new dict */
void report_reset(void);
PyObject *report_events(
    bool begin); /* begin: starts collecting (None); else the list collected */
int report_unsupported(PyObject *cls);

void report_frame(
    PyCodeObject *co); /* an entry was made in it: each code object counts once */
void report_steps(uint64_t steps); /* instructions that a trace executed */
void report_graph(Tx *tx, int ops);
void report_break(Tx *tx);
void report_entry(Entry *e, PyCodeObject *co);
void report_miss(PyCodeObject *co, PyObject *why);
/* Sets the exception that fullgraph=True promises; the reason is tx->brk. */
void report_raise(Tx *tx);

#endif
