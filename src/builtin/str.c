/*
 * builtin/str.c -- text: joining and formatting where parts are no constants yet. All else about str is folded.
 */
#include "builtin/help.h"
#include "builtin/str.h"
#include "var/object.h"

/* -- Pieces ----------------------------------------------------------------- */

/* The constant text of a piece, or a break: the rest of the program is going to look into it. */
static Status text_of(Tx *tx, Var *v, PyObject **out)
{
    PyTypeObject *t;
    TRY(var_real(tx, &v));
    TRY(fold_value(tx, object_part(v) ? object_part(v) : v, out));
    if (*out == NULL || !PyUnicode_CheckExact(*out)) {
        TRY(var_type_of(tx, v, &t));
        return graph_break(tx, BRK_NO_SLOT, "text of %s", t ? t->tp_name : "a value");
    }
    return ST_OK;
}

/* The text of the str, or of an instance of a subclass, whose method it is; *out NULL: not known. */
static Status self_text(Tx *tx, const Args *a, PyObject **out)
{
    Var *self = a->v[0];
    TRY(var_real(tx, &self));
    TRY(fold_value(tx, object_part(self) ? object_part(self) : self, out));
    if (*out && !PyUnicode_CheckExact(*out))
        *out = NULL;
    return ST_OK;
}

typedef struct Pieces {
    PyObject *list; /* of str, held by the trace */
    bool odd; /* one is an instance of a subclass, which CPython hands on if there is nothing else */
} Pieces;

static Status pieces_new(Tx *tx, Pieces *p)
{
    *p = (Pieces){ 0 };
    p->list = tx_hold(tx, PyList_New(0));
    return p->list ? ST_OK : ST_ERROR;
}

/* Empty ones leave nothing. */
static Status pieces_add(Pieces *p, PyObject *text)
{
    if (PyUnicode_GET_LENGTH(text) == 0)
        return ST_OK;
    return PyList_Append(p->list, text) < 0 ? ST_ERROR : ST_OK;
}

static Status pieces_add_var(Tx *tx, Pieces *p, Var *v)
{
    PyObject *text;
    TRY(text_of(tx, v, &text));
    TRY(var_real(tx, &v));
    p->odd |= v->type != &PyUnicode_Type;
    return pieces_add(p, text);
}

static Status pieces_join(Tx *tx, Pieces *p, Var **out)
{
    PyObject *empty = tx_hold(tx, PyUnicode_FromString(""));
    TRY_PTR(empty);
    if (p->odd && PyList_GET_SIZE(p->list) == 1)
        return graph_break(tx, BRK_NO_SLOT, "%s",
                           "formatting that gives an instance of a subclass of str");
    return fold_wrap(tx, PyUnicode_Join(empty, p->list), out);
}

/* -- partition -------------------------------------------------------------- */

/* As partition of str and bytes without the separator in it: the object itself, of a subclass too, and two empty ones. */
static Status parted(Tx *tx, const Args *a, int place, Var **out)
{
    PyObject *text, *sep;
    Var *self = a->v[0], *items[3];
    TRY(var_real(tx, &self));
    Var *part = object_part(self);
    if (!var_is_instance(self) || part == NULL)
        return ST_DECLINE;
    TRY(fold_value(tx, part, &text));
    TRY(fold_value(tx, a->v[1], &sep));
    if (text == NULL || sep == NULL || Py_TYPE(text) != Py_TYPE(sep) ||
        PyObject_Size(sep) == 0 || PySequence_Contains(text, sep))
        return ST_DECLINE;
    for (int i = 0; i < 3; i++)
        TRY(i == place ? (items[i] = self, ST_OK)
                       : const_new(tx, PySequence_GetSlice(text, 0, 0), &items[i]));
    return tuple_new(tx, items, 3, out);
}

static Status partition(Tx *tx, const Args *a, Var **out)
{
    return parted(tx, a, 0, out);
}

static Status rpartition(Tx *tx, const Args *a, Var **out)
{
    return parted(tx, a, 2, out);
}

/* -- join ------------------------------------------------------------------- */

