/*
 * builtin/source.c -- compile(), exec() and eval() of program text that is known.
 *
 * The text is compiled for real, while tracing: that has no effect but warnings, which break. Its code is traced as a class body is, on the
 * namespaces that were given. Without namespaces it runs on a copy of the caller's variables, as long as nobody could tell a copy.
 */
#include "builtin/help.h"
#include "builtin/paths.h"
#include "var/names.h"

/* -- Compiling ---------------------------------------------------------------------- */

typedef struct Program {
    PyObject *source, *filename, *mode;
    long flags;
    int optimize;
} Program;

/* builtins.compile() under one warnings filter, without telling the warnings module that there is another. */
static PyObject *compile_under(const Program *s, const char *action)
{
    PyObject *module = PyImport_ImportModule("warnings");
    PyObject *old = module ? PyObject_GetAttrString(module, "filters") : NULL;
    PyObject *filters =
        old ? Py_BuildValue("[(sOOOi)]", action, Py_None, PyExc_Warning, Py_None, 0)
            : NULL;
    PyObject *fn = PyDict_GetItemString(PyEval_GetBuiltins(), "compile"), *code = NULL;
    if (filters && fn && PyObject_SetAttrString(module, "filters", filters) == 0) {
        PyObject *type, *value, *tb;
        code = PyObject_CallFunction(fn, "OOOlii", s->source, s->filename, s->mode,
                                     s->flags, 1, s->optimize);
        PyErr_Fetch(&type, &value, &tb);
        PyObject_SetAttrString(module, "filters", old);
        PyErr_Restore(type, value, tb);
    }
    Py_XDECREF(filters);
    Py_XDECREF(old);
    Py_XDECREF(module);
    return code;
}

static Status same_error(Tx *tx, const Program *s)
{
    PyObject *type[2], *value[2], *tb[2];
    PyErr_Fetch(&type[0], &value[0], &tb[0]);
    PyObject *code = tx_hold(tx, compile_under(s, "ignore"));
    if (code == NULL)
        PyErr_Fetch(&type[1], &value[1], &tb[1]);
    PyObject *a = code ? NULL : PyObject_Str(value[0]),
             *b = a ? PyObject_Str(value[1]) : NULL;
    bool same = a && b && type[0] == type[1] && PyUnicode_Compare(a, b) == 0;
    PyErr_Clear();
    tx_hold(tx, a);
    tx_hold(tx, b);
    if (code == NULL) {
        tx_hold(tx, type[1]);
        tx_hold(tx, value[1]);
        tx_hold(tx, tb[1]);
    }
    PyErr_Restore(type[0], value[0], tb[0]);
    if (same)
        return raise_now(tx);
    PyErr_Clear();
    return graph_break(tx, BRK_SIDE_EFFECT, "%s",
                       "a warning while program text is compiled");
}

/* Text that is compiled in silence; a warning as an error would hide behind a SyntaxError of its own, so that is looked at twice. */
static Status compile_text(Tx *tx, const Program *s, PyObject **out)
{
    *out = tx_hold(tx, compile_under(s, "error"));
    return *out ? ST_OK : same_error(tx, s);
}

/* The __future__ statements of the code that calls. */
static long inherited(Tx *tx)
{
    return tx->top->code->co->co_flags & PyCF_MASK;
}

static Status int_arg(Tx *tx, Var *v, long *out)
{
    PyObject *o;
    if (v == NULL)
        return ST_OK;
    TRY(var_const(tx, v, &o));
    if (o == NULL || !PyLong_Check(o))
        return ST_DECLINE;
    *out = PyLong_AsLong(o);
    return *out == -1 && PyErr_Occurred() ? raise_now(tx) : ST_OK;
}

