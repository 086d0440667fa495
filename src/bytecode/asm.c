/*
 * bytecode/asm.c -- writing new function bodies.
 *
 * Takes: instructions one by one. Gives: a code object of positional arguments. Holds:
 * the list being built; after the first failure its exception, while the error indicator
 * stays clear and all further calls do nothing.
 */
#include "bytecode/codelist.h"

typedef struct Try {
    Label start, end;
    int handler;
} Try;

struct Asm {
    CodeList *list;
    int line;
    int narg; /* arguments declared; locals beyond */
    int ntries, cap_tries;
    Try *tries;
    PyObject *type, *value, *trace; /* the first failure */
};

/* -- Failure ----------------------------------------------------------------- */

/* Keeps the exception that is set. */
static void fail(Asm *a)
{
    PyErr_Fetch(&a->type, &a->value, &a->trace);
}

static void misuse(Asm *a, const char *what)
{
    PyErr_SetString(PyExc_ValueError, what);
    fail(a);
}

/* Passes a result on, -1 meaning failure. */
static int note(Asm *a, int result)
{
    if (result < 0)
        fail(a);
    return result;
}

/* -- Making ------------------------------------------------------------------ */

Asm *asm_new(PyObject *name, PyObject *qualname, PyObject *filename, int firstlineno)
{
    Asm *a = mem_alloc(sizeof *a);
    if (a == NULL)
        return NULL;
    a->list = codelist_new(name, qualname, filename, firstlineno);
    if (a->list == NULL) {
        mem_free(a);
        return NULL;
    }
    a->line = firstlineno;
    asm_op(a, OP_RESUME, 0);
    return a;
}

void asm_free(Asm *a)
{
    if (a == NULL)
        return;
    codelist_free(a->list);
    mem_free(a->tries);
    Py_XDECREF(a->type);
    Py_XDECREF(a->value);
    Py_XDECREF(a->trace);
    mem_free(a);
}

static int declare(Asm *a, const char *name)
{
    if (a->type)
        return -1;
    PyObject *s = PyUnicode_InternFromString(name);
    int slot = note(a, s ? pool_add(&a->list->varnames, s) : -1);
    Py_XDECREF(s);
    return slot;
}

int asm_arg(Asm *a, const char *name)
{
    if (a->type == NULL && a->list->argcount < a->list->varnames.n)
        misuse(a, "arguments come before locals");
    int slot = declare(a, name);
    if (slot >= 0)
        a->list->argcount++;
    return slot;
}

int asm_local(Asm *a, const char *name)
{
    return declare(a, name);
}

/* -- Appending --------------------------------------------------------------- */

void asm_line(Asm *a, int line)
{
    a->line = line;
}

void asm_op(Asm *a, Op op, int arg)
{
    Loc loc = { a->line, a->line, -1, -1 };
    if (a->type == NULL && !codelist_push(a->list, op, arg, loc))
        fail(a);
}

void asm_const(Asm *a, PyObject *value)
{
    if (a->type == NULL)
        asm_op(a, OP_LOAD_CONST, note(a, pool_index(&a->list->consts, value)));
}

void asm_name(Asm *a, Op op, PyObject *name)
{
    if (a->type == NULL)
        asm_op(a, op, note(a, pool_index(&a->list->names, name)));
}

void asm_call(Asm *a, int nargs, PyObject *kwnames)
{
    if (kwnames && a->type == NULL)
        asm_op(a, OP_KW_NAMES, note(a, pool_index(&a->list->consts, kwnames)));
    asm_op(a, OP_CALL, nargs);
}

Label asm_label(Asm *a)
{
    return a->type ? -1 : note(a, codelist_label(a->list));
}

void asm_bind(Asm *a, Label label)
{
    if (a->type)
        return;
    if (label < 0 || label >= a->list->nlabels || a->list->bound[label] >= 0)
        misuse(a, "label is unknown or bound twice");
    else
        a->list->bound[label] = a->list->n;
}

void asm_jump(Asm *a, Op op, Label label)
{
    asm_op(a, op, 0);
    if (a->type == NULL)
        a->list->ins[a->list->n - 1].target = label;
}

/* -- Exceptions -------------------------------------------------------------- */

static bool keep_try(Asm *a, Try try)
{
    if (a->ntries == a->cap_tries) {
        int cap = a->cap_tries ? 2 * a->cap_tries : 8;
        Try *tries = mem_resize(a->tries, (size_t)cap * sizeof *tries);
        if (tries == NULL)
            return false;
        a->tries = tries;
        a->cap_tries = cap;
    }
    a->tries[a->ntries++] = try;
    return true;
}

void asm_try(Asm *a, Label start, Label end, Label handler, int depth, bool lasti)
{
    if (a->type)
        return;
    int made = codelist_handler(a->list, handler, depth, lasti);
    if (made < 0 || !keep_try(a, (Try){ start, end, made }))
        fail(a);
}

/* Gives the instructions their handlers, now that the labels are bound. */
static bool cover(Asm *a)
{
    CodeList *l = a->list;
    for (int k = 0; k < a->ntries; k++) {
        const Try *t = &a->tries[k];
        int labels[] = { t->start, t->end };
        for (int j = 0; j < 2; j++)
            if (labels[j] < 0 || labels[j] >= l->nlabels || l->bound[labels[j]] < 0) {
                misuse(a, "a range's label is not bound");
                return false;
            }
        for (int i = l->bound[t->start]; i < l->bound[t->end]; i++)
            if (l->ins[i].handler < 0)
                l->ins[i].handler = t->handler;
    }
    a->ntries = 0;
    return true;
}

/* -- The end ----------------------------------------------------------------- */

PyCodeObject *asm_finish(Asm *a)
{
    if (a->type == NULL && cover(a))
        return codelist_write(a->list);
    PyErr_Restore(Py_XNewRef(a->type), Py_XNewRef(a->value), Py_XNewRef(a->trace));
    return NULL;
}

PyObject *asm_dump(Asm *a)
{
    return codelist_print(a->list);
}
