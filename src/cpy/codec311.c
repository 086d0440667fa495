/*
 * cpy/codec311.c -- instructions of CPython 3.11 to canonical ones and back.
 *
 * Takes: code objects (their co_code, never the specialised bytes); edited lists. Gives:
 * Code; new code objects. Folds EXTENDED_ARG, caches and PRECALL, joins the two
 * directions of jumps.
 */
#include "cpy/codec.h"
#include "cpy/cpy.h"

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000

#define Py_BUILD_CORE
#include <internal/pycore_code.h>
#include <opcode.h>

_Static_assert(SLOT_LOCAL == CO_FAST_LOCAL && SLOT_CELL == CO_FAST_CELL &&
                   SLOT_FREE == CO_FAST_FREE,
               "kinds of slots are CPython's");

typedef enum { UNKNOWN, PLAIN, FORWARD, BACKWARD, NULLBIT, PREFIX, FIRST } Form;

typedef struct Row {
    uint8_t op, form, caches;
} Row;

static const Row rows[256] = {
#define CP(opcode, op, form, caches) [opcode] = { OP_##op, form, caches },
#include "cpy/ops311.def"
#undef CP
};

#define TAKE(...) __VA_ARGS__
#define LEAVE(...)

/* Opcode of each canonical instruction; of jumps, the forward one. 0: none. */
static const uint8_t opcodes[OP_COUNT] = {
#define PICK_PLAIN TAKE
#define PICK_NULLBIT TAKE
#define PICK_FORWARD TAKE
#define PICK_BACKWARD LEAVE
#define PICK_FIRST LEAVE
#define PICK_PREFIX LEAVE
#define CP(opcode, op, form, caches) PICK_##form([OP_##op] = opcode, )
#include "cpy/ops311.def"
#undef CP
};

/* The backward opcode of jumps, the first half of instructions that are made of two. */
static const uint8_t others[OP_COUNT] = {
#undef PICK_PLAIN
#undef PICK_NULLBIT
#undef PICK_FORWARD
#undef PICK_BACKWARD
#undef PICK_FIRST
#define PICK_PLAIN LEAVE
#define PICK_NULLBIT LEAVE
#define PICK_FORWARD LEAVE
#define PICK_BACKWARD TAKE
#define PICK_FIRST TAKE
#define CP(opcode, op, form, caches) PICK_##form([OP_##op] = opcode, )
#include "cpy/ops311.def"
#undef CP
};

_Static_assert(OP_COUNT <= 256, "rows hold the canonical op in a byte");

/* -- Decoding ---------------------------------------------------------------- */

static int broken(const Code *c, const char *what)
{
    PyErr_Format(PyExc_ValueError, "code of %U: %s", c->co->co_qualname, what);
    return -1;
}

/* Number of canonical instructions. */
static int count(const Code *c, const uint8_t *s)
{
    int n = 0;
    for (int u = 0; u < c->nunits;) {
        const Row *r = &rows[s[2 * u]];
        if (r->form == UNKNOWN)
            return broken(c, "unknown opcode");
        n += r->form < PREFIX;
        u += 1 + r->caches;
        if (u > c->nunits)
            return broken(c, "ends inside of an instruction");
    }
    return n;
}

static int count_ranges(const Code *c)
{
    ExcReader r = exc_open(c->co->co_exceptiontable);
    ExcRange range;
    int n = 0, got;
    while ((got = exc_next(&r, &range)) > 0)
        n++;
    return got < 0 ? broken(c, "bad exception table") : n;
}

/* One block for all arrays of the code. */
static int make_room(Code *c)
{
    size_t ins = (size_t)c->n * sizeof *c->ins, exc = (size_t)c->nexc * sizeof *c->exc;
    size_t index = ((size_t)c->nunits + 1) * sizeof *c->index_of;
    c->lazy = mem_alloc(sizeof *c->lazy + ins + exc + index);
    if (c->lazy == NULL)
        return -1;
    c->ins = (Ins *)(c->lazy + 1);
    c->exc = (ExcEntry *)(c->ins + c->n);
    c->index_of = (int32_t *)(c->exc + c->nexc);
    memset(c->index_of, 0xff, index);
    return 0;
}

