/*
 * bytecode/code.h -- version-free instructions: decoded code for the tracer, an editable
 * list for the emitter.
 *
 * Takes: what cpy_decode reads out of a code object. Gives: the same instructions on every
 * CPython, with jumps and exception ranges as instruction indices.
 */
#ifndef JEDLIK_BYTECODE_CODE_H
#define JEDLIK_BYTECODE_CODE_H

#include "base/arena.h"

typedef enum {
#define OP(name, pop, push, operand, handler) OP_##name,
#include "bytecode/ops.def"
#undef OP
    OP_COUNT
} Op;

typedef struct Ins {
    uint16_t op;
    uint8_t flag;   /* LOAD_GLOBAL: push a NULL below */
    uint8_t spare;
    int32_t arg;    /* operand as ops.def says; for jumps unused */
    int32_t target; /* jumps: index of the target instruction; else -1 */
    int32_t at;     /* code unit where the instruction starts, EXTENDED_ARG and PRECALL included */
    int32_t end;    /* code unit behind it and its caches */
    int32_t handler; /* index into Code.exc of the entry covering it, or -1 */
} Ins;

typedef struct ExcEntry {
    int32_t start, end; /* instruction indices, [start, end) */
    int32_t target;     /* instruction index of the handler */
    int32_t depth;      /* stack depth to cut to */
    bool lasti;
} ExcEntry;

/* A decoded code object. Owned by whoever decoded it (mem_alloc); immutable afterwards. */
typedef struct Code {
    PyCodeObject *co; /* borrowed */
    int n, nexc;
    Ins *ins;
    ExcEntry *exc;
    int nlocalsplus, ncells, nfree; /* fast slots; of them cells (incl. argument cells), free vars */
    int stacksize;
    const char *kinds;    /* CO_FAST_* byte of each fast slot */
    int first;            /* index of the first RESUME */
    int32_t *index_of;    /* code unit -> instruction index starting there, or -1 */
} Code;

/* Decodes on first use and keeps the result with the code object (freed with it). Borrowed;
 * NULL with an exception set. */
const Code *code_of(PyCodeObject *co);
void code_free(Code *c);

/* Line of an instruction (1-based), or -1. */
int code_line(const Code *c, int index);
const char *op_name(Op op);
/* Stack effect of one instruction: fall-through, or taken jump. */
int op_effect(const Ins *in, bool jump);

/* -- Writing code ------------------------------------------------------------ */

typedef struct Asm Asm;
typedef int Label;

/* A new empty function body. Instructions are appended; asm_finish settles offsets, stack
 * depth, line and exception tables. All failures are sticky and reported by asm_finish. */
Asm *asm_new(PyObject *name, PyObject *qualname, PyObject *filename, int firstlineno);
void asm_free(Asm *a);
int asm_arg(Asm *a, const char *name);       /* declares the next argument; its slot */
int asm_local(Asm *a, const char *name);     /* a further local; its slot. Arguments come first. */
void asm_line(Asm *a, int line);             /* line of what follows */
void asm_op(Asm *a, Op op, int arg);
void asm_const(Asm *a, PyObject *value);     /* LOAD_CONST; equal by identity or exact bits is shared */
void asm_name(Asm *a, Op op, PyObject *name); /* LOAD_ATTR, STORE_ATTR, LOAD_METHOD … by name */
void asm_call(Asm *a, int nargs, PyObject *kwnames); /* KW_NAMES if not NULL, then CALL */
Label asm_label(Asm *a);
void asm_bind(Asm *a, Label l);
void asm_jump(Asm *a, Op op, Label l);
PyCodeObject *asm_finish(Asm *a);            /* new reference; frees nothing */
PyObject *asm_dump(Asm *a);                  /* one instruction a line, for golden tests */

#endif
