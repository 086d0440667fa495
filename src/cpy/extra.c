/*
 * cpy/extra.c -- our slot in co_extra, and code_of.
 *
 * Takes: a code object. Gives: the CodeExtra that lives and dies with it. Holds: nothing
 * else; a code object may die after everything else of ours, so freeing touches no state.
 */
#include "cpy/cpy.h"

static Py_ssize_t slot = -1; /* of this interpreter */

/* CPython calls this for every dying code object that has extras, also with NULL. */
static void release(void *p)
{
    CodeExtra *x = p;
    if (x == NULL)
        return;
    if (x->points)
        x->points_free(x->points);
    code_free(x->code);
    mem_free(x);
}

CodeExtra *cpy_extra_peek(PyCodeObject *co)
{
    void *x = NULL;
    if (slot >= 0)
        _PyCode_GetExtra((PyObject *)co, slot, &x);
    return x;
}

static bool claim(void)
{
    if (slot < 0)
        slot = _PyEval_RequestCodeExtraIndex(release);
    if (slot < 0)
        PyErr_SetString(PyExc_RuntimeError, "no co_extra slot is left");
    return slot >= 0;
}

CodeExtra *cpy_extra_of(PyCodeObject *co)
{
    CodeExtra *x = cpy_extra_peek(co);
    if (x || !claim())
        return x;
    x = mem_alloc(sizeof *x);
    if (x && _PyCode_SetExtra((PyObject *)co, slot, x) < 0) {
        mem_free(x);
        return NULL;
    }
    return x;
}

/* -- Decoded code ------------------------------------------------------------ */

void code_free(Code *c)
{
    if (c == NULL)
        return;
    mem_free(c->lazy->line);
    mem_free(c->lazy->live);
    mem_free(c->lazy); /* the arrays of c are in the same block */
    mem_free(c);
}

Code *code_decode(PyCodeObject *co)
{
    Code *c = mem_alloc(sizeof *c);
    if (c && cpy_decode(co, c) < 0) {
        mem_free(c);
        return NULL;
    }
    return c;
}

const Code *code_of(PyCodeObject *co)
{
    CodeExtra *x = cpy_extra_of(co);
    if (x && x->code == NULL)
        x->code = code_decode(co);
    return x ? x->code : NULL;
}
