/*
 * bytecode/depth.c -- what instructions do to the operand stack.
 *
 * Takes: ops.def, and for its V rows the operand. Gives: names, motions, and the greatest
 * depth of a list of instructions, checking on the way that the code is sound.
 */
#include "bytecode/code.h"

enum { V = -1 };

typedef struct Row {
    const char *name;
    int8_t pop, push;
    uint8_t operand;
} Row;

static const Row rows[OP_COUNT] = {
#define OP(name, pop, push, operand, handler) { #name, pop, push, OPERAND_##operand },
#include "bytecode/ops.def"
#undef OP
};

const char *op_name(Op op)
{
    return rows[op].name;
}

Operand op_operand(Op op)
{
    return rows[op].operand;
}

bool op_ends(Op op)
{
    return op == OP_RETURN_VALUE || op == OP_JUMP || op == OP_JUMP_NO_INTERRUPT ||
           op == OP_RAISE_VARARGS || op == OP_RERAISE;
}

/* -- One instruction --------------------------------------------------------- */

/* What a V row pops. */
static int pops(const Ins *in)
{
    int n = in->arg;
    switch ((Op)in->op) {
    case OP_BUILD_MAP: return 2 * n;
    case OP_BUILD_CONST_KEY_MAP: return n + 1;
    case OP_FORMAT_VALUE: return 1 + (n >> 2 & 1);
    case OP_CALL: return n + 2; /* NULL and callable, or method and self */
    case OP_CALL_FUNCTION_EX: return 3 + (n & 1); /* NULL, callable, tuple, dict? */
    case OP_MAKE_FUNCTION: return 1 + __builtin_popcount((unsigned)n & 15);
    default: return n;
    }
}

/* What a V row pushes. */
static int pushes(const Ins *in)
{
    if (in->op == OP_LOAD_GLOBAL)
        return 1 + in->flag;
    if (in->op == OP_UNPACK_EX)
        return (in->arg & 255) + 1 + (in->arg >> 8);
    return in->arg;
}

void op_motion(const Ins *in, int *pop, int *push)
{
    const Row *r = &rows[in->op];
    *pop = r->pop == V ? pops(in) : r->pop;
    *push = r->push == V ? pushes(in) : r->push;
}

int op_effect(const Ins *in, bool jump)
{
    if (jump)
        switch ((Op)in->op) {
        case OP_FOR_ITER: return -1; /* drops the exhausted iterator */
        case OP_SEND: return -1;     /* receiver and value give way to the result */
        case OP_JUMP_IF_FALSE_OR_POP:
        case OP_JUMP_IF_TRUE_OR_POP: return 0;
        default: break;
        }
    int pop, push;
    op_motion(in, &pop, &push);
    return push - pop;
}

int op_needs(const Ins *in)
{
    switch ((Op)in->op) {
    case OP_COPY:
    case OP_SWAP: return in->arg;
    case OP_LIST_APPEND:
    case OP_LIST_EXTEND:
    case OP_SET_ADD:
    case OP_SET_UPDATE:
    case OP_DICT_UPDATE:
    case OP_DICT_MERGE: return in->arg + 1;
    case OP_MAP_ADD: return in->arg + 2;
    case OP_RERAISE: return in->arg + 1;
    case OP_FOR_ITER:
    case OP_IMPORT_FROM:
    case OP_PUSH_EXC_INFO:
    case OP_GET_LEN:
    case OP_GET_ANEXT:
    case OP_MATCH_MAPPING:
    case OP_MATCH_SEQUENCE: return 1;
    case OP_SEND:
    case OP_MATCH_KEYS:
    case OP_CHECK_EXC_MATCH: return 2;
    case OP_WITH_EXCEPT_START: return 4;
    default: return rows[in->op].pop == V ? pops(in) : rows[in->op].pop;
    }
}

/* -- A whole list ------------------------------------------------------------ */

typedef struct Walk {
    const Ins *ins;
    const ExcEntry *exc;
    int n, max;
    int *depth;       /* before each instruction, -1: not reached yet */
    int *todo, ntodo; /* reached by a jump or exception, not walked yet */
} Walk;

static bool complain(const Walk *w, int i, const char *what)
{
    PyErr_Format(PyExc_ValueError, "instruction %d (%s): %s", i,
                 i >= 0 && i < w->n ? op_name(w->ins[i].op) : "end", what);
    return false;
}

/* Notes that instruction i is reached with this depth. *fresh if for the first time. */
static bool reach(Walk *w, int i, int depth, bool *fresh)
{
    *fresh = false;
    if (i < 0 || i >= w->n)
        return complain(w, i, "outside of the code");
    if (depth > w->max)
        w->max = depth;
    if (w->depth[i] >= 0)
        return w->depth[i] == depth || complain(w, i, "stack depths disagree");
    w->depth[i] = depth;
    *fresh = true;
    return true;
}

static bool branch(Walk *w, int i, int depth)
{
    bool fresh;
    if (!reach(w, i, depth, &fresh))
        return false;
    if (fresh)
        w->todo[w->ntodo++] = i;
    return true;
}

/* Follows the other ways out of instruction i. */
static bool leave(Walk *w, int i)
{
    const Ins *in = &w->ins[i];
    int depth = w->depth[i];
    if (op_needs(in) > depth)
        return complain(w, i, "stack underflow");
    if (in->handler >= 0) {
        const ExcEntry *e = &w->exc[in->handler];
        if (e->depth > depth)
            return complain(w, i, "stack is lower than its handler expects");
        if (!branch(w, e->target, e->depth + e->lasti + 1))
            return false;
    }
    return op_operand(in->op) != OPERAND_JUMP ||
           branch(w, in->target, depth + op_effect(in, true));
}

static bool walk(Walk *w, int i)
{
    bool fresh = true;
    while (fresh) {
        if (!leave(w, i))
            return false;
        if (op_ends(w->ins[i].op))
            return true;
        if (!reach(w, i + 1, w->depth[i] + op_effect(&w->ins[i], false), &fresh))
            return false;
        i++;
    }
    return true;
}

int ins_depth(const Ins *ins, int n, const ExcEntry *exc)
{
    Walk w = { .ins = ins, .exc = exc, .n = n };
    w.depth = mem_alloc(2 * (size_t)n * sizeof(int));
    if (w.depth == NULL)
        return -1;
    w.todo = w.depth + n;
    for (int i = 0; i < n; i++)
        w.depth[i] = -1;
    bool ok = branch(&w, 0, 0);
    while (ok && w.ntodo)
        ok = walk(&w, w.todo[--w.ntodo]);
    mem_free(w.depth);
    return ok ? w.max : -1;
}