static Status compile_(Tx *tx, const Args *a, Var **out)
{
    static const char *const names[] = { "source", "filename",     "mode",
                                         "flags",  "dont_inherit", "optimize" };
    PyObject *part[3], *code;
    long flags = 0, alone = 0, optimize = -1;
    for (int i = 0; i < a->n; i++)
        if (args_kw(a, names[i])) /* given twice */
            return ST_DECLINE;
    for (int i = 0; i < 3; i++) {
        Var *v = args_get(a, i, names[i]);
        if (v == NULL || !fold_possible(v))
            return ST_DECLINE;
        TRY(fold_value(tx, v, &part[i]));
        if (part[i] == NULL)
            return ST_DECLINE;
    }
    if (!PyUnicode_Check(part[0]) && !PyBytes_Check(part[0]))
        return ST_DECLINE;
    TRY(int_arg(tx, args_get(a, 3, names[3]), &flags));
    TRY(int_arg(tx, args_get(a, 4, names[4]), &alone));
    TRY(int_arg(tx, args_get(a, 5, names[5]), &optimize));
    Program s = { part[0], part[1], part[2], flags | (alone ? 0 : inherited(tx)),
                  (int)optimize };
    TRY(compile_text(tx, &s, &code));
    if (!PyCode_Check(code))
        return graph_break(tx, BRK_UNKNOWN_TYPE, "%s", Py_TYPE(code)->tp_name);
    return const_peek(tx, code, out);
}

/* -- Namespaces ---------------------------------------------------------------------------- */

/* *own: builtins that the namespace brings along, or NULL. */
static Status set_builtins(Tx *tx, DictVar *globals, Var **own)
{
    Var *there;
    DictVar *b;
    TRY(dict_get_str(tx, globals, str___builtins__, &there));
    TRY(frame_builtins(tx, &b));
    *own = tx->top->fn->builtins;
    if (there == NULL)
        return dict_set_str(tx, globals, str___builtins__, &b->v);
    TRY(var_real(tx, &there));
    bool usual = there == &b->v || (there->kind == &kind_module && there->real &&
                                    PyModule_GetDict(there->real) == b->v.real);
    if (!usual)
        *own = there;
    return usual || (there->kind == &kind_dict && there->type == &PyDict_Type)
               ? ST_OK
               : graph_break(tx, BRK_SIDE_EFFECT, "%s",
                             "program text with builtins of its own");
}

/* Bound variables of the frame, by name. */
static Status frame_variables(Tx *tx, Frame *f, Var **out)
{
    PyObject *names = f->code->co->co_localsplusnames;
    TRY(dict_new(tx, out));
    for (int i = 0; i < f->code->nlocalsplus; i++) {
        Var *v = f->slots[i];
        if (v && (f->code->kinds[i] & (SLOT_CELL | SLOT_FREE)) && v->kind == &kind_lazy)
            TRY(var_real(tx, &v));
        if (v && (f->code->kinds[i] & (SLOT_CELL | SLOT_FREE)) && v->kind == &kind_cell)
            TRY(cell_get(tx, AS(CellVar, v), &v));
        if (v != NULL)
            TRY(dict_set_str(tx, AS(DictVar, *out), PyTuple_GET_ITEM(names, i), v));
    }
    return ST_OK;
}

/* Does the code neither store names nor get hold of its namespace? Then a copy does. */
static bool only_reads(const Code *c)
{
    static const char *const looks[] = { "locals", "vars", "dir", "exec", "eval" };
    for (int i = 0; i < c->n; i++)
        if (c->ins[i].op == OP_STORE_NAME || c->ins[i].op == OP_DELETE_NAME ||
            c->ins[i].op == OP_IMPORT_STAR || c->ins[i].op == OP_SETUP_ANNOTATIONS)
            return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(c->co->co_names); i++)
        for (size_t k = 0; k < COUNT_OF(looks); k++)
            if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(c->co->co_names, i),
                                                 looks[k]) == 0)
                return false;
    return true;
}

/* The caller's variables; a frame that has run for real may have more of them than its slots. */
static Status caller_variables(Tx *tx, const Code *code, Var **out)
{
    Frame *f = tx->top;
    if (f->locals) {
        *out = f->locals;
        return ST_OK;
    }
    if (f->resumed || !only_reads(code))
        return graph_break(tx, BRK_SIDE_EFFECT, "%s",
                           "program text that writes the caller's variables");
    return frame_variables(tx, f, out);
}

