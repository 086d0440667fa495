/*
 * trace/op_flow.c -- jumps, iteration, calls, functions, imports, generators.
 */
#include "trace/run.h"
#include "var/call.h"
#include "var/names.h"

/* -- Jumps ------------------------------------------------------------------------------ */

static Status jump_to(Tx *tx, Frame *f, const Ins *in)
{
    bool back = (size_t)in->target <= f->cur;
    f->pc = (size_t)in->target;
    return back ? tx_worked(tx, 1) : ST_OK;
}

Status op_jump(Tx *tx, Frame *f, const Ins *in)
{
    return jump_to(tx, f, in);
}

static Status jump_if(Tx *tx, Frame *f, const Ins *in, bool want)
{
    bool yes, known = false;
    Var *v = pop(tx, f);
    if (v->kind == &kind_tensor || (v->kind == &kind_lazy && torch_is_tensor(v->real)))
        TRY(assert_branch(tx, f, in, v, want, &known, &yes));
    if (!known)
        TRY(var_truth(tx, v, &yes));
    return yes == want ? jump_to(tx, f, in) : ST_OK;
}

Status op_pop_jump_if_false(Tx *tx, Frame *f, const Ins *in)
{
    return jump_if(tx, f, in, false);
}
Status op_pop_jump_if_true(Tx *tx, Frame *f, const Ins *in)
{
    return jump_if(tx, f, in, true);
}

static Status jump_if_none(Tx *tx, Frame *f, const Ins *in, bool want)
{
    Var *v = pop(tx, f);
    TRY(var_real(tx, &v));
    bool none = v->kind == &kind_const && v->real == Py_None;
    return none == want ? jump_to(tx, f, in) : ST_OK;
}

Status op_pop_jump_if_none(Tx *tx, Frame *f, const Ins *in)
{
    return jump_if_none(tx, f, in, true);
}
Status op_pop_jump_if_not_none(Tx *tx, Frame *f, const Ins *in)
{
    return jump_if_none(tx, f, in, false);
}

static Status jump_or_pop(Tx *tx, Frame *f, const Ins *in, bool want)
{
    bool yes;
    TRY(var_truth(tx, peek(f, 1), &yes));
    if (yes == want)
        return jump_to(tx, f, in);
    pop(tx, f);
    return ST_OK;
}

Status op_jump_if_false_or_pop(Tx *tx, Frame *f, const Ins *in)
{
    return jump_or_pop(tx, f, in, false);
}
Status op_jump_if_true_or_pop(Tx *tx, Frame *f, const Ins *in)
{
    return jump_or_pop(tx, f, in, true);
}

Status op_get_iter(Tx *tx, Frame *f, const Ins *in)
{
    Var *v;
    TRY(var_iter(tx, pop(tx, f), &v));
    return push(tx, f, v);
}

Status op_for_iter(Tx *tx, Frame *f, const Ins *in)
{
    Var *v;
    TRY(var_step(tx, peek(f, 1), &v));
    if (v != NULL)
        return push(tx, f, v);
    pop(tx, f);
    return jump_to(tx, f, in);
}

/* -- Calls --------------------------------------------------------------------------------- */

Status op_kw_names(Tx *tx, Frame *f, const Ins *in)
{
    f->kwnames = PyTuple_GET_ITEM(f->code->co->co_consts, in->arg);
    return ST_OK;
}

static bool held_by_frame(const Frame *f, const Var *v)
{
    for (size_t i = 0; i < f->sp; i++)
        if (f->slots[i] == v)
            return true;
    return false;
}

static Status finish_call(Tx *tx, Frame *f, Var *fn, Args *a)
{
    Frame *entered;
    Var *v;
    TRY(call_enter(tx, fn, a, &entered, &v));
    if (entered)
        return ST_OK;
    for (Py_ssize_t i = 0; i < a->n; i++)
        if (a->v[i]->kind == &kind_gen && a->v[i] != v && !held_by_frame(f, a->v[i]))
            TRY(gen_left(tx, a->v[i]));
    return push(tx, f, v);
}

Status op_call(Tx *tx, Frame *f, const Ins *in)
{
    PyObject *kwnames = f->kwnames;
    f->kwnames = NULL;
    int total = in->arg, nkw = kwnames ? (int)PyTuple_GET_SIZE(kwnames) : 0;
    Var **args = &f->slots[f->sp - (size_t)total];
    bool method =
        args[-2] != NULL; /* [function, self, args…] or [NULL, callable, args…] */
    Var *fn = method ? args[-2] : args[-1];
    int n = total + method;
    Var **v = tx_alloc(tx, (size_t)(n + 1) * sizeof *v);
    TRY_PTR(v);
    memcpy(v, method ? args - 1 : args, (size_t)n * sizeof *v);
    SET(tx, f->sp, f->sp - (size_t)total - 2);
    Args a = { .v = v, .n = n - nkw, .nkw = nkw, .kwnames = kwnames };
    return finish_call(tx, f, fn, &a);
}