/* What was read of an instruction so far. */
typedef struct Partial {
    int at, wide; /* first unit; prefixes of the current half */
    uint32_t arg;
    int first_wide; /* first half seen: its prefixes and operand; -1: none */
    uint32_t first_arg;
} Partial;

/* The instruction ends before unit `end`. Jumps get their target unit. */
static int finish(Code *c, int i, const Row *r, const Partial *p, int end)
{
    bool halves = others[r->op] && r->form == PLAIN;
    if (halves ? p->first_wide != p->wide || p->first_arg != p->arg : p->first_wide >= 0)
        return broken(c, "halves of an instruction do not match");
    Ins *in = &c->ins[i];
    *in = (Ins){ .op = r->op,
                 .wide = (uint8_t)p->wide,
                 .arg = (int32_t)p->arg,
                 .target = -1,
                 .at = p->at,
                 .end = end,
                 .handler = -1 };
    if (r->form == NULLBIT) {
        in->flag = p->arg & 1;
        in->arg = (int32_t)(p->arg >> 1);
    } else if (r->form != PLAIN) {
        in->target = r->form == FORWARD ? end + in->arg : end - in->arg;
        in->arg = 0;
    } else if (r->op == OP_RESUME && c->first < 0) {
        c->first = i;
    }
    c->index_of[p->at] = i;
    return 0;
}

static int fill(Code *c, const uint8_t *s)
{
    Partial p = { .first_wide = -1 };
    int i = 0;
    for (int u = 0; u < c->nunits;) {
        const Row *r = &rows[s[2 * u]];
        p.arg = p.arg << 8 | s[2 * u + 1];
        u += 1 + r->caches;
        if (r->form == PREFIX) {
            p.wide++;
            continue;
        }
        if (r->form == FIRST) {
            p.first_arg = p.arg;
            p.first_wide = p.wide;
        } else {
            if (finish(c, i++, r, &p, u) < 0)
                return -1;
            p.at = u;
            p.first_wide = -1;
        }
        p.arg = 0;
        p.wide = 0;
    }
    c->index_of[c->nunits] = c->n;
    return p.at == c->nunits ? 0 : broken(c, "ends inside of an instruction");
}

/* Index of the instruction at a unit, -1 if none starts there. */
static int index_at(const Code *c, int unit)
{
    return unit >= 0 && unit <= c->nunits ? c->index_of[unit] : -1;
}

static int link_jumps(Code *c)
{
    for (int i = 0; i < c->n; i++)
        if (op_operand(c->ins[i].op) == OPERAND_JUMP) {
            int target = index_at(c, c->ins[i].target);
            if (target < 0 || target >= c->n)
                return broken(c, "jump into an instruction");
            c->ins[i].target = target;
        }
    return 0;
}

static int link_handlers(Code *c)
{
    ExcReader r = exc_open(c->co->co_exceptiontable);
    ExcRange range;
    for (int k = 0; exc_next(&r, &range) > 0; k++) {
        int start = index_at(c, range.start), target = index_at(c, range.target);
        int end = index_at(c, range.start + range.length);
        if (start < 0 || end < 0 || target < 0 || target >= c->n)
            return broken(c, "exception range inside of an instruction");
        c->exc[k] = (ExcEntry){ start, end, target, range.depth, range.lasti };
        for (int i = start; i < end; i++)
            c->ins[i].handler = k;
    }
    return 0;
}

static int decode(Code *c, const uint8_t *s)
{
    c->n = count(c, s);
    c->nexc = count_ranges(c);
    if (c->n < 0 || c->nexc < 0 || make_room(c) < 0)
        return -1;
    if (fill(c, s) == 0 && link_jumps(c) == 0 && link_handlers(c) == 0)
        return 0;
    mem_free(c->lazy);
    return -1;
}

