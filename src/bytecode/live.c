/*
 * bytecode/live.c -- which fast locals may still be read.
 *
 * Takes: a decoded code object. Gives: code_live. Holds: a bit per instruction and slot
 * in Code.lazy, worked out backwards over falls, jumps and exceptions at the first
 * question.
 */
#include "bytecode/code.h"

/* Code that names one of these may look at its own locals by name. */
static const char *const lookers[] = { "locals",       "vars",       "eval",
                                       "exec",         "dir",        "_getframe",
                                       "currentframe", "breakpoint", "set_trace" };

static bool names(const Code *c, const char *name)
{
    PyObject *all = c->co->co_names;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(all); i++)
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(all, i), name) == 0)
            return true;
    return false;
}

static bool looks(const Code *c)
{
    bool any = false;
    for (size_t k = 0; k < COUNT_OF(lookers) && !any; k++)
        any = names(c, lookers[k]);
    return any;
}

/* Slots that are live everywhere: cells, and the first one where super() may read it. */
static void mark_always(const Code *c, uint64_t *row)
{
    bool super = names(c, "super");
    for (int i = 0; i < c->nlocalsplus; i++)
        if (c->kinds[i] & (SLOT_CELL | SLOT_FREE) || (super && i == 0))
            row[i >> 6] |= (uint64_t)1 << (i & 63);
}

static void join(uint64_t *row, const uint64_t *from, int words)
{
    for (int w = 0; w < words; w++)
        row[w] |= from[w];
}

/* Works out the row before instruction i into `row`. */
static void flow(const Code *c, int i, const uint64_t *always, uint64_t *row)
{
    const Ins *in = &c->ins[i];
    int words = c->lazy->words;
    const uint64_t *live = c->lazy->live;
    memcpy(row, always, (size_t)words * sizeof *row);
    if (!op_ends(in->op) && i + 1 < c->n)
        join(row, live + (size_t)(i + 1) * (size_t)words, words);
    if (in->target >= 0)
        join(row, live + (size_t)in->target * (size_t)words, words);
    uint64_t bit = (uint64_t)1 << (in->arg & 63);
    if (in->op == OP_STORE_FAST)
        row[in->arg >> 6] &= ~bit | always[in->arg >> 6];
    /* Deleting asks whether the local is bound, which is reading. */
    if (in->op == OP_LOAD_FAST || in->op == OP_DELETE_FAST)
        row[in->arg >> 6] |= bit;
    if (in->handler >= 0)
        join(row, live + (size_t)c->exc[in->handler].target * (size_t)words, words);
}

/* Sweeps backwards until nothing changes: one sweep more than loops are nested. */
static void sweep(const Code *c, const uint64_t *always, uint64_t *row)
{
    size_t size = (size_t)c->lazy->words * sizeof *row;
    bool changed = true;
    while (changed) {
        changed = false;
        for (int i = c->n - 1; i >= 0; i--) {
            uint64_t *old = c->lazy->live + (size_t)i * (size_t)c->lazy->words;
            flow(c, i, always, row);
            if (memcmp(old, row, size) != 0) {
                memcpy(old, row, size);
                changed = true;
            }
        }
    }
}

static bool work_out(const Code *c)
{
    struct CodeLazy *z = c->lazy;
    z->words = (c->nlocalsplus + 63) / 64;
    z->all = looks(c);
    z->live = mem_alloc((size_t)(c->n + 2) * (size_t)z->words * sizeof *z->live);
    if (z->live == NULL) {
        PyErr_Clear();
        return false;
    }
    uint64_t *always = z->live + (size_t)c->n * (size_t)z->words;
    mark_always(c, always);
    sweep(c, always, always + z->words);
    return true;
}

bool code_live(const Code *c, int index, int local)
{
    if (c->lazy->live == NULL && !work_out(c))
        return true;
    if (c->lazy->all || index < 0 || index >= c->n)
        return true;
    const uint64_t *row = c->lazy->live + (size_t)index * (size_t)c->lazy->words;
    return row[local >> 6] >> (local & 63) & 1;
}