static Status keywords(Tx *tx, Var *kwargs, Args *a, Var ***values)
{
    Var **keys;
    Py_ssize_t n;
    Var *d = kwargs;
    TRY(var_real(tx, &d));
    d = var_content(d);
    if (d == NULL || d->kind != &kind_dict)
        return graph_break(tx, BRK_NO_SLOT, "** of %s", kwargs->kind->name);
    TRY(dict_items(tx, AS(DictVar, d), &keys, values, &n));
    a->nkw = (int)n;
    a->kwnames = tx_hold(tx, PyTuple_New(n));
    TRY_PTR(a->kwnames);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *k;
        TRY(var_const(tx, keys[i], &k));
        PyTypeObject *t;
        TRY(var_type_of(tx, keys[i], &t));
        if (!PyType_HasFeature(t, Py_TPFLAGS_UNICODE_SUBCLASS))
            return raise_type(tx, PyExc_TypeError, "keywords must be strings");
        if (k == NULL)
            return graph_break(tx, BRK_NO_SLOT, "a keyword that is a %s", t->tp_name);
        PyTuple_SET_ITEM(a->kwnames, i, Py_NewRef(k));
    }
    return ST_OK;
}

Status op_call_function_ex(Tx *tx, Frame *f, const Ins *in)
{
    Var *kwargs = (in->arg & 1) ? pop(tx, f) : NULL, *pos = pop(tx, f), *fn = pop(tx, f),
        **items, **values = NULL;
    Py_ssize_t n;
    Args a = { 0 };
    pop(tx, f); /* the NULL below */
    TRY(var_real(tx, &pos));
    const PySequenceMethods *seq = pos->type ? pos->type->tp_as_sequence : NULL;
    if (pos->type && pos->type->tp_iter == NULL &&
        !(seq && seq->sq_item)) /* its TypeError names the function */
        return graph_break(tx, BRK_NO_SLOT, "%s after *", pos->type->tp_name);
    TRY(var_tuple_items(tx, pos, &items, &n));
    if (kwargs != NULL)
        TRY(keywords(tx, kwargs, &a, &values));
    a.n = (int)n;
    a.v = tx_alloc(tx, (size_t)(a.n + a.nkw + 1) * sizeof(Var *));
    TRY_PTR(a.v);
    if (n)
        memcpy(a.v, items, (size_t)n * sizeof(Var *));
    if (a.nkw)
        memcpy(a.v + n, values, (size_t)a.nkw * sizeof(Var *));
    if (a.nkw == 0)
        a.kwnames = NULL;
    return finish_call(tx, f, fn, &a);
}

Status op_return_value(Tx *tx, Frame *f, const Ins *in)
{
    Var *v = pop(tx, f);
    for (int i = 0; i < f->code->nlocalsplus; i++)
        if (f->slots[i] != v)
            TRY(gen_left(tx, f->slots[i]));
    if (f->gen)
        SET(tx, f->gen->state, GEN_DONE);
    return frame_leave(tx, f, v);
}

static Status closure_cells(Tx *tx, FuncVar *fn, Var *tuple)
{
    Py_ssize_t n;
    TRY(var_unpack(tx, tuple, &fn->closure, &n));
    return ST_OK;
}

/* Annotations arrive as a tuple of names and values. */
static Status annotations(Tx *tx, FuncVar *fn, Var *tuple)
{
    Var **items;
    Py_ssize_t n;
    TRY(dict_new(tx, &fn->annotations));
    TRY(var_unpack(tx, tuple, &items, &n));
    for (Py_ssize_t i = 0; i + 1 < n; i += 2)
        TRY(var_setitem(tx, fn->annotations, items[i], items[i + 1]));
    return ST_OK;
}

static Status as_tuple(Tx *tx, Var *v, TupleVar **out)
{
    Var **items;
    Py_ssize_t n;
    TRY(var_unpack(tx, v, &items, &n));
    TRY(VAR_MAKE(tx, tuple, TupleVar, &PyTuple_Type, out));
    (*out)->n = n;
    (*out)->items = items;
    return ST_OK;
}

