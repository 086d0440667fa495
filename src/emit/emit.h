/*
 * emit/emit.h -- from the final state of a trace to a cache entry.
 *
 * Takes: the trace at its end: a returned value, or the open frames at a break. Gives: an Entry: graph handed to the
 * backend, segment code, frozen guards, exit record. Decides content; bytecode/ and cpy/ know form.
 */
#ifndef JEDLIK_EMIT_EMIT_H
#define JEDLIK_EMIT_EMIT_H

#include "run/run.h"
#include "trace/tx.h"

/* value: what the point's frame returned, or NULL: the trace ends in a break at tx->top, whose state (and that of the frames
 * above it up to tx->root) is at the start of the broken instruction. ST_BREAK (BRK_REBUILD): a value cannot be made
 * again. */
/* If this is a list, every entry that is made appends a dict: dump letter ('c' code, 'g' graph, 'u' guards, 'e' effects) -> text. */
extern PyObject *emit_log;
/* What the log says for these letters, the entries one after the other; new str. */
PyObject *emit_dump(const char *letters);

Status emit_entry(Tx *tx, Point *p, Var *value, Entry **out);

#endif
