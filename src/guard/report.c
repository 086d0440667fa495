/*
 * guard/report.c -- check programs as text, and why one failed.
 *
 * The program is its own description: a register's text is that of the instruction that
 * writes it. No addresses, in order of first use: the golden format.
 */
#include "cpy/cpy.h"
#include "cpy/peek.h"
#include "guard/program.h"

static const char *const guard_texts[] = {
#define GUARD(name, payload, text) text,
#include "guard/guards.def"
#undef GUARD
};

/* Reads a program; at[r] is 1 + index of the instruction that writes register r. */
typedef struct Reader {
    const Guards *g;
    uint32_t *at;
    Text *t;
} Reader;

#define NUMBER(c) ((Py_ssize_t)(intptr_t)(c)->p)

static bool evaluates(const Check *c)
{
    return c->op >= DO_EVAL_LEN && c->op <= DO_EVAL_COMPARE;
}

static bool writes(const Check *c)
{
    return (is_load(c) && c->post < POST_ABSENT) || evaluates(c);
}

static bool reader_init(Reader *rd, const Guards *g, Text *t)
{
    *rd = (Reader){ g, mem_alloc(g->nregs * sizeof *rd->at), t };
    if (rd->at == NULL)
        return false;
    for (size_t i = 0; i < g->n; i++)
        if (writes(&g->code[i]))
            rd->at[g->code[i].a] = (uint32_t)i + 1;
    return true;
}

/* -- Objects ---------------------------------------------------------------- */

static void put_str(Text *t, const char *prefix, PyObject *name)
{
    const char *s = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    if (s == NULL)
        PyErr_Clear();
    text_put(t, "%s%s", prefix, s ? s : "?");
}

/* Constants as they are, other things by their name. */
static void put_object(Text *t, PyObject *o)
{
    if (PyFunction_Check(o))
        put_str(t, "function ", ((PyFunctionObject *)o)->func_qualname);
    else if (PyCode_Check(o))
        put_str(t, "code ", ((PyCodeObject *)o)->co_qualname);
    else if (PyCFunction_CheckExact(o))
        text_put(t, "builtin %s", ((PyCFunctionObject *)o)->m_ml->ml_name);
    else if (PyModule_CheckExact(o)) {
        PyObject *name = PyModule_GetNameObject(o);
        PyErr_Clear();
        put_str(t, "module ", name);
        Py_XDECREF(name);
    } else
        text_repr(t, o);
}

/* -- Places ----------------------------------------------------------------- */

/* The source kind that a load stands for, and its key. */
static SrcKind kind_of(const Check *c, PyObject **key)
{
    *key = NULL;
    switch (c->op) {
    case DO_LOAD_KEYED: *key = ((KeyRef *)c->p)->key; return SRC_ITEM;
    case DO_LOAD_INST_KEY: return SRC_KEYAT;
    case DO_LOAD_ATTR:
    case DO_LOAD_ITEM:
    case DO_LOAD_MEMBER:
    case DO_LOAD_CLASSVAR:
    case DO_LOAD_KWDEFAULT: *key = c->p; break;
    case DO_LOAD_GETSET: *key = PyDescr_NAME((PyObject *)c->p); break;
    default: break;
    }
    return (SrcKind)c->op;
}

static bool is_root(SrcKind k)
{
    return k <= SRC_CONST;
}

static void put_reg(Reader *rd, uint32_t r);

/* The instance dictionary stands between an object and its i-th name. */
static void head(Reader *rd, const Check *c)
{
    PyObject *key;
    SrcKind k = kind_of(c, &key);
    source_print_head(rd->t, k, key, NUMBER(c));
    if (c->op == DO_LOAD_INST_KEY)
        source_print_head(rd->t, SRC_DICT, NULL, 0);
}

static void tail(Reader *rd, const Check *c)
{
    PyObject *key;
    SrcKind k = kind_of(c, &key);
    if (k == SRC_AT) {
        text_put(rd->t, "[");
        put_reg(rd, c->c);
        text_put(rd->t, "]");
        return;
    }
    if (c->op == DO_LOAD_INST_KEY)
        source_print_tail(rd->t, SRC_DICT, NULL, 0);
    source_print_tail(rd->t, k, key, key ? 0 : NUMBER(c));
}