Status op_make_function(Tx *tx, Frame *f, const Ins *in)
{
    FuncVar *fn;
    Var *code = pop(tx, f);
    TRY(VAR_MAKE(tx, func, FuncVar, &PyFunction_Type, &fn));
    fn->co = (PyCodeObject *)code->real;
    fn->code = code_of(fn->co);
    TRY_PTR(fn->code);
    fn->globals = f->fn->globals;
    fn->builtins = f->fn->builtins;
    TRY(const_peek(tx, fn->co->co_name, &fn->name));
    TRY(const_peek(tx, fn->co->co_qualname, &fn->qualname));
    if (in->arg & 8)
        TRY(closure_cells(tx, fn, pop(tx, f)));
    if (in->arg & 4)
        TRY(annotations(tx, fn, pop(tx, f)));
    else
        TRY(dict_new(tx, &fn->annotations));
    if (in->arg & 2) {
        Var *kwdefaults = pop(tx, f); /* behind a break: an existing dictionary */
        TRY(var_real(tx, &kwdefaults));
        fn->kwdefaults = AS(DictVar, kwdefaults);
    }
    if (in->arg & 1)
        TRY(as_tuple(tx, pop(tx, f), &fn->defaults));
    return push(tx, f, &fn->v);
}

/* -- Imports ---------------------------------------------------------------------------------- */

static Status package_of(Tx *tx, Frame *f, PyObject **out)
{
    Var *v;
    PyObject *key = tx_hold(tx, PyUnicode_InternFromString("__package__"));
    TRY_PTR(key);
    TRY(dict_get_str(tx, AS(DictVar, f->fn->globals), key, &v));
    if (v == NULL)
        return graph_break(tx, BRK_IMPORT, "relative import without a package");
    TRY(var_const(tx, v, out));
    return *out && PyUnicode_Check(*out) ? ST_OK
                                         : graph_break(tx, BRK_IMPORT, "relative import");
}

static Status absolute_name(Tx *tx, Frame *f, PyObject *name, Py_ssize_t level,
                            PyObject **out)
{
    *out = name;
    if (level == 0)
        return ST_OK;
    PyObject *package;
    TRY(package_of(tx, f, &package));
    for (Py_ssize_t i = 1; i < level; i++) {
        Py_ssize_t dot =
            PyUnicode_FindChar(package, '.', 0, PyUnicode_GET_LENGTH(package), -1);
        if (dot < 0)
            return graph_break(tx, BRK_IMPORT, "relative import beyond the top");
        package = tx_hold(tx, PyUnicode_Substring(package, 0, dot));
        TRY_PTR(package);
    }
    *out = PyUnicode_GET_LENGTH(name) ? PyUnicode_FromFormat("%U.%U", package, name)
                                      : Py_NewRef(package);
    TRY_PTR(tx_hold(tx, *out));
    return ST_OK;
}

static Status loaded_module(Tx *tx, PyObject *name, Var **out)
{
    PyObject *m = PyDict_GetItem(PyImport_GetModuleDict(), name);
    if (m == NULL || !PyModule_Check(m))
        return graph_break(tx, BRK_IMPORT, "%U is not imported yet", name);
    PyObject *spec = PyObject_GetAttrString(m, "__spec__");
    PyObject *busy = spec ? PyObject_GetAttrString(spec, "_initializing") : NULL;
    PyErr_Clear();
    bool initializing = busy == Py_True;
    tx_hold(tx, spec);
    tx_hold(tx, busy);
    if (initializing)
        return graph_break(tx, BRK_IMPORT, "%U is being imported", name);
    Source *modules =
        source_get(&tx->sources, SRC_CONST, NULL, PyImport_GetModuleDict(), 0);
    TRY_PTR(modules);
    Source *src = source_get(&tx->sources, SRC_ITEM, modules, name, 0);
    TRY_PTR(src);
    return wrap(tx, m, src, out);
}

/* Names of a package that are no attributes yet would be imported now, as its submodules. */
static Status check_fromlist(Tx *tx, Var *package, Var *fromlist)
{
    Var **names, *v, *path;
    Py_ssize_t n;
    PyObject *key = tx_hold(tx, PyUnicode_InternFromString("__path__")), *name;
    TRY_PTR(key);
    TRY(var_getattr_opt(tx, package, key, &path));
    if (path == NULL)
        return ST_OK;
    TRY(var_unpack(tx, fromlist, &names, &n));
    for (Py_ssize_t i = 0; i < n; i++) {
        TRY(var_const(tx, names[i], &name));
        if (name == NULL || !PyUnicode_CheckExact(name))
            return graph_break(tx, BRK_IMPORT, "%s", "names that are not known");
        TRY(var_getattr_opt(tx, package, name, &v));
        if (v == NULL)
            return graph_break(tx, BRK_IMPORT, "%U is not imported yet", name);
    }
    return ST_OK;
}

