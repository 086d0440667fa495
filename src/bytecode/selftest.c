/*
 * bytecode/selftest.c -- this folder's stages for tests: data in, data out.
 *
 * Takes: code objects, or lists of tuples. Gives: tuples, text, code objects. The methods
 * become jedlik._engine.selftest.
 */
#include "bytecode/selftest.h"
#include "bytecode/codelist.h"
#include <time.h>

static PyCodeObject *code_arg(PyObject *o)
{
    if (PyCode_Check(o))
        return (PyCodeObject *)o;
    PyErr_SetString(PyExc_TypeError, "a code object is needed");
    return NULL;
}

static const Code *decoded(PyObject *o)
{
    PyCodeObject *co = code_arg(o);
    return co ? code_of(co) : NULL;
}

/* -- Reading ----------------------------------------------------------------- */

static PyObject *instruction(const Code *c, int i)
{
    const Ins *in = &c->ins[i];
    return Py_BuildValue("(siiiiiii)", op_name(in->op), in->arg, in->flag, in->target,
                         in->at, in->end, in->handler, code_line(c, i));
}

static PyObject *decode(PyObject *self, PyObject *arg)
{
    const Code *c = decoded(arg);
    PyObject *list = c ? PyList_New(c->n) : NULL;
    for (int i = 0; list && i < c->n; i++) {
        PyObject *t = instruction(c, i);
        if (t == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, t);
    }
    return list;
}

static PyObject *ranges(PyObject *self, PyObject *arg)
{
    const Code *c = decoded(arg);
    PyObject *list = c ? PyList_New(c->nexc) : NULL;
    for (int i = 0; list && i < c->nexc; i++) {
        const ExcEntry *e = &c->exc[i];
        PyObject *t = Py_BuildValue("(iiiiN)", e->start, e->end, e->target, e->depth,
                                    PyBool_FromLong(e->lasti));
        if (t == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, t);
    }
    return list;
}

static PyObject *depth(PyObject *self, PyObject *arg)
{
    const Code *c = decoded(arg);
    int deepest = c ? ins_depth(c->ins, c->n, c->exc) : -1;
    return deepest < 0 ? NULL : PyLong_FromLong(deepest);
}

static PyObject *live(PyObject *self, PyObject *args)
{
    PyObject *o;
    int index;
    if (!PyArg_ParseTuple(args, "Oi", &o, &index))
        return NULL;
    const Code *c = decoded(o);
    PyObject *list = c ? PyList_New(0) : NULL;
    for (int i = 0; list && i < c->nlocalsplus; i++) {
        if (!code_live(c, index, i))
            continue;
        PyObject *slot = PyLong_FromLong(i);
        if (slot == NULL || PyList_Append(list, slot) < 0)
            Py_CLEAR(list);
        Py_XDECREF(slot);
    }
    return list;
}

/* Nanoseconds that `times` decodings of a code object take. */
static PyObject *decode_time(PyObject *self, PyObject *args)
{
    PyObject *o;
    int times;
    if (!PyArg_ParseTuple(args, "Oi", &o, &times) || code_arg(o) == NULL)
        return NULL;
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < times; i++) {
        Code *c = code_decode((PyCodeObject *)o);
        if (c == NULL)
            return NULL;
        code_free(c);
    }
    clock_gettime(CLOCK_MONOTONIC, &b);
    return PyFloat_FromDouble((double)(b.tv_sec - a.tv_sec) * 1e9 +
                              (double)(b.tv_nsec - a.tv_nsec));
}

static PyObject *blocks(PyObject *self, PyObject *arg)
{
    return PyLong_FromSsize_t(mem_blocks);
}

/* -- Taking apart and joining ------------------------------------------------ */

static PyObject *recode(PyObject *self, PyObject *arg)
{
    PyCodeObject *co = code_arg(arg);
    CodeList *l = co ? codelist_of(co) : NULL;
    PyObject *made = l ? (PyObject *)codelist_write(l) : NULL;
    codelist_free(l);
    return made;
}

static PyObject *text(PyObject *self, PyObject *arg)
{
    PyCodeObject *co = code_arg(arg);
    CodeList *l = co ? codelist_of(co) : NULL;
    PyObject *made = l ? codelist_print(l) : NULL;
    codelist_free(l);
    return made;
}