int cpy_decode(PyCodeObject *co, Code *c)
{
    PyObject *bytes = PyCode_GetCode(co);
    if (bytes == NULL)
        return -1;
    *c = (Code){
        .co = co,
        .nlocalsplus = co->co_nlocalsplus,
        .ncells = co->co_ncellvars,
        .nfree = co->co_nfreevars,
        .stacksize = co->co_stacksize,
        .kinds = PyBytes_AS_STRING(co->co_localspluskinds),
        .first = -1,
        .nunits = (int)(PyBytes_GET_SIZE(bytes) / 2),
    };
    int result = decode(c, (const uint8_t *)PyBytes_AS_STRING(bytes));
    Py_DECREF(bytes);
    return result;
}

/* Specialised PRECALLs make the call themselves and then report their own unit instead;
 * both have the same line and handler. */
int cpy_lasti(const Code *c, int index)
{
    const Ins *in = &c->ins[index];
    int opcode = opcodes[in->op] ? opcodes[in->op] : others[in->op];
    return in->end - 1 - rows[opcode].caches;
}

/* -- Offsets ----------------------------------------------------------------- */

static bool refuse(int i, Op op, const char *what)
{
    PyErr_Format(PyExc_ValueError, "instruction %d (%s): %s", i, op_name(op), what);
    return false;
}

static bool backward(const Ins *ins, int i)
{
    return ins[i].target <= i;
}

/* Opcode of the last half. */
static int opcode_of(const Ins *ins, int i)
{
    bool jump = op_operand(ins[i].op) == OPERAND_JUMP;
    return jump && backward(ins, i) ? others[ins[i].op] : opcodes[ins[i].op];
}

/* Opcode of the first half, or 0. */
static int first_of(const Ins *in)
{
    return op_operand(in->op) == OPERAND_JUMP ? 0 : others[in->op];
}

static int first_units(const Ins *in)
{
    int opcode = first_of(in);
    return opcode ? in->wide + 1 + rows[opcode].caches : 0;
}

/* Units of the last half. The two directions of a jump have the same caches. */
static int last_units(const Ins *in)
{
    int opcode = opcodes[in->op] ? opcodes[in->op] : others[in->op];
    return in->wide + 1 + rows[opcode].caches;
}

static uint32_t operand(const Ins *ins, int i)
{
    const Ins *in = &ins[i];
    if (op_operand(in->op) == OPERAND_JUMP) {
        int distance = ins[in->target].at - in->end;
        return (uint32_t)(distance < 0 ? -distance : distance);
    }
    bool shift = rows[opcodes[in->op]].form == NULLBIT;
    return shift ? (uint32_t)in->arg << 1 | in->flag : (uint32_t)in->arg;
}

static int prefixes(uint32_t arg)
{
    return (arg > 0xff) + (arg > 0xffff) + (arg > 0xffffff);
}

static void place(Ins *ins, int n)
{
    int at = 0;
    for (int i = 0; i < n; i++) {
        ins[i].at = at;
        at += first_units(&ins[i]) + last_units(&ins[i]);
        ins[i].end = at;
    }
}

/* Prefixes only ever grow, so this comes to an end. */
static void settle(Ins *ins, int n)
{
    bool grown = true;
    while (grown) {
        place(ins, n);
        grown = false;
        for (int i = 0; i < n; i++) {
            int wide = prefixes(operand(ins, i));
            if (wide > ins[i].wide) {
                ins[i].wide = (uint8_t)wide;
                grown = true;
            }
        }
    }
}

/* -- Writing ----------------------------------------------------------------- */

static int limit(const CodeList *l, Op op)
{
    switch (op_operand(op)) {
    case OPERAND_CONST: return l->consts.n;
    case OPERAND_NAME: return l->names.n;
    case OPERAND_LOCAL:
        return l->varnames.n + (int)PyTuple_GET_SIZE(l->cellvars) +
               (int)PyTuple_GET_SIZE(l->freevars);
    default: return INT32_MAX;
    }
}