Status op_import_name(Tx *tx, Frame *f, const Ins *in)
{
    Var *fromlist = pop(tx, f), *level = pop(tx, f), *v;
    PyObject *name = PyTuple_GET_ITEM(f->code->co->co_names, in->arg);
    Py_ssize_t n;
    TRY(var_index(tx, level, &n));
    TRY(absolute_name(tx, f, name, n, &name));
    TRY(loaded_module(tx, name, &v));
    TRY(var_real(tx, &fromlist));
    Py_ssize_t dot = PyUnicode_FindChar(name, '.', 0, PyUnicode_GET_LENGTH(name), 1);
    if (fromlist == tx->none && dot > 0 && n == 0) {
        PyObject *top = tx_hold(tx, PyUnicode_Substring(name, 0, dot));
        TRY_PTR(top);
        TRY(loaded_module(tx, top, &v));
    }
    if (fromlist != tx->none)
        TRY(check_fromlist(tx, v, fromlist));
    return push(tx, f, v);
}

Status op_import_from(Tx *tx, Frame *f, const Ins *in)
{
    PyObject *name = PyTuple_GET_ITEM(f->code->co->co_names, in->arg);
    Var *module = peek(f, 1), *v;
    TRY(var_getattr_opt(tx, module, name, &v));
    if (v == NULL) { /* a submodule that is not an attribute yet */
        PyObject *mod = PyModule_GetNameObject(module->real);
        TRY_PTR(tx_hold(tx, mod));
        PyObject *full = tx_hold(tx, PyUnicode_FromFormat("%U.%U", mod, name));
        TRY_PTR(full);
        TRY(loaded_module(tx, full, &v));
    }
    return push(tx, f, v);
}

/* -- Generators ------------------------------------------------------------------------------------ */

Status op_return_generator(Tx *tx, Frame *f, const Ins *in)
{
    Var *g;
    TRY(gen_new(tx, f->fn, f, &g));
    SET(tx, f->gen, AS(GenVar, g));
    TRY(frame_leave(tx, f, g));
    SET(tx, f->up, NULL);
    return ST_OK;
}

Status op_yield_value(Tx *tx, Frame *f, const Ins *in)
{
    Var *v = pop(tx, f);
    SET(tx, f->gen->state, GEN_SUSPENDED);
    return frame_leave(tx, f, v);
}

Status op_get_yield_from_iter(Tx *tx, Frame *f, const Ins *in)
{
    Var *v = pop(tx, f);
    TRY(var_real(tx, &v));
    if (v->kind != &kind_gen)
        TRY(var_iter(tx, v, &v));
    return push(tx, f, v);
}

/* The next value of what a generator delegates to; *v NULL: it has ended, *value tells with what. */
static Status send_to(Tx *tx, Var *receiver, Var *sent, Var **v, Var **value)
{
    Status st;
    *value = tx->none;
    if (receiver->kind == &kind_gen) {
        TRY(gen_resume(tx, AS(GenVar, receiver), sent, v));
        *value = tx->result ? tx->result : tx->none;
        return ST_OK;
    }
    if (sent != tx->none)
        st = var_call_method(tx, receiver, "send", &sent, 1, v);
    else if (receiver->kind == &kind_object)
        st = var_call_special(tx, receiver, "__next__", NULL, 0, v);
    else
        return var_next(tx, receiver, v);
    if (st == ST_OK && *v == NULL)
        return raise_type(tx, PyExc_TypeError, "'%.200s' object is not an iterator",
                          receiver->type->tp_name);
    if (st != ST_RAISE)
        return st;
    Var *raised;
    TRY(gen_ended(tx, value, &raised));
    *v = NULL;
    if (raised == NULL)
        return ST_OK;
    tx->exc = raised;
    return ST_RAISE;
}

Status op_send(Tx *tx, Frame *f, const Ins *in)
{
    Var *sent = peek(f, 1), *receiver = peek(f, 2), *v, *value;
    TRY(var_real(tx, &receiver));
    TRY(var_real(tx, &sent));
    TRY(send_to(tx, receiver, sent, &v, &value));
    if (v != NULL) {
        SET(tx, f->slots[f->sp - 1], v);
        return ST_OK;
    }
    pop(tx, f);
    SET(tx, f->slots[f->sp - 1], value);
    return jump_to(tx, f, in);
}