/* The interpreter looks at what stands before these or runs them as one. */
static bool tied(const CodeList *l, int i)
{
    return l->ins[i].op == OP_RESUME || (i && l->ins[i - 1].op == OP_KW_NAMES) ||
           (i && l->ins[i - 1].op == OP_RETURN_GENERATOR);
}

/* NOPs before every instruction: jumps, handlers and lines have to follow. */
static PyObject *pad(PyObject *self, PyObject *args)
{
    PyObject *o;
    int count;
    PyObject *local = NULL;
    if (!PyArg_ParseTuple(args, "Oi|O", &o, &count, &local) || code_arg(o) == NULL)
        return NULL;
    CodeList *l = codelist_of((PyCodeObject *)o);
    if (l == NULL)
        return NULL;
    bool ok = local == NULL || codelist_local(l, local) >= 0;
    for (int i = l->n - 1; ok && i >= 0; i--)
        if (!tied(l, i))
            ok = codelist_insert(l, i, count, true);
    PyObject *made = ok ? (PyObject *)codelist_write(l) : NULL;
    codelist_free(l);
    return made;
}

/* Takes out all NOPs but those that are a handler's or the code's last instruction. */
static PyObject *unpad(PyObject *self, PyObject *arg)
{
    PyCodeObject *co = code_arg(arg);
    CodeList *l = co ? codelist_of(co) : NULL;
    for (int i = l ? l->n - 2 : -1; i >= 0; i--)
        if (l->ins[i].op == OP_NOP)
            codelist_delete(l, i, i + 1);
    PyObject *made = l ? (PyObject *)codelist_write(l) : NULL;
    codelist_free(l);
    return made;
}

/* Overwrites slot before instruction i. */
static bool overwrite(CodeList *l, int i, int slot)
{
    int none = pool_index(&l->consts, Py_None);
    if (none < 0 || !codelist_insert(l, i, 2, true))
        return false;
    codelist_set(l, i, OP_LOAD_CONST, none);
    codelist_set(l, i + 1, OP_STORE_FAST, slot);
    return true;
}

/* Overwrites all dead locals before every instruction, which nobody may notice. */
static PyObject *smash(PyObject *self, PyObject *arg)
{
    const Code *c = decoded(arg);
    CodeList *l = c ? codelist_of(c->co) : NULL;
    bool ok = l != NULL;
    for (int i = ok ? c->n - 1 : -1; ok && i >= 0; i--)
        for (int slot = 0; ok && !tied(l, i) && slot < c->co->co_nlocals; slot++)
            if (!code_live(c, i, slot))
                ok = overwrite(l, i, slot);
    PyObject *made = ok ? (PyObject *)codelist_write(l) : NULL;
    codelist_free(l);
    return made;
}

/* -- Assembling -------------------------------------------------------------- */

/* Labels of an instruction list by the name it gives them. */
static Label label_named(Asm *a, PyObject *labels, PyObject *name)
{
    PyObject *known = PyDict_GetItemWithError(labels, name);
    if (known)
        return (Label)PyLong_AsLong(known);
    Label made = PyErr_Occurred() ? -1 : asm_label(a);
    PyObject *number = PyLong_FromLong(made);
    if (number)
        PyDict_SetItem(labels, name, number);
    Py_XDECREF(number);
    return made;
}

static int op_named(const char *name)
{
    for (int op = 0; op < OP_COUNT; op++)
        if (strcmp(op_name(op), name) == 0)
            return op;
    PyErr_Format(PyExc_ValueError, "no instruction %s", name);
    return -1;
}

static void add_op(Asm *a, PyObject *labels, int op, PyObject *arg)
{
    Operand kind = op_operand(op);
    if (kind == OPERAND_JUMP)
        asm_jump(a, op, label_named(a, labels, arg));
    else if (op == OP_LOAD_CONST)
        asm_const(a, arg);
    else if (kind == OPERAND_NAME)
        asm_name(a, op, arg);
    else
        asm_op(a, op, arg == Py_None ? 0 : (int)PyLong_AsLong(arg));
}

/* asm_try of ("try", start, end, handler, depth, lasti). */
static bool add_try(Asm *a, PyObject *labels, PyObject *row)
{
    const char *verb;
    PyObject *start, *end, *handler;
    int depth, lasti;
    if (!PyArg_ParseTuple(row, "sOOOip", &verb, &start, &end, &handler, &depth, &lasti))
        return false;
    asm_try(a, label_named(a, labels, start), label_named(a, labels, end),
            label_named(a, labels, handler), depth, lasti);
    return true;
}

