/*
 * bytecode/codelist.h -- a code object taken apart: instructions that can be edited.
 *
 * Jumps and handlers name labels, instructions name their handler, so nothing has to be
 * kept up to date while instructions come and go. codelist_write settles offsets, prefixes,
 * stack depth, line and exception tables; of a list nobody edited it makes the same bytes
 * again.
 */
#ifndef JEDLIK_BYTECODE_LIST_H
#define JEDLIK_BYTECODE_LIST_H

#include "bytecode/pool.h"

/* Where in the source an instruction comes from; -1: not known. */
typedef struct Loc {
    int32_t line, end_line, col, end_col;
} Loc;

typedef struct CodeList {
    int n, cap;
    Ins *ins; /* target is a label, handler an index into exc or -1; at, end unused */
    Loc *loc; /* of each instruction */
    int nlabels, cap_labels;
    int32_t *bound; /* label -> index of the instruction behind it; -1: not bound yet */
    int nexc, cap_exc;
    ExcEntry *exc; /* target is a label; start and end are unused */
    Pool consts, names, varnames;
    PyObject *cellvars, *freevars, *filename, *name, *qualname; /* owned */
    int argcount, posonly, kwonly, flags, firstline;
    int stacksize; /* at least; CPython counts handlers that nothing leads to any more */
} CodeList;

/* All of these give NULL, -1 or false with an exception set. */
CodeList *codelist_new(PyObject *name, PyObject *qualname, PyObject *filename,
                       int firstline);
CodeList *codelist_of(PyCodeObject *co);
void codelist_free(CodeList *l);
PyCodeObject *codelist_write(const CodeList *l); /* new reference */
PyObject *codelist_print(const CodeList *l);     /* one instruction a line */

/* Puts `count` NOPs before instruction `index`, with line and handler of the instruction
 * there. Labels at `index` stay before them if `reach`, else move behind. */
bool codelist_insert(CodeList *l, int index, int count, bool reach);
void codelist_delete(CodeList *l, int from,
                     int to); /* labels inside move to what follows */
void codelist_set(CodeList *l, int index, Op op, int arg); /* keeps line and handler */
bool codelist_push(CodeList *l, Op op, int arg, Loc loc);

Label codelist_label(CodeList *l);
int codelist_handler(CodeList *l, Label target, int depth,
                     bool lasti); /* for Ins.handler */
/* A further local, behind the others: the slots of cells and free variables move up. */
int codelist_local(CodeList *l, PyObject *name);

/* Copies of ins and exc with targets as indices; the caller mem_frees them. */
bool codelist_flat(const CodeList *l, Ins **ins, ExcEntry **exc);

/* Positions of all instructions of c. */
void code_locs(const Code *c, Loc *out);

#endif
