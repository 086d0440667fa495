/*
 * bytecode/codelist.c -- taking code objects apart and editing the pieces.
 *
 * Takes: a decoded code object, or nothing for new code. Gives: a CodeList. Holds:
 * references to all objects the new code object is going to need.
 */
#include "bytecode/codelist.h"

/* -- Growth ------------------------------------------------------------------ */

/* Makes room for `need` items of `size` bytes; the new address, or NULL. */
static void *grow(void *v, int *cap, int need, size_t size)
{
    if (v && need <= *cap)
        return v;
    int n = *cap ? *cap : 32;
    while (n < need)
        n *= 2;
    v = mem_resize(v, (size_t)n * size);
    if (v)
        *cap = n;
    return v;
}

static bool reserve(CodeList *l, int need)
{
    int cap = l->cap;
    Ins *ins = grow(l->ins, &cap, need, sizeof *ins);
    if (ins == NULL)
        return false;
    l->ins = ins;
    cap = l->cap;
    Loc *loc = grow(l->loc, &cap, need, sizeof *loc);
    if (loc == NULL)
        return false;
    l->loc = loc;
    l->cap = cap;
    return true;
}

Label codelist_label(CodeList *l)
{
    int32_t *bound = grow(l->bound, &l->cap_labels, l->nlabels + 1, sizeof *bound);
    if (bound == NULL)
        return -1;
    l->bound = bound;
    bound[l->nlabels] = -1;
    return l->nlabels++;
}

int codelist_handler(CodeList *l, Label target, int depth, bool lasti)
{
    ExcEntry *exc = grow(l->exc, &l->cap_exc, l->nexc + 1, sizeof *exc);
    if (exc == NULL)
        return -1;
    l->exc = exc;
    exc[l->nexc] = (ExcEntry){ .target = target, .depth = depth, .lasti = lasti };
    return l->nexc++;
}

/* -- Making and freeing ------------------------------------------------------ */

CodeList *codelist_new(PyObject *name, PyObject *qualname, PyObject *filename,
                       int firstline)
{
    CodeList *l = mem_alloc(sizeof *l);
    if (l == NULL)
        return NULL;
    l->name = Py_NewRef(name);
    l->qualname = Py_NewRef(qualname);
    l->filename = Py_NewRef(filename);
    l->firstline = firstline;
    l->flags = CO_OPTIMIZED | CO_NEWLOCALS;
    l->cellvars = PyTuple_New(0);
    l->freevars = PyTuple_New(0);
    if (l->cellvars == NULL || l->freevars == NULL) {
        codelist_free(l);
        return NULL;
    }
    return l;
}

void codelist_free(CodeList *l)
{
    if (l == NULL)
        return;
    mem_free(l->ins);
    mem_free(l->loc);
    mem_free(l->bound);
    mem_free(l->exc);
    pool_free(&l->consts);
    pool_free(&l->names);
    pool_free(&l->varnames);
    PyObject *held[] = { l->cellvars, l->freevars, l->filename, l->name, l->qualname };
    for (size_t i = 0; i < COUNT_OF(held); i++)
        Py_XDECREF(held[i]);
    mem_free(l);
}

/* -- From a code object ------------------------------------------------------ */

static bool load_vars(CodeList *l, PyCodeObject *co)
{
    PyObject *names = PyCode_GetVarnames(co);
    bool ok = names && pool_load(&l->varnames, names);
    Py_XDECREF(names);
    Py_XSETREF(l->cellvars, PyCode_GetCellvars(co));
    Py_XSETREF(l->freevars, PyCode_GetFreevars(co));
    return ok && l->cellvars && l->freevars;
}

/* The label of instruction `index`; labels[] remembers those made before, plus one. */
static Label label_of(CodeList *l, int32_t *labels, int index)
{
    if (labels[index] == 0) {
        Label made = codelist_label(l);
        if (made < 0)
            return -1;
        l->bound[made] = index;
        labels[index] = made + 1;
    }
    return labels[index] - 1;
}

static bool link_up(CodeList *l, const Code *c, int32_t *labels)
{
    for (int i = 0; i < c->n; i++)
        if (c->ins[i].target >= 0) {
            l->ins[i].target = label_of(l, labels, c->ins[i].target);
            if (l->ins[i].target < 0)
                return false;
        }
    for (int i = 0; i < c->nexc; i++) {
        const ExcEntry *e = &c->exc[i];
        Label target = label_of(l, labels, e->target);
        if (target < 0 || codelist_handler(l, target, e->depth, e->lasti) < 0)
            return false;
    }
    return true;
}