/* The place a load reads. Paths may be long: a loop, not recursion. */
static void put_load(Reader *rd, const Check *c)
{
    size_t n = 0;
    PyObject *key;
    const Check **path = mem_alloc(rd->g->n * sizeof *path);
    if (path == NULL) {
        PyErr_Clear();
        rd->t->failed = true;
        return;
    }
    uint32_t def = 1;
    while (def && !is_root(kind_of(c, &key)) && is_load(c)) {
        head(rd, c);
        path[n++] = c;
        def = rd->at[c->b];
        if (def)
            c = &rd->g->code[def - 1];
    }
    if (!def)
        put_reg(rd, c->b);
    else
        source_print_root(rd->t, (SrcKind)c->op, NULL, NUMBER(c), rd->g->slot_names);
    while (n-- > 0)
        tail(rd, path[n]);
    mem_free(path);
}

static void put_operand(Reader *rd, uint32_t r)
{
    uint32_t def = rd->at[r];
    bool wrap = def && (rd->g->code[def - 1].op == DO_EVAL_BINARY ||
                        rd->g->code[def - 1].op == DO_EVAL_COMPARE);
    text_put(rd->t, wrap ? "(" : "");
    put_reg(rd, r);
    text_put(rd->t, wrap ? ")" : "");
}

static void put_eval(Reader *rd, const Check *c)
{
    const char *name;
    switch (c->op) {
    case DO_EVAL_LEN:
        text_put(rd->t, "len(");
        put_reg(rd, c->b);
        text_put(rd->t, ")");
        break;
    case DO_EVAL_DIM:
        put_reg(rd, c->b);
        text_put(rd->t, ".shape[%zd]", NUMBER(c));
        break;
    case DO_EVAL_UNARY:
        name = calc_unary_name((char)c->hint);
        text_put(rd->t, "%s", name);
        put_operand(rd, c->b);
        text_put(rd->t, strchr(name, '(') ? ")" : "");
        break;
    default:
        put_operand(rd, c->b);
        text_put(rd->t, " %s ",
                 c->op == DO_EVAL_BINARY ? calc_binary_name(c->hint)
                                         : calc_compare_name(c->hint));
        put_operand(rd, c->c);
    }
}

/* What a register stands for: a place, an expression, a constant. */
static void put_reg(Reader *rd, uint32_t r)
{
    uint32_t def = rd->at[r];
    if (def == 0) {
        PyObject *o = rd->g->regs[r];
        text_put(rd->t, key_plain(o) ? "" : "C[");
        put_object(rd->t, o);
        text_put(rd->t, key_plain(o) ? "" : "]");
    } else if (evaluates(&rd->g->code[def - 1]))
        put_eval(rd, &rd->g->code[def - 1]);
    else
        put_load(rd, &rd->g->code[def - 1]);
}

/* -- Instructions ----------------------------------------------------------- */

/* The row of guards.def that an instruction carries out, and its object or number. */
typedef struct Row {
    GuardKind kind;
    PyObject *obj;
    Py_ssize_t n;
    bool instance; /* of the instance dictionary of b */
} Row;

static bool row_of(const Check *c, Row *row)
{
    static const uint8_t instance_rows[] = {
        [DO_INST_TYPE - DO_INST_TYPE] = GUARD_TYPE,
        [DO_INST_KEYS - DO_INST_TYPE] = GUARD_KEYS,
        [DO_INST_LEN - DO_INST_TYPE] = GUARD_LEN,
        [DO_INST_NONEMPTY - DO_INST_TYPE] = GUARD_NONEMPTY,
        [DO_INST_ABSENT - DO_INST_TYPE] = GUARD_ABSENT,
    };
    *row = (Row){ .n = NUMBER(c) };
    if (c->op >= DO_INST_TYPE && c->op <= DO_INST_ABSENT) {
        row->instance = true;
        row->kind = instance_rows[c->op - DO_INST_TYPE];
    } else if (c->op == DO_ABSENT_KEYED)
        row->kind = GUARD_ABSENT;
    else if (c->op >= DO_TYPE && c->op < DO_TYPE + GUARD_COUNT)
        row->kind = (GuardKind)(c->op - DO_TYPE);
    else
        return false;
    if (c->q)
        row->obj = c->q;
    else if (row->kind == GUARD_KEYS || row->kind == GUARD_ABSENT ||
             row->kind == GUARD_SETEQ)
        row->obj = c->op == DO_ABSENT_KEYED ? ((KeyRef *)c->p)->key : c->p;
    return true;
}

static void put_group(Reader *rd, const Group *d)
{
    for (uint32_t i = 0; i < d->n; i++) {
        text_put(rd->t, i ? ", " : "");
        put_reg(rd, d->reg[i]);
    }
}