static Status join(Tx *tx, const Args *a, Var **out)
{
    PyObject *sep, *list = tx_hold(tx, PyList_New(0));
    Var **items;
    Py_ssize_t n;
    TRY_PTR(list);
    TRY(self_text(tx, a, &sep));
    if (sep == NULL)
        return ST_DECLINE;
    TRY(var_sequence(tx, a->v[1], "can only join an iterable", &items, &n));
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *text;
        PyTypeObject *t;
        TRY(var_type_of(tx, items[i], &t));
        if (!PyType_HasFeature(t, Py_TPFLAGS_UNICODE_SUBCLASS))
            return raise_type(tx, PyExc_TypeError,
                              "sequence item %zd: expected str instance, %.80s found", i,
                              t->tp_name);
        TRY(text_of(tx, items[i], &text));
        if (PyList_Append(list, text) < 0)
            return ST_ERROR;
    }
    PyObject *all = PyUnicode_Join(sep, list);
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
    PyObject *name = PyTuple_GET_ITEM(part, 1), *spec = PyTuple_GET_ITEM(part, 2);
    Pieces inner;
    Var *v, *spec_var;
    TRY(field_value(f, name, &v));
    TRY(convert(f->tx, PyTuple_GET_ITEM(part, 3), v, &v));
    TRY(pieces_new(f->tx, &inner));
    f->depth++;
    TRY(format_into(f, spec, &inner));
    f->depth--;
    TRY(pieces_join(f->tx, &inner, &spec_var));
    TRY(var_format(f->tx, v, spec_var, &v));
    return pieces_add_var(f->tx, p, v);
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
    PyObject *text;
    Pieces p;
    if (fold_ready(a))
        return ST_DECLINE;
    TRY(self_text(tx, a, &text));
    if (text == NULL)
        return ST_DECLINE;
    if (PyUnicode_GET_LENGTH(text) && !has(text, '{') && !has(text, '}'))
        return *out = a->v[0], ST_OK; /* the very text */
    TRY(pieces_new(tx, &p));
    TRY(format_into(&f, text, &p));
    return pieces_join(tx, &p, out);
}

/* -- % ------------------------------------------------------------------------ */

/* Walks the directives. Each is formatted by Python by itself, so that errors and the effects of __str__ come in their order. */
typedef struct Percent {
    Tx *tx;
    PyObject *format;
    Py_ssize_t at;
    Var *whole, **values;
    Py_ssize_t n, used;
    Pieces out;
} Percent;

/* Errors name the type of the value: what is formatted by its built-in part must be what the letter takes. */
static bool takes(Py_UCS4 c, PyObject *part)
{
    return PyLong_Check(part) || (c == 'c' && PyUnicode_Check(part)) ||
           (PyFloat_Check(part) && c != 0 && c < 128 && strchr("diueEfFgG", (int)c));
}

static Status constant(Percent *p, Var *v, Py_UCS4 c, PyObject **out)
{
    Var *part = v->kind == &kind_object ? object_part(v) : v;
    *out = NULL;
    if (part != NULL)
        TRY(fold_value(p->tx, part, out));
    if (*out && part != v && !takes(c, *out))
        *out = NULL;
    return *out ? ST_OK
                : graph_break(p->tx, BRK_NO_SLOT, "%s",
                              "%-formatting of a value that is no constant");
}

/* What stands for the value: if the directive asks for its text that, and *c becomes 's'. */
static Status argument(Percent *p, Var *v, Py_UCS4 *c, PyObject *args, bool *odd)
{
    PyObject *o;
    TRY(var_real(p->tx, &v));
    bool text = (*c == 's' || *c == 'r' || *c == 'a') && !fold_possible(v);
    if (text) {
        TRY(*c == 's'   ? var_str(p->tx, v, &v)
            : *c == 'r' ? var_repr(p->tx, v, &v)
                        : var_ascii(p->tx, v, &v));
        *c = 's';
        TRY(text_of(p->tx, v, &o));
        TRY(var_real(p->tx, &v));
        *odd = v->type != &PyUnicode_Type;
    } else {
        TRY(constant(p, v, *c, &o));
    }
    return PyList_Append(args, o) < 0 ? ST_ERROR : ST_OK;
}

/* A directive whose flags and so on begin at `flags`, with c as its letter. Blanks stand for what is in front of it, since errors name the place. */
static Status format_one(Percent *p, Py_ssize_t flags, Py_UCS4 c, PyObject *args)
{
    Tx *tx = p->tx;
    PyObject *blank = tx_hold(tx, PyUnicode_FromString(" "));
    PyObject *front = blank ? tx_hold(tx, PySequence_Repeat(blank, flags - 1)) : NULL;
    PyObject *one = tx_hold(tx, PyUnicode_Substring(p->format, flags, p->at - 1));
    PyObject *tuple = tx_hold(tx, PyList_AsTuple(args));
    if (front == NULL || one == NULL || tuple == NULL)
        return ST_ERROR;
    PyObject *format = tx_hold(tx, PyUnicode_FromFormat("%U%%%U%c", front, one, (int)c));
    TRY_PTR(format);
    PyObject *text = tx_hold(tx, PyUnicode_Format(format, tuple));
    if (text == NULL)
        return raise_now(tx);
    text = tx_hold(tx, PyUnicode_Substring(text, flags - 1, PyUnicode_GET_LENGTH(text)));
    TRY_PTR(text);
    return pieces_add(&p->out, text);
}

