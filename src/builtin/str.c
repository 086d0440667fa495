/*
 * builtin/str.c -- text: joining and formatting where parts are no constants yet. All else about str is folded.
 */
#include "builtin/help.h"
#include "builtin/str.h"

/* -- Pieces ----------------------------------------------------------------- */

/* The constant text of a piece, or a break: the rest of the program is going to look into it. */
static Status text_of(Tx *tx, Var *v, PyObject **out)
{
    PyTypeObject *t;
    TRY(fold_value(tx, v, out));
    if (*out == NULL || !PyUnicode_CheckExact(*out)) {
        TRY(var_type_of(tx, v, &t));
        return graph_break(tx, BRK_NO_SLOT, "text of %s", t ? t->tp_name : "a value");
    }
    return ST_OK;
}

static Status self_text(Tx *tx, const Args *a, PyObject **out)
{
    TRY(fold_value(tx, a->v[0], out));
    if (*out && !PyUnicode_CheckExact(*out))
        *out = NULL;
    return ST_OK;
}

typedef struct Pieces {
    PyObject *list; /* of str, held by the trace */
} Pieces;

static Status pieces_new(Tx *tx, Pieces *p)
{
    p->list = tx_hold(tx, PyList_New(0));
    return p->list ? ST_OK : ST_ERROR;
}

static Status pieces_add(Pieces *p, PyObject *text)
{
    return PyList_Append(p->list, text) < 0 ? ST_ERROR : ST_OK;
}

static Status pieces_join(Tx *tx, Pieces *p, PyObject *sep, Var **out)
{
    return fold_wrap(tx, PyUnicode_Join(sep, p->list), out);
}

/* -- join ------------------------------------------------------------------- */

static Status join(Tx *tx, const Args *a, Var **out)
{
    PyObject *sep;
    Var **items;
    Py_ssize_t n;
    Pieces p;
    TRY(self_text(tx, a, &sep));
    if (sep == NULL)
        return ST_DECLINE;
    TRY(var_sequence(tx, a->v[1], "can only join an iterable", &items, &n));
    TRY(pieces_new(tx, &p));
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *text;
        PyTypeObject *t;
        TRY(var_type_of(tx, items[i], &t));
        if (!PyType_HasFeature(t, Py_TPFLAGS_UNICODE_SUBCLASS))
            return raise_type(tx, PyExc_TypeError,
                              "sequence item %zd: expected str instance, %.80s found", i,
                              t->tp_name);
        TRY(text_of(tx, items[i], &text));
        TRY(pieces_add(&p, text));
    }
    PyObject *all = PyUnicode_Join(sep, p.list);
    return all ? const_result(tx, all, items, n, out) : raise_now(tx);
}

/* -- format ----------------------------------------------------------------- */

typedef struct Format {
    Tx *tx;
    const Args *a; /* a->v[0] is the format string */
    Py_ssize_t auto_index;
    bool manual, automatic;
    int depth;
} Format;

static Status format_into(Format *f, PyObject *format, Pieces *p);

/* The parts of a field: real iterators of _string, which are free of effects. */
static PyObject *parse(Tx *tx, const char *fn, PyObject *text)
{
    PyObject *m = tx_hold(tx, PyImport_ImportModule("_string"));
    return m ? tx_hold(tx, PyObject_CallMethod(m, fn, "O", text)) : NULL;
}

static Status numbered(Format *f, Py_ssize_t i, Var **out)
{
    if (i >= f->a->n - 1)
        return raise_type(f->tx, PyExc_IndexError,
                          "Replacement index %zd out of range for positional args tuple",
                          i);
    *out = f->a->v[1 + i];
    return ST_OK;
}

static Status first_value(Format *f, PyObject *first, Var **out)
{
    if (PyLong_Check(first)) {
        f->manual = true;
        if (f->automatic)
            return raise_type(f->tx, PyExc_ValueError,
                              "cannot switch from automatic field numbering to manual "
                              "field specification");
        return numbered(f, PyLong_AsSsize_t(first), out);
    }
    if (PyUnicode_GET_LENGTH(first) == 0) {
        f->automatic = true;
        if (f->manual)
            return raise_type(f->tx, PyExc_ValueError,
                              "cannot switch from manual field specification to "
                              "automatic field numbering");
        return numbered(f, f->auto_index++, out);
    }
    *out = args_kw(f->a, PyUnicode_AsUTF8(first));
    if (*out != NULL)
        return ST_OK;
    Var *key, *exc;
    TRY(const_peek(f->tx, first, &key));
    TRY(exc_new(f->tx, (PyTypeObject *)PyExc_KeyError, &key, 1, &exc));
    return raise_var(f->tx, exc);
}