static bool load_body(CodeList *l, const Code *c)
{
    if (!reserve(l, c->n))
        return false;
    code_locs(c, l->loc);
    memcpy(l->ins, c->ins, (size_t)c->n * sizeof *l->ins);
    l->n = c->n;
    int32_t *labels = mem_alloc((size_t)c->n * sizeof *labels);
    bool ok = labels && link_up(l, c, labels);
    mem_free(labels);
    return ok;
}

CodeList *codelist_of(PyCodeObject *co)
{
    const Code *c = code_of(co);
    if (c == NULL)
        return NULL;
    CodeList *l =
        codelist_new(co->co_name, co->co_qualname, co->co_filename, co->co_firstlineno);
    if (l == NULL)
        return NULL;
    l->argcount = co->co_argcount;
    l->posonly = co->co_posonlyargcount;
    l->kwonly = co->co_kwonlyargcount;
    l->flags = co->co_flags;
    l->stacksize = co->co_stacksize;
    if (load_vars(l, co) && pool_load(&l->consts, co->co_consts) &&
        pool_load(&l->names, co->co_names) && load_body(l, c))
        return l;
    codelist_free(l);
    return NULL;
}

/* -- Editing ----------------------------------------------------------------- */

bool codelist_push(CodeList *l, Op op, int arg, Loc loc)
{
    if (!reserve(l, l->n + 1))
        return false;
    l->ins[l->n] = (Ins){ .op = op, .arg = arg, .target = -1, .handler = -1 };
    l->loc[l->n++] = loc;
    return true;
}

void codelist_set(CodeList *l, int index, Op op, int arg)
{
    Ins *in = &l->ins[index];
    *in = (Ins){ .op = op, .arg = arg, .target = -1, .handler = in->handler };
}

bool codelist_insert(CodeList *l, int index, int count, bool reach)
{
    if (!reserve(l, l->n + count))
        return false;
    size_t behind = (size_t)(l->n - index);
    int model = index < l->n ? index : l->n - 1;
    Loc loc = model < 0 ? (Loc){ -1, -1, -1, -1 } : l->loc[model];
    int handler = model < 0 ? -1 : l->ins[model].handler;
    memmove(l->ins + index + count, l->ins + index, behind * sizeof *l->ins);
    memmove(l->loc + index + count, l->loc + index, behind * sizeof *l->loc);
    for (int i = index; i < index + count; i++) {
        l->ins[i] = (Ins){ .op = OP_NOP, .target = -1, .handler = handler };
        l->loc[i] = loc;
    }
    l->n += count;
    for (int i = 0; i < l->nlabels; i++)
        if (l->bound[i] > index || (l->bound[i] == index && !reach))
            l->bound[i] += count;
    return true;
}

void codelist_delete(CodeList *l, int from, int to)
{
    size_t behind = (size_t)(l->n - to);
    memmove(l->ins + from, l->ins + to, behind * sizeof *l->ins);
    memmove(l->loc + from, l->loc + to, behind * sizeof *l->loc);
    l->n -= to - from;
    for (int i = 0; i < l->nlabels; i++)
        if (l->bound[i] >= to)
            l->bound[i] -= to - from;
        else if (l->bound[i] > from)
            l->bound[i] = from;
}

int codelist_local(CodeList *l, PyObject *name)
{
    int slot = pool_add(&l->varnames, name);
    for (int i = 0; slot >= 0 && i < l->n; i++)
        if (op_operand(l->ins[i].op) == OPERAND_LOCAL && l->ins[i].arg >= slot)
            l->ins[i].arg++;
    return slot;
}

/* -- Flattening -------------------------------------------------------------- */

static bool settle(const CodeList *l, int32_t *target)
{
    int bound = *target >= 0 && *target < l->nlabels ? l->bound[*target] : -1;
    if (bound < 0 || bound >= l->n) {
        PyErr_Format(PyExc_ValueError, "label %d is bound to no instruction", *target);
        return false;
    }
    *target = bound;
    return true;
}

bool codelist_flat(const CodeList *l, Ins **ins, ExcEntry **exc)
{
    *ins = mem_alloc((size_t)l->n * sizeof **ins);
    *exc = mem_alloc((size_t)l->nexc * sizeof **exc);
    bool ok = *ins && *exc;
    if (ok && l->n)
        memcpy(*ins, l->ins, (size_t)l->n * sizeof **ins);
    if (ok && l->nexc)
        memcpy(*exc, l->exc, (size_t)l->nexc * sizeof **exc);
    for (int i = 0; ok && i < l->n; i++)
        if (op_operand(l->ins[i].op) == OPERAND_JUMP)
            ok = settle(l, &(*ins)[i].target);
    for (int i = 0; ok && i < l->nexc; i++)
        ok = settle(l, &(*exc)[i].target);
    if (!ok) {
        mem_free(*ins);
        mem_free(*exc);
    }
    return ok;
}