static bool declare(Asm *a, bool arg, PyObject *name)
{
    const char *s = PyUnicode_AsUTF8(name);
    if (s)
        arg ? asm_arg(a, s) : asm_local(a, s);
    return s != NULL;
}

static bool add_row(Asm *a, PyObject *labels, PyObject *row)
{
    const char *verb;
    PyObject *x = Py_None, *y = NULL;
    if (!PyTuple_Check(row) || PyTuple_GET_SIZE(row) == 6)
        return add_try(a, labels, row);
    if (!PyArg_ParseTuple(row, "s|OO", &verb, &x, &y))
        return false;
    if (strcmp(verb, "arg") == 0 || strcmp(verb, "local") == 0)
        return declare(a, verb[0] == 'a', x);
    if (strcmp(verb, "label") == 0)
        asm_bind(a, label_named(a, labels, x));
    else if (strcmp(verb, "line") == 0)
        asm_line(a, (int)PyLong_AsLong(x));
    else if (strcmp(verb, "CALL") == 0)
        asm_call(a, (int)PyLong_AsLong(x), y);
    else {
        int op = op_named(verb);
        if (op < 0)
            return false;
        add_op(a, labels, op, x);
    }
    return !PyErr_Occurred();
}

static Asm *build(PyObject *rows)
{
    PyObject *labels = PyDict_New();
    PyObject *name = PyUnicode_FromString("made");
    Asm *a = labels && name ? asm_new(name, name, name, 1) : NULL;
    bool ok = a && PyList_Check(rows);
    for (Py_ssize_t i = 0; ok && i < PyList_GET_SIZE(rows); i++)
        ok = add_row(a, labels, PyList_GET_ITEM(rows, i));
    Py_XDECREF(labels);
    Py_XDECREF(name);
    if (ok)
        return a;
    asm_free(a);
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "a list of tuples is needed");
    return NULL;
}

static PyObject *assemble(PyObject *self, PyObject *rows)
{
    Asm *a = build(rows);
    PyObject *made = a ? (PyObject *)asm_finish(a) : NULL;
    asm_free(a);
    return made;
}

static PyObject *dump(PyObject *self, PyObject *rows)
{
    Asm *a = build(rows);
    PyObject *made = a ? asm_dump(a) : NULL;
    asm_free(a);
    return made;
}

static PyObject *effect(PyObject *self, PyObject *args)
{
    const char *name;
    int arg = 0, flag = 0, jump = 0;
    if (!PyArg_ParseTuple(args, "s|iip", &name, &arg, &flag, &jump))
        return NULL;
    int op = op_named(name);
    Ins in = { .op = (uint16_t)op, .arg = arg, .flag = (uint8_t)flag };
    return op < 0 ? NULL : PyLong_FromLong(op_effect(&in, jump));
}

PyMethodDef bytecode_selftest_methods[] = {
    { "decode", decode, METH_O,
      "decode(co) -> [(op, arg, flag, target, at, end, handler, line)]" },
    { "ranges", ranges, METH_O, "ranges(co) -> [(start, end, target, depth, lasti)]" },
    { "depth", depth, METH_O, "depth(co) -> greatest stack depth" },
    { "live", live, METH_VARARGS, "live(co, index) -> live slots before an instruction" },
    { "decode_time", decode_time, METH_VARARGS, "decode_time(co, times) -> ns" },
    { "blocks", blocks, METH_NOARGS, "blocks() -> memory blocks held" },
    { "recode", recode, METH_O, "recode(co) -> code object, taken apart and joined" },
    { "text", text, METH_O, "text(co) -> canonical instructions" },
    { "pad", pad, METH_VARARGS, "pad(co, n, local=None) -> n NOPs before instructions" },
    { "unpad", unpad, METH_O, "unpad(co) -> without NOPs" },
    { "smash", smash, METH_O, "smash(co) -> overwrites locals wherever they are dead" },
    { "assemble", assemble, METH_O, "assemble([(op, arg)]) -> code object" },
    { "dump", dump, METH_O, "dump([(op, arg)]) -> text" },
    { "effect", effect, METH_VARARGS, "effect(op, arg=0, flag=0, jump=False) -> int" },
    { NULL },
};