/* What could be asked by name may be left over. */
static bool by_name(PyTypeObject *t)
{
    return t->tp_as_mapping && t->tp_as_mapping->mp_subscript &&
           !PyType_IsSubtype(t, &PyTuple_Type) && !PyType_IsSubtype(t, &PyUnicode_Type);
}

/* `(key)`: the mapping's value under it; nothing can be taken in order from then on. */
static Status named(Percent *p, Var **out)
{
    Py_ssize_t from = p->at + 1, len = PyUnicode_GET_LENGTH(p->format);
    Var *key;
    if (!by_name(p->whole->type))
        return raise_type(p->tx, PyExc_TypeError, "format requires a mapping");
    for (int open = 1; open > 0;) {
        if (++p->at >= len)
            return raise_type(p->tx, PyExc_ValueError, "incomplete format key");
        Py_UCS4 c = PyUnicode_READ_CHAR(p->format, p->at);
        open += c == '(' ? 1 : c == ')' ? -1 : 0;
    }
    TRY(const_new(p->tx, PyUnicode_Substring(p->format, from, p->at), &key));
    p->at++;
    p->used = p->n;
    return var_getitem(p->tx, p->whole, key, out);
}

static Status take(Percent *p, Var **given, Var **out)
{
    *out = *given;
    *given = NULL;
    if (*out == NULL && p->used >= p->n)
        return raise_type(p->tx, PyExc_TypeError,
                          "not enough arguments for format string");
    if (*out == NULL)
        *out = p->values[p->used++];
    return ST_OK;
}

/* One directive behind its %. */
static Status directive(Percent *p)
{
    Py_ssize_t len = PyUnicode_GET_LENGTH(p->format), flags;
    PyObject *args = tx_hold(p->tx, PyList_New(0));
    Var *given = NULL, *v;
    TRY_PTR(args);
    if (p->at < len && PyUnicode_READ_CHAR(p->format, p->at) == '(')
        TRY(named(p, &given));
    for (flags = p->at; p->at < len; p->at++) {
        bool odd = false;
        Py_UCS4 c = PyUnicode_READ_CHAR(p->format, p->at);
        if (c == '%' && p->at == flags) {
            p->at++;
            return format_one(p, flags, c, args);
        }
        if (c != 0 && c < 128 && strchr("#0- +.123456789hlL", (int)c))
            continue;
        TRY(take(p, &given, &v));
        TRY(argument(p, v, &c, args, &odd));
        if (c == '*')
            continue;
        p->out.odd |= odd && p->at == flags;
        p->at++;
        return format_one(p, flags, c, args);
    }
    return raise_type(p->tx, PyExc_ValueError, "incomplete format");
}

/* Up to the next directive. */
static Status literal(Percent *p)
{
    Py_ssize_t end =
        PyUnicode_FindChar(p->format, '%', p->at, PyUnicode_GET_LENGTH(p->format), 1);
    end = end < 0 ? PyUnicode_GET_LENGTH(p->format) : end;
    PyObject *text = tx_hold(p->tx, PyUnicode_Substring(p->format, p->at, end));
    TRY_PTR(text);
    p->at = end;
    return pieces_add(&p->out, text);
}

Status str_percent(Tx *tx, PyObject *format, Var *values, Var **out)
{
    Percent p = { .tx = tx, .format = format, .values = &values, .n = 1 };
    TRY(pieces_new(tx, &p.out));
    TRY(var_real(tx, &values));
    p.whole = values;
    if (PyType_IsSubtype(values->type, &PyTuple_Type) && var_content(values))
        TRY(var_unpack(tx, var_content(values), &p.values, &p.n));
    while (p.at < PyUnicode_GET_LENGTH(format)) {
        TRY(literal(&p));
        if (p.at++ < PyUnicode_GET_LENGTH(format))
            TRY(directive(&p));
    }
    if (p.used < p.n && !by_name(values->type))
        return raise_type(tx, PyExc_TypeError,
                          "not all arguments converted during string formatting");
    return pieces_join(tx, &p.out, out);
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
    { "builtins.str.partition", 2, 2, partition, NULL },
    { "builtins.str.rpartition", 2, 2, rpartition, NULL },
    { "builtins.bytes.partition", 2, 2, partition, NULL },
    { "builtins.bytes.rpartition", 2, 2, rpartition, NULL },
    { "builtins.str.format", 1, -1, format, ANY_KW },
    { "builtins.str.__mod__", 2, 2, mod, NULL },
    { 0 },
};