static void put_sharers(Reader *rd, const Sharers *d)
{
    for (uint32_t i = 0; i < d->n; i++) {
        text_put(rd->t, i ? ", " : "");
        put_reg(rd, d->v[i].reg);
    }
}

static void put_source(Reader *rd, const Check *c, const Row *row)
{
    if (row->kind == GUARD_STORAGE) {
        put_sharers(rd, c->p);
        return;
    }
    if (row->kind == GUARD_DISTINCT) {
        put_group(rd, c->p);
        return;
    }
    put_reg(rd, c->b);
    text_put(rd->t, row->instance ? ".__dict__" : "");
}

static void put_row(Reader *rd, const Check *c, const Row *row)
{
    for (const char *s = guard_texts[row->kind]; *s; s++)
        if (*s != '%')
            text_put(rd->t, "%c", *s);
        else if (*++s == 's' || *s == 'e')
            put_source(rd, c, row);
        else if (*s == 'o')
            put_object(rd->t, row->obj);
        else if (*s == 'n')
            text_put(rd->t, "%zd", row->n);
        else if (*s == 't')
            put_reg(rd, c->c);
    if (row->kind == GUARD_HASNEXT && c->c)
        text_put(rd->t, ", %u further on", c->c);
}

static void put_posted(Reader *rd, const Check *c)
{
    static const GuardKind rows[] = {
        [POST_TYPE] = GUARD_TYPE,
        [POST_IS] = GUARD_IS,
        [POST_EQ] = GUARD_EQ,
    };
    static const char *const of_place[] = {
        [POST_NONE] = "%s is bound",
        [POST_ABSENT] = "%s is unbound",
        [POST_QUIET] = "the end of %s runs no code",
    };
    if (c->post == POST_NONE || c->post >= POST_ABSENT) {
        const char *text = of_place[c->post], *at = strstr(text, "%s");
        text_put(rd->t, "%.*s", (int)(at - text), text);
        put_load(rd, c);
        text_put(rd->t, "%s", at + 2);
        return;
    }
    Row row = { .kind = rows[c->post], .obj = c->q };
    put_row(rd, &(Check){ .b = c->a }, &row);
}

static void put_truth(Reader *rd, const Check *c)
{
    if (c->op == DO_TRUTH) {
        put_reg(rd, c->b);
        text_put(rd->t, " is %s", NUMBER(c) ? "true" : "false");
        return;
    }
    text_put(rd->t, c->c ? "len(" : "");
    put_reg(rd, c->b);
    text_put(rd->t, "%s %s %zd is %s", c->c ? ")" : "", calc_compare_name(c->hint),
             NUMBER(c), c->q ? "true" : "false");
}

/* What the instruction demands. */
static void put_check(Reader *rd, const Check *c)
{
    Row row;
    if (row_of(c, &row))
        put_row(rd, c, &row);
    else if (evaluates(c)) {
        put_eval(rd, c);
        text_put(rd->t, " gives %s", ((PyTypeObject *)c->q)->tp_name);
    } else if (c->op == DO_TRUTH || c->op == DO_COMPARE_INT)
        put_truth(rd, c);
    else
        put_posted(rd, c);
}

/* -- The whole program ------------------------------------------------------- */

static void put_attr(Text *t, const ClassRef *c, const ClassAttr *a)
{
    text_put(t, "lookup in %s: ", c->type->tp_name);
    put_str(t, "", a->name);
    if (a->kind == ATTR_ABSENT)
        text_put(t, " is absent");
    else if (a->kind == ATTR_MRO)
        text_put(t, " is what it was");
    else if (a->kind == ATTR_PARTS || a->kind == ATTR_DESCR)
        text_put(t, " is the %s",
                 a->kind == ATTR_DESCR ? "descriptor of its class"
                                       : ((PyTypeObject *)a->owner)->tp_name);
    else {
        bool weak = a->kind == ATTR_WEAK;
        text_put(t, " is ");
        put_object(t, weak ? PyWeakref_GET_OBJECT(a->obj) : a->obj);
    }
}

/* Says nothing that other lines do not say. */
static bool silent(const Check *c)
{
    return c->op == DO_DONE || ((is_load(c) || evaluates(c)) && c->post == POST_NONE);
}

