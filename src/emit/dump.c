/*
 * emit/dump.c -- what was emitted, as text: the letters c, g, u, e of JEDLIK_DUMP and of golden tests.
 */
#include "emit/plan.h"

PyObject *emit_log;

enum { MAX_NEST = 4 };

/* -- Values -------------------------------------------------------------------------- */

static void print_row(Emit *e, Text *t, Var **v, Py_ssize_t n, int depth)
{
    for (Py_ssize_t i = 0; i < n; i++) {
        text_put(t, i ? ", " : "");
        emit_print_value(e, t, v[i], depth + 1);
    }
}

static void print_map(Emit *e, Text *t, const KeyMap *m, int depth)
{
    KeyEntry *k;
    bool first = true;
    for (size_t at = 0; (k = keymap_next(m, &at)); first = false) {
        text_put(t, first ? "" : ", ");
        if (k->id)
            emit_print_value(e, t, k->id, depth + 1);
        else
            text_repr(t, k->key);
        text_put(t, ": ");
        emit_print_value(e, t, k->value, depth + 1);
    }
}

static void print_new(Emit *e, Text *t, Item *it, int depth)
{
    Var *v = it->v;
    ListVar *l = AS(ListVar, v);
    TupleVar *tu = AS(TupleVar, v);
    switch (v->kind->id) {
    case KIND_tensor: text_put(t, "out[%d]", it->arg); return;
    case KIND_list:
        text_put(t, "[");
        print_row(e, t, l->items.v, (Py_ssize_t)l->items.n, depth);
        text_put(t, "]");
        return;
    case KIND_tuple:
        text_put(t, "(");
        print_row(e, t, tu->items, tu->n, depth);
        text_put(t, tu->n == 1 ? ",)" : ")");
        return;
    case KIND_dict:
        text_put(t, "{");
        print_map(e, t, &AS(DictVar, v)->writes, depth);
        text_put(t, "}");
        return;
    default: text_put(t, "new %s", v->type ? v->type->tp_name : v->kind->name);
    }
}

void emit_print_value(Emit *e, Text *t, Var *v, int depth)
{
    Item *it;
    if (depth > MAX_NEST || emit_item(e, v, &it) != ST_OK) {
        PyErr_Clear();
        text_put(t, "...");
        return;
    }
    if (it->how == HOW_CONST)
        text_repr(t, it->obj);
    else if (it->how == HOW_BUILD)
        print_new(e, t, it, depth);
    else {
        Export *x = &e->exports.v[it->arg];
        if (x->expr)
            expr_print(t, x->expr, e->tx->slot_names);
        else
            source_print(t, x->src, e->tx->slot_names);
    }
}

/* -- Effects ---------------------------------------------------------------------------- */

static const char *const rows[] = {
#define EFFECT(name, text) text,
#include "emit/effects.def"
#undef EFFECT
};

static void print_part(Emit *e, Text *t, const Effect *fx, char what)
{
    switch (what) {
    case 't': emit_print_value(e, t, fx->target, 0); return;
    case 'n': text_put(t, "%s", PyUnicode_AsUTF8(fx->name)); return;
    case 'h': text_put(t, "%s", helper_name(fx->helper)); return;
    case '*': print_row(e, t, fx->v, fx->n, 0); return;
    default: emit_print_value(e, t, fx->v[what - '0'], 0);
    }
}

void emit_print_effects(Emit *e, Text *t)
{
    for (size_t i = 0; i < e->effects.n; i++) {
        const Effect *fx = &e->effects.v[i];
        for (const char *s = rows[fx->kind]; *s; s++)
            if (*s == '%')
                print_part(e, t, fx, *++s);
            else
                text_put(t, "%c", *s);
        text_put(t, "\n");
    }
    if (e->tx->grad != e->tx->grad0)
        text_put(t, "grad mode %s\n", e->tx->grad ? "on" : "off");
}

/* -- The log -------------------------------------------------------------------------------- */

static int set_text(Emit *e, PyObject *dict, const char *letter, PyObject *steals)
{
    PyObject *text = tx_hold(e->tx, steals);
    return text ? PyDict_SetItemString(dict, letter, text) : -1;
}

static int fill_log(Emit *e, PyObject *dict)
{
    Text graph = { 0 }, effects = { 0 };
    if (e->nops)
        graph_print(&graph, &e->tx->graph, e->outputs.v, (int)e->outputs.n,
                    e->tx->slot_names);
    emit_print_effects(e, &effects);
    int bad = set_text(e, dict, "g", text_take(&graph)) +
              set_text(e, dict, "e", text_take(&effects)) +
              set_text(e, dict, "c", asm_dump(e->code));
    return bad ? -1 : PyList_Append(emit_log, dict);
}

/* After the second pass, while the code is still a list of instructions. The guards' text is added when they are frozen. */
Status emit_note(Emit *e)
{
    if (emit_log == NULL)
        return ST_OK;
    PyObject *dict = tx_hold(e->tx, PyDict_New());
    TRY_PTR(dict);
    return fill_log(e, dict) < 0 ? ST_ERROR : ST_OK;
}

Status emit_note_guards(Emit *e, const Guards *g)
{
    Py_ssize_t n = emit_log ? PyList_GET_SIZE(emit_log) : 0;
    if (n == 0)
        return ST_OK;
    return set_text(e, PyList_GET_ITEM(emit_log, n - 1), "u", guards_text(g)) < 0
               ? ST_ERROR
               : ST_OK;
}

/* -- Reading it ------------------------------------------------------------------------------ */

static void put_entry(Text *t, PyObject *dict, const char *letters)
{
    for (const char *c = letters; *c; c++) {
        char key[2] = { *c };
        PyObject *text = PyDict_GetItemString(dict, key);
        const char *s = text ? PyUnicode_AsUTF8(text) : NULL;
        size_t n = s ? strlen(s) : 0;
        if (n)
            text_put(t, "%s%s", s, s[n - 1] == '\n' ? "" : "\n");
    }
}

PyObject *emit_dump(const char *letters)
{
    Text t = { 0 };
    Py_ssize_t n = emit_log ? PyList_GET_SIZE(emit_log) : 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (i)
            text_put(&t, "--\n");
        put_entry(&t, PyList_GET_ITEM(emit_log, i), letters);
    }
    PyErr_Clear();
    return text_take(&t);
}
