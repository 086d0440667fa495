/*
 * bytecode/print.c -- instructions as text, one a line, the same on every run.
 *
 * Takes: a CodeList. Gives: operands by name, labels numbered in the order of their
 * place, no addresses.
 */
#include "bytecode/codelist.h"
#include "base/text.h"

static const char *const binary[] = { "+", "&",  "//", "<<", "@", "*", "%",
                                      "|", "**", ">>", "-",  "/", "^" };
static const char *const compare[] = { "<", "<=", "==", "!=", ">", ">=" };

/* -- Labels ------------------------------------------------------------------ */

/* Per instruction: number of the label before it plus one, or 0. */
static int *number_labels(const CodeList *l)
{
    int *number = mem_alloc(((size_t)l->n + 1) * sizeof *number);
    if (number == NULL)
        return NULL;
    for (int i = 0; i < l->n; i++)
        if (l->ins[i].target >= 0 && l->bound[l->ins[i].target] >= 0)
            number[l->bound[l->ins[i].target]] = 1;
    for (int i = 0; i < l->nexc; i++)
        if (l->bound[l->exc[i].target] >= 0)
            number[l->bound[l->exc[i].target]] = 1;
    for (int i = 0, next = 0; i <= l->n; i++)
        if (number[i])
            number[i] = ++next;
    return number;
}

static void put_label(Text *t, const CodeList *l, const int *number, Label label)
{
    int at = label >= 0 && label < l->nlabels ? l->bound[label] : -1;
    if (at < 0)
        text_put(t, " ?");
    else
        text_put(t, " L%d", number[at] - 1);
}

/* -- Operands ---------------------------------------------------------------- */

static void put_item(Text *t, const Pool *p, int index)
{
    text_put(t, " ");
    if (index >= 0 && index < p->n)
        text_repr(t, p->v[index]);
    else
        text_put(t, "#%d", index);
}

static void put_plain(Text *t, PyObject *name)
{
    const char *s = PyUnicode_AsUTF8(name);
    if (s == NULL)
        PyErr_Clear();
    text_put(t, " %s", s ? s : "?");
}

/* Slots: locals, then cells that are no locals, then free variables. */
static void put_slot(Text *t, const CodeList *l, int slot)
{
    if (slot < l->varnames.n) {
        put_plain(t, l->varnames.v[slot]);
        return;
    }
    slot -= l->varnames.n;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(l->cellvars); i++) {
        PyObject *name = PyTuple_GET_ITEM(l->cellvars, i);
        bool local = false;
        for (int k = 0; k < l->varnames.n && !local; k++)
            local = PyUnicode_Compare(l->varnames.v[k], name) == 0;
        if (!local && slot-- == 0) {
            put_plain(t, name);
            return;
        }
    }
    if (slot < PyTuple_GET_SIZE(l->freevars))
        put_plain(t, PyTuple_GET_ITEM(l->freevars, slot));
    else
        text_put(t, " #%d", slot);
}

static void put_binary(Text *t, int n)
{
    int plain = (int)COUNT_OF(binary);
    if (n >= 0 && n < 2 * plain)
        text_put(t, " %s%s", binary[n % plain], n >= plain ? "=" : "");
    else
        text_put(t, " #%d", n);
}

static void put_operand(Text *t, const CodeList *l, const Ins *in, const int *number)
{
    switch (op_operand(in->op)) {
    case OPERAND_NONE: break;
    case OPERAND_CONST: put_item(t, &l->consts, in->arg); break;
    case OPERAND_NAME:
        if (in->arg >= 0 && in->arg < l->names.n)
            put_plain(t, l->names.v[in->arg]);
        else
            text_put(t, " #%d", in->arg);
        break;
    case OPERAND_LOCAL: put_slot(t, l, in->arg); break;
    case OPERAND_JUMP: put_label(t, l, number, in->target); break;
    case OPERAND_BINARY: put_binary(t, in->arg); break;
    case OPERAND_COMPARE:
        text_put(t, " %s", in->arg >= 0 && in->arg < 6 ? compare[in->arg] : "?");
        break;
    case OPERAND_COUNT:
    case OPERAND_FLAGS: text_put(t, " %d", in->arg);
    }
}

PyObject *codelist_print(const CodeList *l)
{
    int *number = number_labels(l);
    if (number == NULL)
        return NULL;
    Text t = { 0 };
    for (int i = 0; i < l->n; i++) {
        const Ins *in = &l->ins[i];
        if (number[i])
            text_put(&t, "L%d:\n", number[i] - 1);
        text_put(&t, "    %s", op_name(in->op));
        put_operand(&t, l, in, number);
        if (in->flag)
            text_put(&t, " +NULL");
        if (in->handler >= 0) {
            const ExcEntry *e = &l->exc[in->handler];
            text_put(&t, "  # handler");
            put_label(&t, l, number, e->target);
            text_put(&t, " depth %d%s", e->depth, e->lasti ? " lasti" : "");
        }
        text_put(&t, "\n");
    }
    mem_free(number);
    return text_take(&t);
}