static void put_program(Reader *rd)
{
    const Guards *g = rd->g;
    for (size_t i = 0; i < g->nclasses; i++)
        for (uint32_t k = 0; k < g->classes[i].n; k++) {
            put_attr(rd->t, &g->classes[i], &g->classes[i].attrs[k]);
            text_put(rd->t, "\n");
        }
    for (size_t i = 0; i < g->n; i++)
        if (!silent(&g->code[i])) {
            put_check(rd, &g->code[i]);
            text_put(rd->t, "\n");
        }
    for (int k = 0; k < g->nexports; k++) {
        text_put(rd->t, "-> ");
        put_reg(rd, g->exports[k]);
        text_put(rd->t, "\n");
    }
}

PyObject *guards_text(const Guards *g)
{
    Text t = { 0 };
    Reader rd;
    if (!reader_init(&rd, g, &t))
        return NULL;
    put_program(&rd);
    mem_free(rd.at);
    return text_take(&t);
}

/* -- Why -------------------------------------------------------------------- */

static void put_tensor(Reader *rd, const Check *c)
{
    PyObject *why = guard_tensor_why ? guard_tensor_why(rd->g->regs[c->b], c->p) : NULL;
    PyErr_Clear();
    put_str(rd->t, ": ", why);
    Py_XDECREF(why);
}

static void put_found_length(Reader *rd, const Check *c)
{
    PyObject *o = rd->g->regs[c->b];
    Py_ssize_t n = c->op >= DO_INST_TYPE && c->op <= DO_INST_ABSENT ? cpy_inst_len(o)
                   : Py_TYPE(o)->tp_flags & Py_TPFLAGS_HEAPTYPE     ? -1
                                                                    : PyObject_Size(o);
    PyErr_Clear();
    if (n >= 0)
        text_put(rd->t, ", but it is %zd", n);
}

/* v: the value the check was about; NULL: there is none. */
static void put_found(Reader *rd, PyObject *v, bool type_only)
{
    if (v == NULL)
        text_put(rd->t, ", but it is not there");
    else {
        text_put(rd->t, ", but it is ");
        if (type_only)
            text_put(rd->t, "%s", Py_TYPE(v)->tp_name);
        else
            put_object(rd->t, v);
    }
}

static void put_failure(Reader *rd, const Check *c)
{
    PyObject **regs = rd->g->regs;
    put_check(rd, c);
    if (is_load(c)) {
        if (c->post == POST_ABSENT)
            text_put(rd->t, ", but it is bound");
        else
            put_found(rd, regs[c->a], c->post == POST_TYPE);
        return;
    }
    if (evaluates(c)) {
        if (regs[c->a])
            put_found(rd, regs[c->a], true);
        else
            text_put(rd->t, ", but it raises or is too large");
        return;
    }
    switch (c->op) {
    case DO_TENSOR: put_tensor(rd, c); break;
    case DO_TYPE:
    case DO_IS:
    case DO_EQ:
    case DO_VALUE: put_found(rd, regs[c->b], c->op == DO_TYPE); break;
    case DO_LEN:
    case DO_INST_LEN: put_found_length(rd, c); break;
    default: text_put(rd->t, ", but it is not so");
    }
}

static void put_class_failure(Reader *rd, const ClassRef *c)
{
    for (uint32_t k = 0; k < c->n; k++) {
        PyObject *v = attr_now(c, &c->attrs[k]);
        if (!attr_holds(&c->attrs[k], v)) {
            put_attr(rd->t, c, &c->attrs[k]);
            put_found(rd, v, false);
            return;
        }
    }
}

static void put_why(Reader *rd, const Check *at, size_t class_at)
{
    const Guards *g = rd->g;
    if (at == NULL && class_at < g->nclasses)
        put_class_failure(rd, &g->classes[class_at]);
    else if (at == NULL)
        text_put(rd->t, g->life->dead ? "an object that was compared by identity is gone"
                                      : "too few slots");
    else if (at->op == DO_DONE)
        text_put(rd->t, "nothing failed");
    else
        put_failure(rd, at);
}

PyObject *guards_why(Guards *g, PyObject *func, PyObject *const *slots, int nslots,
                     PyObject *exc)
{
    Entered in = { func, exc, slots, nslots };
    size_t class_at;
    Text t = { 0 };
    Reader rd;
    if (!reader_init(&rd, g, &t))
        return NULL;
    /* Registers that the run does not come to would still have what an earlier run left. */
    for (uint32_t r = 0; r < g->nregs; r++)
        if (rd.at[r])
            g->regs[r] = NULL;
    Check *at = program_run(g, &in, &class_at);
    put_why(&rd, at, class_at);
    program_release(g);
    mem_free(rd.at);
    return text_take(&t);
}
