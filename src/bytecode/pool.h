/*
 * bytecode/pool.h -- the constants or names of a code object, in order, without doubles.
 *
 * Doubles are the very same object: two equal numbers may be two to the program.
 */
#ifndef JEDLIK_BYTECODE_POOL_H
#define JEDLIK_BYTECODE_POOL_H

#include "bytecode/code.h"

typedef struct Pool {
    PyObject **v; /* owned */
    int n, cap;
    int32_t *slot; /* hash table of indices, -1: free; made by the first pool_index */
    int nslots, hashed;
} Pool;

int pool_add(Pool *p, PyObject *o); /* appends; the index, or -1 with an exception set */
int pool_index(Pool *p, PyObject *o);     /* where it is, else appends */
bool pool_load(Pool *p, PyObject *tuple); /* appends all, doubles as they are */
PyObject *pool_tuple(const Pool *p);
void pool_free(Pool *p);

#endif