/* `0.shape[1]` */
static Status field_value(Format *f, PyObject *name, Var **out)
{
    PyObject *split = parse(f->tx, "formatter_field_name_split", name);
    if (split == NULL)
        return raise_now(f->tx);
    TRY(first_value(f, PyTuple_GET_ITEM(split, 0), out));
    PyObject *rest = PyTuple_GET_ITEM(split, 1), *step;
    while ((step = tx_hold(f->tx, PyIter_Next(rest))) != NULL) {
        PyObject *what = PyTuple_GET_ITEM(step, 1);
        Var *key;
        TRY(const_peek(f->tx, what, &key));
        if (PyTuple_GET_ITEM(step, 0) == Py_True) {
            PyObject *attr;
            TRY(arg_name(f->tx, key, &attr));
            TRY(var_getattr(f->tx, *out, attr, out));
        } else {
            TRY(var_getitem(f->tx, *out, key, out));
        }
    }
    return PyErr_Occurred() ? raise_now(f->tx) : ST_OK;
}

static Status convert(Tx *tx, PyObject *conversion, Var *v, Var **out)
{
    if (conversion == Py_None) {
        *out = v;
        return ST_OK;
    }
    Py_UCS4 c = PyUnicode_READ_CHAR(conversion, 0);
    if (c == 's')
        return var_str(tx, v, out);
    if (c == 'r')
        return var_repr(tx, v, out);
    if (c == 'a')
        return var_ascii(tx, v, out);
    return graph_break(tx, BRK_NO_SLOT, "%s", "conversion of a format field");
}

static Status replace_field(Format *f, PyObject *part, Pieces *p)
{
    PyObject *name = PyTuple_GET_ITEM(part, 1), *spec = PyTuple_GET_ITEM(part, 2), *text;
    Pieces inner;
    Var *v, *spec_var;
    TRY(field_value(f, name, &v));
    TRY(convert(f->tx, PyTuple_GET_ITEM(part, 3), v, &v));
    TRY(pieces_new(f->tx, &inner));
    f->depth++;
    TRY(format_into(f, spec, &inner));
    f->depth--;
    PyObject *empty = tx_hold(f->tx, PyUnicode_FromString(""));
    TRY_PTR(empty);
    TRY(pieces_join(f->tx, &inner, empty, &spec_var));
    TRY(var_format(f->tx, v, spec_var, &v));
    TRY(text_of(f->tx, v, &text));
    return pieces_add(p, text);
}

static Status format_into(Format *f, PyObject *format, Pieces *p)
{
    if (f->depth > 2)
        return raise_type(f->tx, PyExc_ValueError, "Max string recursion exceeded");
    PyObject *it = parse(f->tx, "formatter_parser", format), *part;
    if (it == NULL)
        return raise_now(f->tx);
    while ((part = tx_hold(f->tx, PyIter_Next(it))) != NULL) {
        TRY(pieces_add(p, PyTuple_GET_ITEM(part, 0)));
        if (PyTuple_GET_ITEM(part, 1) != Py_None)
            TRY(replace_field(f, part, p));
    }
    return PyErr_Occurred() ? raise_now(f->tx) : ST_OK;
}

static bool has(PyObject *text, Py_UCS4 c)
{
    return PyUnicode_FindChar(text, c, 0, PyUnicode_GET_LENGTH(text), 1) >= 0;
}

static Status format(Tx *tx, const Args *a, Var **out)
{
    Format f = { .tx = tx, .a = a };
    PyObject *text, *empty;
    Pieces p;
    if (fold_ready(a))
        return ST_DECLINE;
    TRY(self_text(tx, a, &text));
    empty = tx_hold(tx, PyUnicode_FromString(""));
    TRY_PTR(empty);
    if (text == NULL)
        return ST_DECLINE;
    if (!has(text, '{') && !has(text, '}')) /* the very text */
        return *out = a->v[0], ST_OK;
    TRY(pieces_new(tx, &p));
    TRY(format_into(&f, text, &p));
    return pieces_join(tx, &p, empty, out);
}

/* -- % ------------------------------------------------------------------------ */

/* Walks the directives: %s and %r of values that are no constants become their text, under %s; then Python formats. */
typedef struct Percent {
    Tx *tx;
    PyObject *format;
    Py_ssize_t at;
    Var **values;
    Py_ssize_t n, used;
    PyObject *args; /* list */
    PyObject *out;  /* list of characters of the new format */
} Percent;

