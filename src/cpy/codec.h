/*
 * cpy/codec.h -- the two side tables of a code object, whose format 3.11 to 3.15 share.
 */
#ifndef JEDLIK_CPY_CODEC_H
#define JEDLIK_CPY_CODEC_H

#include "bytecode/codelist.h"

/* A growing byte string. Memory failure is sticky and reported by bytes_take. */
typedef struct Bytes {
    uint8_t *s;
    size_t n, cap;
    bool failed;
} Bytes;

void bytes_put(Bytes *b, int byte);
PyObject *bytes_take(Bytes *b); /* a bytes object; frees the buffer */

/* -- Exception table: offsets are code units --------------------------------- */

typedef struct ExcRange {
    int start, length, target, depth;
    bool lasti;
} ExcRange;

typedef struct ExcReader {
    const uint8_t *at, *end;
} ExcReader;

ExcReader exc_open(PyObject *table);
int exc_next(ExcReader *r, ExcRange *out); /* 1; 0: end; -1: broken table */
void exc_put(Bytes *b, const ExcRange *e);

/* -- Line table: entries cover a number of code units ------------------------- */

typedef struct LineReader {
    const uint8_t *at, *end;
    int line;
} LineReader;

LineReader lines_open(PyCodeObject *co);
int lines_next(LineReader *r, Loc *out); /* units of the entry; 0 at the end */

typedef struct LineWriter {
    Bytes out;
    int line;
} LineWriter;

void lines_put(LineWriter *w, const Loc *loc, int units);

#endif
