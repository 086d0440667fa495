/*
 * bytecode/code.h -- version-free instructions: decoded code for the tracer, an editable
 * list for the emitter.
 *
 * Takes: what cpy_decode reads out of a code object. Gives: the same instructions on
 * every CPython, with jumps and exception ranges as instruction indices.
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

/* What Ins.arg means, from ops.def. */
typedef enum {
    OPERAND_NONE,
    OPERAND_COUNT,
    OPERAND_CONST,
    OPERAND_NAME,
    OPERAND_LOCAL,
    OPERAND_JUMP,
    OPERAND_FLAGS,
    OPERAND_BINARY,
    OPERAND_COMPARE,
} Operand;

typedef struct Ins {
    uint16_t op;
    uint8_t flag;    /* LOAD_GLOBAL: push a NULL below */
    uint8_t wide;    /* EXTENDED_ARG prefixes it had: what the encoder uses at least */
    int32_t arg;     /* operand as ops.def says; for jumps unused */
    int32_t target;  /* jumps: index of the target instruction; else -1 */
    int32_t at;      /* code unit where it starts, EXTENDED_ARG and PRECALL included */
    int32_t end;     /* code unit behind it and its caches */
    int32_t handler; /* index into Code.exc of the entry covering it, or -1 */
} Ins;

typedef struct ExcEntry {
    int32_t start, end; /* instruction indices, [start, end) */
    int32_t target;     /* instruction index of the handler */
    int32_t depth;      /* stack depth to cut to */
    bool lasti;
} ExcEntry;

/* What a fast slot is. Arguments that are cells have both of the first two. */
enum { SLOT_LOCAL = 0x20, SLOT_CELL = 0x40, SLOT_FREE = 0x80 };

/* A decoded code object. Owned by whoever decoded it; does not change afterwards. */
typedef struct Code {
    PyCodeObject *co; /* borrowed */
    int n, nexc;
    Ins *ins;
    ExcEntry *exc;
    int nlocalsplus;   /* fast slots */
    int ncells, nfree; /* of them cells (argument cells too) and free variables */
    int stacksize;
    const char *kinds;     /* SLOT_* bits of each fast slot */
    int first;             /* index of the first RESUME; -1 if there is none */
    int nunits;            /* code units, caches included */
    int32_t *index_of;     /* code unit -> instruction index starting there, or -1 */
    struct CodeLazy *lazy; /* lines and liveness, worked out when first asked for */
} Code;

struct CodeLazy {
    int32_t *line;    /* of each instruction, -1: none */
    uint64_t *live;   /* per instruction a row of words, a bit for each fast slot */
    int words;        /* in a row */
    uint32_t counted; /* report.c: the round of counting in which an entry was made */
    bool all;         /* the frame's locals are looked at by name: everything is live */
};

/* Decodes on first use; the result stays with the code object and dies with it. Borrowed;
 * NULL with an exception set. */
const Code *code_of(PyCodeObject *co);
/* A fresh one, to be freed by the caller. */
Code *code_decode(PyCodeObject *co);
void code_free(Code *c);

/* Index of the instruction that a code unit belongs to, caches and halves included. */
static inline int code_index(const Code *c, int unit)
{
    while (unit > 0 && c->index_of[unit] < 0)
        unit--;
    return c->index_of[unit];
}

/* Line of an instruction (1-based), or -1. */
int code_line(const Code *c, int index);
/* For people: the line before it if the compiler gave the instruction none. */
int code_near_line(const Code *c, int index);

/* False if no path from before instruction `index` reads what slot `local` then holds.
 * Always live are: cells and free variables, `self` where super() is named, everything in
 * code that names locals(), eval() or the like, and everything when memory is out. */
bool code_live(const Code *c, int index, int local);

const char *op_name(Op op);
Operand op_operand(Op op);
bool op_ends(Op op); /* does not go on to the next instruction */
/* What one instruction takes off the stack and puts on it when it falls through. */
void op_motion(const Ins *in, int *pop, int *push);
/* Stack effect of one instruction: fall-through, or taken jump. */
int op_effect(const Ins *in, bool jump);
/* Entries that must be on the stack: those it pops, and those below that it looks at. */
int op_needs(const Ins *in);

/* Greatest depth reached from instruction 0 over falls, jumps and exceptions; -1 with
 * ValueError if depths disagree where paths meet, the stack runs empty, or the end of the
 * code is run over. */
int ins_depth(const Ins *ins, int n, const ExcEntry *exc);

/* -- Writing code ------------------------------------------------------------ */

typedef struct Asm Asm;
typedef int Label;

/* A new empty function body. Instructions are appended; asm_finish settles offsets, stack
 * depth, line and exception tables. Failures are sticky; asm_finish reports them. */
Asm *asm_new(PyObject *name, PyObject *qualname, PyObject *filename, int firstlineno);
void asm_free(Asm *a);
int asm_arg(Asm *a, const char *name);   /* declares the next argument; its slot */
int asm_local(Asm *a, const char *name); /* a further local, behind all arguments */
void asm_line(Asm *a, int line);         /* line of what follows; -1: none */
/* By operand value; no jumps. Operands that are constants or names are indices. */
void asm_op(Asm *a, Op op, int arg);
void asm_const(Asm *a,
               PyObject *value); /* LOAD_CONST; same or exactly equal ones are shared */
void asm_name(Asm *a, Op op, PyObject *name); /* LOAD_ATTR, LOAD_METHOD ... by name */
void asm_call(Asm *a, int nargs, PyObject *kwnames); /* KW_NAMES if not NULL, then CALL */
Label asm_label(Asm *a);
void asm_bind(Asm *a, Label l);
void asm_jump(Asm *a, Op op, Label l);
/* Exceptions in [start, end) go to the handler with the stack cut to `depth`. Give inner
 * ranges first: an instruction belongs to the first range that covers it. */
void asm_try(Asm *a, Label start, Label end, Label handler, int depth, bool lasti);
PyCodeObject *asm_finish(Asm *a); /* new reference; frees nothing */
PyObject *asm_dump(Asm *a);       /* one instruction a line, for golden tests */

#endif