static Status namespaces(Tx *tx, const Args *a, const Code *code, Var **globals,
                         Var **locals)
{
    Var *g = a->n > 1 ? a->v[1] : tx->none, *l = a->n > 2 ? a->v[2] : tx->none;
    TRY(var_real(tx, &g));
    TRY(var_real(tx, &l));
    if (g != tx->none && g->type != &PyDict_Type)
        return ST_DECLINE; /* the TypeError, or a subclass whose methods count */
    if (g == tx->none && l == tx->none)
        TRY(caller_variables(tx, code, &l));
    *globals = g == tx->none ? tx->top->fn->globals : g;
    *locals = l == tx->none ? *globals : l;
    TRY(var_real(tx, globals));
    Var *content = var_content(*locals);
    return (*globals)->kind == &kind_dict && content && content->kind == &kind_dict
               ? ST_OK
               : ST_DECLINE;
}

/* -- Running ----------------------------------------------------------------------------------- */

static PyObject *stripped(Tx *tx, PyObject *text)
{
    Py_ssize_t i = 0, n = PyUnicode_GET_LENGTH(text);
    while (i < n &&
           (PyUnicode_READ_CHAR(text, i) == ' ' || PyUnicode_READ_CHAR(text, i) == '\t'))
        i++;
    return i ? tx_hold(tx, PyUnicode_Substring(text, i, n)) : text;
}

/* The code behind the first argument; declines what is no constant text or code. */
static Status code_of_text(Tx *tx, Var *v, const char *mode, const Code **out)
{
    PyObject *o, *code;
    TRY(var_real(tx, &v));
    if (!fold_possible(v) && !(v->kind == &kind_const && PyCode_Check(v->real)))
        return ST_DECLINE;
    TRY(var_const(tx, v, &o));
    if (o == NULL || (!PyUnicode_CheckExact(o) && !PyCode_Check(o)))
        return ST_DECLINE;
    code = o;
    if (PyUnicode_CheckExact(o)) {
        Program s = { strcmp(mode, "eval") == 0 ? stripped(tx, o) : o,
                      tx_hold(tx, PyUnicode_FromString("<string>")),
                      tx_hold(tx, PyUnicode_FromString(mode)), inherited(tx), -1 };
        if (s.source == NULL || s.filename == NULL || s.mode == NULL)
            return ST_ERROR;
        TRY(compile_text(tx, &s, &code));
    }
    PyCodeObject *co = (PyCodeObject *)code;
    if (co->co_nfreevars || co->co_argcount ||
        (co->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)))
        return ST_DECLINE;
    *out = code_of(co);
    return *out ? ST_OK : ST_ERROR;
}

static Status run_text(Tx *tx, const Args *a, const char *mode, Var **out)
{
    const Code *code;
    Var *globals, *locals, *own;
    FuncVar *fn;
    TRY(code_of_text(tx, a->v[0], mode, &code));
    TRY(namespaces(tx, a, code, &globals, &locals));
    TRY(set_builtins(tx, AS(DictVar, globals), &own));
    TRY(VAR_MAKE(tx, func, FuncVar, &PyFunction_Type, &fn));
    fn->builtins = own;
    fn->co = code->co;
    fn->code = code;
    fn->globals = globals;
    return frame_body(tx, fn, locals, out);
}

static Status effect(Tx *tx, Status st, const char *what)
{
    return st == ST_DECLINE ? graph_break(tx, BRK_SIDE_EFFECT, "%s", what) : st;
}

static Status exec_(Tx *tx, const Args *a, Var **out)
{
    TRY(effect(tx, a->nkw ? ST_DECLINE : run_text(tx, a, "exec", out), "exec()"));
    *out = tx_none(tx);
    return ST_OK;
}

static Status eval_(Tx *tx, const Args *a, Var **out)
{
    return effect(tx, run_text(tx, a, "eval", out), "eval()");
}

const Handler handlers_source[] = {
    { "builtins.compile", 3, 6, compile_,
      "source filename mode flags dont_inherit optimize" },
    { "builtins.exec", 1, 3, exec_, ANY_KW },
    { "builtins.eval", 1, 3, eval_, NULL },
    { 0 },
};