static bool sound(const CodeList *l, const Ins *ins)
{
    for (int i = 0; i < l->n; i++) {
        if (ins[i].arg < 0 || ins[i].arg >= limit(l, ins[i].op))
            return refuse(i, ins[i].op, "operand out of range");
        if (opcode_of(ins, i) == 0)
            return refuse(i, ins[i].op, "no jump in this direction");
    }
    return true;
}

static void put_half(Bytes *b, int opcode, uint32_t arg, int wide)
{
    for (; wide > 0; wide--) {
        bytes_put(b, EXTENDED_ARG);
        bytes_put(b, arg >> (8 * wide) & 0xff);
    }
    bytes_put(b, opcode);
    bytes_put(b, arg & 0xff);
    for (int i = 0; i < 2 * rows[opcode].caches; i++)
        bytes_put(b, 0);
}

static PyObject *write_units(const Ins *ins, int n)
{
    Bytes b = { 0 };
    for (int i = 0; i < n; i++) {
        uint32_t arg = operand(ins, i);
        int first = first_of(&ins[i]);
        if (first)
            put_half(&b, first, arg, ins[i].wide);
        put_half(&b, opcode_of(ins, i), arg, ins[i].wide);
    }
    return bytes_take(&b);
}

static PyObject *write_ranges(const Ins *ins, int n, const ExcEntry *exc)
{
    Bytes b = { 0 };
    for (int i = 0, end; i < n; i = end) {
        int handler = ins[i].handler;
        for (end = i + 1; end < n && ins[end].handler == handler;)
            end++;
        if (handler < 0)
            continue;
        const ExcEntry *e = &exc[handler];
        int start = ins[i].at;
        exc_put(&b, &(ExcRange){ start, ins[end - 1].end - start, ins[e->target].at,
                                 e->depth, e->lasti });
    }
    return bytes_take(&b);
}

/* 3.11 writes an entry for each half, however alike neighbours are. */
static PyObject *write_lines(const CodeList *l, const Ins *ins)
{
    LineWriter w = { .line = l->firstline };
    for (int i = 0; i < l->n; i++) {
        int first = first_units(&ins[i]);
        if (first)
            lines_put(&w, &l->loc[i], first);
        lines_put(&w, &l->loc[i], last_units(&ins[i]));
    }
    return bytes_take(&w.out);
}

/* The objects a code object is made from; any may be NULL, with an exception set. */
typedef struct Parts {
    PyObject *code, *ranges, *lines, *consts, *names, *varnames;
} Parts;

static PyCodeObject *join(const CodeList *l, const Parts *p, int depth)
{
    if (!p->code || !p->ranges || !p->lines || !p->consts || !p->names || !p->varnames)
        return NULL;
    return PyCode_NewWithPosOnlyArgs(
        l->argcount, l->posonly, l->kwonly, l->varnames.n, depth, l->flags, p->code,
        p->consts, p->names, p->varnames, l->freevars, l->cellvars, l->filename, l->name,
        l->qualname, l->firstline, p->lines, p->ranges);
}

static PyCodeObject *produce(const CodeList *l, Ins *ins, const ExcEntry *exc)
{
    int depth = sound(l, ins) ? ins_depth(ins, l->n, exc) : -1;
    if (depth < 0)
        return NULL;
    if (depth < l->stacksize)
        depth = l->stacksize;
    settle(ins, l->n);
    Parts p = { write_units(ins, l->n), write_ranges(ins, l->n, exc),
                write_lines(l, ins),    pool_tuple(&l->consts),
                pool_tuple(&l->names),  pool_tuple(&l->varnames) };
    PyCodeObject *co = join(l, &p, depth);
    PyObject *all[] = { p.code, p.ranges, p.lines, p.consts, p.names, p.varnames };
    for (size_t i = 0; i < COUNT_OF(all); i++)
        Py_XDECREF(all[i]);
    return co;
}

PyCodeObject *codelist_write(const CodeList *l)
{
    Ins *ins;
    ExcEntry *exc;
    if (!codelist_flat(l, &ins, &exc))
        return NULL;
    PyCodeObject *co = produce(l, ins, exc);
    mem_free(ins);
    mem_free(exc);
    return co;
}

#endif