static Status put(Percent *p, Py_UCS4 c)
{
    PyObject *s = tx_hold(p->tx, PyUnicode_FromOrdinal((int)c));
    return s && PyList_Append(p->out, s) == 0 ? ST_OK : ST_ERROR;
}

static Status next_constant(Percent *p, Var *v)
{
    PyObject *o;
    TRY(fold_value(p->tx, v, &o));
    if (o == NULL)
        return graph_break(p->tx, BRK_NO_SLOT, "%s",
                           "%-formatting of a value that is no constant");
    return PyList_Append(p->args, o) < 0 ? ST_ERROR : ST_OK;
}

static Status next_text(Percent *p, Var *v, bool repr)
{
    PyObject *o;
    TRY(repr ? var_repr(p->tx, v, &v) : var_str(p->tx, v, &v));
    TRY(text_of(p->tx, v, &o));
    return PyList_Append(p->args, o) < 0 ? ST_ERROR : ST_OK;
}

/* One directive behind its %; ST_DECLINE: a form that is left alone. */
static Status directive(Percent *p)
{
    Py_ssize_t len = PyUnicode_GET_LENGTH(p->format);
    TRY(put(p, '%'));
    for (; p->at < len; p->at++) {
        Py_UCS4 c = PyUnicode_READ_CHAR(p->format, p->at);
        if (c == '(')
            return ST_DECLINE;
        if (c == '%') {
            p->at++;
            return put(p, c);
        }
        if (c != 0 && c < 128 && strchr("#0- +.123456789hlL", (int)c)) {
            TRY(put(p, c));
            continue;
        }
        if (p->used >= p->n)
            return raise_type(p->tx, PyExc_TypeError,
                              "not enough arguments for format string");
        Var *v = p->values[p->used++];
        bool text = c == 's' || c == 'r';
        TRY(text && !fold_possible(v) ? next_text(p, v, c == 'r') : next_constant(p, v));
        TRY(put(p, text && !fold_possible(v) ? 's' : c));
        if (c == '*')
            continue;
        p->at++;
        return ST_OK;
    }
    return raise_type(p->tx, PyExc_ValueError, "incomplete format");
}

/* What could be asked by name may be left over. */
static bool by_name(PyTypeObject *t)
{
    return t->tp_as_mapping && t->tp_as_mapping->mp_subscript &&
           !PyType_IsSubtype(t, &PyTuple_Type) && !PyType_IsSubtype(t, &PyUnicode_Type);
}

Status str_percent(Tx *tx, PyObject *format, Var *values, Var **out)
{
    Percent p = { .tx = tx, .format = format, .values = &values, .n = 1 };
    PyObject *empty = tx_hold(tx, PyUnicode_FromString(""));
    p.args = tx_hold(tx, PyList_New(0));
    p.out = tx_hold(tx, PyList_New(0));
    if (!empty || !p.args || !p.out)
        return ST_ERROR;
    TRY(var_real(tx, &values));
    if (PyType_IsSubtype(values->type, &PyTuple_Type) && var_content(values))
        TRY(var_unpack(tx, var_content(values), &p.values,
                       &p.n)); /* whatever a subclass gives */
    while (p.at < PyUnicode_GET_LENGTH(format)) {
        Py_UCS4 c = PyUnicode_READ_CHAR(format, p.at++);
        Status st = c == '%' ? directive(&p) : put(&p, c);
        if (st != ST_OK)
            return st == ST_DECLINE
                       ? graph_break(tx, BRK_NO_SLOT, "%s", "%-formatting by name")
                       : st;
    }
    PyObject *f = tx_hold(tx, PyUnicode_Join(empty, p.out)),
             *args = tx_hold(tx, PyList_AsTuple(p.args));
    if (f == NULL || args == NULL)
        return ST_ERROR;
    if (p.used < p.n && !by_name(values->type))
        return raise_type(tx, PyExc_TypeError,
                          "not all arguments converted during string formatting");
    return fold_wrap(tx, PyUnicode_Format(f, args), out);
}

static Status mod(Tx *tx, const Args *a, Var **out)
{
    PyObject *format;
    TRY(self_text(tx, a, &format));
    if (format == NULL || fold_ready(a))
        return ST_DECLINE;
    return str_percent(tx, format, a->v[1], out);
}

const Handler handlers_str[] = {
    { "builtins.str.join", 2, 2, join, NULL },
    { "builtins.str.format", 1, -1, format, ANY_KW },
    { "builtins.str.__mod__", 2, 2, mod, NULL },
    { 0 },
};
