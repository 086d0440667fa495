/*
 * builtin/seq.c -- list, tuple and slice: constructors and methods.
 */
#include "builtin/parts.h"
#include "var/bytearray.h"
#include "var/wrap.h"

/* -- Shared ---------------------------------------------------------------------- */

PyTypeObject *class_arg(const Args *a, PyTypeObject *base)
{
    PyObject *t = a->v[0]->real;
    bool ok = t && PyType_Check(t) && PyType_IsSubtype((PyTypeObject *)t, base);
    return ok ? (PyTypeObject *)t : NULL;
}

Status new_with_content(Tx *tx, PyTypeObject *t, Var *content, Var **out)
{
    TRY(object_new(tx, t, out));
    if ((*out)->kind != &kind_object)
        return graph_break(tx, BRK_UNKNOWN_TYPE, "%s", t->tp_name);
    AS(ObjectVar, *out)->content = content;
    return ST_OK;
}

Status index_bounds(Tx *tx, const Args *a, int at, Py_ssize_t n, Py_ssize_t *start,
                    Py_ssize_t *stop)
{
    Py_ssize_t *bound[2] = { start, stop };
    *start = 0;
    *stop = n;
    for (int i = 0; i < 2 && at + i < a->n; i++) {
        PyObject *k;
        PyTypeObject *t;
        TRY(var_type_of(tx, a->v[at + i], &t));
        if (!(t->tp_as_number && t->tp_as_number->nb_index))
            return raise_type(
                tx, PyExc_TypeError,
                "slice indices must be integers or have an __index__ method");
        TRY(var_const(tx, a->v[at + i], &k));
        if (k == NULL)
            return graph_break(tx, BRK_NO_SLOT, "bound of type %s", t->tp_name);
        Py_ssize_t b = PyNumber_AsSsize_t(k, NULL); /* clamps */
        if (b < 0)
            b = b + n < 0 ? 0 : b + n;
        *bound[i] = b > n ? n : b;
    }
    return ST_OK;
}

static Status not_in(Tx *tx, Var *item)
{
    Var *r;
    PyObject *text;
    TRY(var_repr(tx, item, &r));
    TRY(var_const(tx, r, &text));
    if (text == NULL)
        return graph_break(tx, BRK_NO_SLOT, "text of %s", type_name(tx, item));
    return raise_type(tx, PyExc_ValueError, "%U is not in list", text);
}

/* -- Constructors ------------------------------------------------------------------ */

static Status list_(Tx *tx, const Args *a, Var **out)
{
    Var *l;
    TRY(list_new(tx, NULL, 0, &l));
    if (a->n)
        TRY(list_extend(tx, AS(ListVar, l), a->v[0]));
    *out = l;
    return ST_OK;
}

static Status list_new_(Tx *tx, const Args *a, Var **out)
{
    PyTypeObject *t = class_arg(a, &PyList_Type);
    Var *l;
    if (t == NULL)
        return ST_DECLINE;
    TRY(list_new(tx, NULL, 0, &l));
    return t == &PyList_Type ? (*out = l, ST_OK) : new_with_content(tx, t, l, out);
}

static Status list_init(Tx *tx, const Args *a, Var **out)
{
    PyTypeObject *t;
    SELF(l, ListVar, list);
    TRY(var_type_of(tx, a->v[0], &t));
    if (a->nkw && t->tp_new == PyList_Type.tp_new) /* else they are passed over */
        return ST_DECLINE;
    if (l->v.real || l->items.n)
        TRY(list_clear(tx, l));
    if (a->n > 1)
        TRY(list_extend(tx, l, a->v[1]));
    return give_none(tx, out);
}

static Status tuple_from(Tx *tx, PyTypeObject *t, Var *iterable, Var **out)
{
    Var **items = NULL;
    Py_ssize_t n = 0;
    if (iterable != NULL) {
        PyTypeObject *it;
        TRY(var_type_of(tx, iterable, &it));
        TRY(var_real(tx, &iterable));
        if (it == &PyTuple_Type && t == it)
            return *out = iterable, ST_OK;
        TRY(var_tuple_items(tx, iterable, &items, &n));
    }
    return tuple_new_type(tx, t, items, n, out);
}

static Status tuple_(Tx *tx, const Args *a, Var **out)
{
    return tuple_from(tx, &PyTuple_Type, a->n ? a->v[0] : NULL, out);
}

/* Subclasses without a dictionary and operators of their own (namedtuples) are tuples with a type. */
static Status tuple_new_(Tx *tx, const Args *a, Var **out)
{
    PyTypeObject *t = class_arg(a, &PyTuple_Type);
    if (t == NULL)
        return ST_DECLINE;
    if (t == &PyTuple_Type || wrap_is_tuple(t))
        return tuple_from(tx, t, a->n > 1 ? a->v[1] : NULL, out);
    Var *content;
    TRY(tuple_from(tx, &PyTuple_Type, a->n > 1 ? a->v[1] : NULL, &content));
    return new_with_content(tx, t, content, out);
}

/* torch.Size() takes whole numbers only. */
static Status size_(Tx *tx, const Args *a, Var **out)
{
    TRY(tuple_from(tx, torch_types.size, a->n ? a->v[0] : NULL, out));
    return size_check(tx, AS(TupleVar, *out)->items, AS(TupleVar, *out)->n);
}

static Status size_numel(Tx *tx, const Args *a, Var **out)
{
    SELF(t, TupleVar, tuple);
    TRY(tuple_open(tx, t));
    Var *r;
    TRY(const_int(tx, 1, &r));
    for (Py_ssize_t i = 0; i < t->n; i++)
        TRY(var_binary(tx, r, t->items[i], BINOP_MULTIPLY, &r));
    *out = r;
    return ST_OK;
}

static Status slice_(Tx *tx, const Args *a, Var **out)
{
    Var *none = tx_none(tx);
    if (a->n == 1)
        return slice_new(tx, none, a->v[0], none, out);
    return slice_new(tx, a->v[0], a->v[1], a->n == 3 ? a->v[2] : none, out);
}

static Status slice_indices(Tx *tx, const Args *a, Var **out)
{
    TRY(var_real(tx, &a->v[0]));
    if (!is_slice(a->v[0]))
        return ST_DECLINE;
    PyObject *real, *k[3], *len;
    Var *part[3];
    TRY(var_index_value(tx, a->v[1], &part[0]));
    TRY(var_const(tx, part[0], &len));
    for (int i = 0; i < 3; i++) {
        TRY(slice_part(tx, a->v[0], i, &part[i]));
        TRY(var_const(tx, part[i], &k[i]));
        if (k[i] == NULL || len == NULL)
            return graph_break(tx, BRK_NO_SLOT, "slice.indices()");
    }
    TRY_PTR(real = tx_hold(tx, PySlice_New(k[0], k[1], k[2])));
    PyObject *r = PyObject_CallMethod(real, "indices", "O", len);
    return r ? const_new(tx, r, out) : raise_now(tx);
}

/* -- list: writing ------------------------------------------------------------------- */

static Status append(Tx *tx, const Args *a, Var **out)
{
    SELF(l, ListVar, list);
    TRY(list_push(tx, l, a->v[1]));
    return give_none(tx, out);
}

static Status extend(Tx *tx, const Args *a, Var **out)
{
    SELF(l, ListVar, list);
    TRY(list_extend(tx, l, a->v[1]));
    return give_none(tx, out);
}

static Status insert(Tx *tx, const Args *a, Var **out)
{
    SELF(l, ListVar, list);
    Py_ssize_t i;
    TRY(var_ssize(tx, a->v[1], NULL, &i));
    TRY(list_open(tx, l));
    Py_ssize_t n = (Py_ssize_t)l->items.n;
    if (i < 0)
        i = i + n < 0 ? 0 : i + n;
    TRY(list_insert_at(tx, l, i > n ? n : i, a->v[2]));
    return give_none(tx, out);
}

static Status pop_(Tx *tx, const Args *a, Var **out)
{
    SELF(l, ListVar, list);
    Py_ssize_t i = -1;
    if (a->n > 1)
        TRY(var_ssize(tx, a->v[1], NULL, &i));
    TRY(list_open(tx, l));
    Py_ssize_t n = (Py_ssize_t)l->items.n;
    if (n == 0)
        return raise_type(tx, PyExc_IndexError, "pop from empty list");
    if (i < 0)
        i += n;
    if (i < 0 || i >= n)
        return raise_type(tx, PyExc_IndexError, "pop index out of range");
    *out = l->items.v[i];
    return list_delete_at(tx, l, i);
}

static Status remove_(Tx *tx, const Args *a, Var **out)
{
    SELF(l, ListVar, list);
    Py_ssize_t at;
    TRY(list_open(tx, l));
    TRY(find_item(tx, l->items.v, (Py_ssize_t)l->items.n, a->v[1], &at));
    if (at < 0)
        return raise_type(tx, PyExc_ValueError, "list.remove(x): x not in list");
    TRY(list_delete_at(tx, l, at));
    return give_none(tx, out);
}

static Status clear(Tx *tx, const Args *a, Var **out)
{
    SELF(l, ListVar, list);
    TRY(list_clear(tx, l));
    return give_none(tx, out);
}

static Status reverse(Tx *tx, const Args *a, Var **out)
{
    SELF(l, ListVar, list);
    TRY(list_reverse(tx, l));
    return give_none(tx, out);
}

/* The list is empty while keys and comparisons run, as CPython's is, and whatever they put in is an error. */
static Status sort_(Tx *tx, const Args *a, Var **out)
{
    SELF(l, ListVar, list);
    Var *key, **sorted, **items;
    bool down;
    TRY(sort_options(tx, a, &key, &down));
    TRY(list_open(tx, l));
    Py_ssize_t n = (Py_ssize_t)l->items.n;
    items = l->items.v;
    TRY(list_replace(tx, l, NULL, 0));
    Status st = sort_items(tx, items, n, key, down, &sorted);
    if (st != ST_OK && st != ST_RAISE)
        return st;
    bool modified = l->items.n != 0;
    TRY(list_replace(tx, l, st == ST_OK ? sorted : items, n));
    TRY(st);
    if (modified)
        return raise_type(tx, PyExc_ValueError, "list modified during sort");
    return give_none(tx, out);
}

/* -- list and tuple: reading ------------------------------------------------------------ */

static Status copy(Tx *tx, const Args *a, Var **out)
{
    SELF(l, ListVar, list);
    TRY(list_open(tx, l));
    return list_new(tx, l->items.v, (Py_ssize_t)l->items.n, out);
}

static Status search(Tx *tx, const Args *a, Py_ssize_t *at)
{
    Var **items;
    Py_ssize_t n, start, stop;
    bool known;
    TRY(items_peek(tx, a->v[0], &items, &n, &known));
    if (!known)
        return ST_DECLINE;
    TRY(index_bounds(tx, a, 2, n, &start, &stop));
    *at = -1;
    if (start < stop)
        TRY(find_item(tx, items + start, stop - start, a->v[1], at));
    if (*at >= 0)
        *at += start;
    return ST_OK;
}

static Status list_index(Tx *tx, const Args *a, Var **out)
{
    Py_ssize_t at;
    TRY(search(tx, a, &at));
    return at < 0 ? not_in(tx, a->v[1]) : const_int(tx, at, out);
}

static Status tuple_index(Tx *tx, const Args *a, Var **out)
{
    Py_ssize_t at;
    TRY(search(tx, a, &at));
    if (at < 0)
        return raise_type(tx, PyExc_ValueError, "tuple.index(x): x not in tuple");
    return const_int(tx, at, out);
}

static Status count(Tx *tx, const Args *a, Var **out)
{
    Var **items;
    Py_ssize_t n, found;
    bool known;
    TRY(items_peek(tx, a->v[0], &items, &n, &known));
    if (!known)
        return ST_DECLINE;
    TRY(count_item(tx, items, n, a->v[1], &found));
    return const_int(tx, found, out);
}

static Status list_reversed(Tx *tx, const Args *a, Var **out)
{
    SELF(l, ListVar, list);
    IterVar *it;
    TRY(list_open(tx, l));
    TRY(iter_make(tx, &PyListRevIter_Type, &l->v, NULL, 0, &it));
    it->step = -1;
    it->at = l->items.n;
    *out = &it->v;
    return ST_OK;
}

static Status list_iadd(Tx *tx, const Args *a, Var **out)
{
    SELF(l, ListVar, list);
    TRY(list_extend(tx, l, a->v[1]));
    *out = a->v[0];
    return ST_OK;
}

/* As the slot wrappers of * convert it. */
static Status repeats(Tx *tx, const Args *a, Var **times)
{
    Py_ssize_t n;
    TRY(var_ssize(tx, a->v[1], PyExc_OverflowError, &n));
    return const_int(tx, n, times);
}

static Status list_imul(Tx *tx, const Args *a, Var **out)
{
    SELF(l, ListVar, list);
    Var *times;
    TRY(repeats(tx, a, &times));
    TRY(var_binary(tx, &l->v, times, IN_PLACE(MULTIPLY), out));
    *out = a->v[0];
    return ST_OK;
}

/* -- Slot wrappers of the built-in part, asked for by name (super().__getitem__ …) ---------- */

static Status content_of(Tx *tx, const Args *a, Var **out)
{
    TRY(var_real(tx, &a->v[0]));
    *out = var_content(a->v[0]);
    if (*out && (*out)->kind != &kind_object)
        return ST_OK;
    return ST_DECLINE;
}

static Status get_item(Tx *tx, const Args *a, Var **out)
{
    Var *c;
    TRY(content_of(tx, a, &c));
    return var_getitem(tx, c, a->v[1], out);
}

/* The sequence's own +, whatever operators the other side has. */
static Status add(Tx *tx, const Args *a, Var **out)
{
    Var *c, *other = a->v[1];
    TRY(content_of(tx, a, &c));
    TRY(var_real(tx, &other));
    PyTypeObject *base = c->kind == &kind_list ? &PyList_Type : &PyTuple_Type;
    if (c->kind->binary == NULL || !PyType_IsSubtype(c->type, base))
        return ST_DECLINE;
    Var *theirs = var_content(other);
    if (theirs && PyType_IsSubtype(theirs->type, base))
        return c->kind->binary(tx, c, theirs, BINOP_ADD, false, out);
    return raise_type(tx, PyExc_TypeError,
                      "can only concatenate %s (not \"%.200s\") to %s", base->tp_name,
                      other->type->tp_name, base->tp_name);
}

static Status times(Tx *tx, const Args *a, bool reflected, Var **out)
{
    Var *c, *n;
    TRY(content_of(tx, a, &c));
    if (c->kind->binary == NULL)
        return ST_DECLINE;
    TRY(repeats(tx, a, &n));
    return c->kind->binary(tx, c, n, BINOP_MULTIPLY, reflected, out);
}

static Status mul(Tx *tx, const Args *a, Var **out)
{
    return times(tx, a, false, out);
}

static Status rmul(Tx *tx, const Args *a, Var **out)
{
    return times(tx, a, true, out);
}

static Status compare(Tx *tx, const Args *a, int op, Var **out)
{
    Var *c;
    TRY(content_of(tx, a, &c));
    TRY(var_real(tx, &a->v[1]));
    if (c->kind == &kind_const || c->kind->compare == NULL)
        return ST_DECLINE;
    return c->kind->compare(tx, c, a->v[1], op, out);
}

#define COMPARE(name, op)                                                                \
    static Status name(Tx *tx, const Args *a, Var **out)                                 \
    {                                                                                    \
        return compare(tx, a, op, out);                                                  \
    }
COMPARE(lt, Py_LT)
COMPARE(le, Py_LE)
COMPARE(eq, Py_EQ)
COMPARE(ne, Py_NE)
COMPARE(gt, Py_GT)
COMPARE(ge, Py_GE)

#define COMPARES(type)                                                                   \
    { type ".__lt__", 2, 2, lt, NULL }, { type ".__le__", 2, 2, le, NULL },              \
        { type ".__eq__", 2, 2, eq, NULL }, { type ".__ne__", 2, 2, ne, NULL },          \
        { type ".__gt__", 2, 2, gt, NULL },                                              \
    {                                                                                    \
        type ".__ge__", 2, 2, ge, NULL                                                   \
    }

/* -- The table --------------------------------------------------------------------------------- */

static Status len_(Tx *tx, const Args *a, Var **out)
{
    return var_len(tx, a->v[0], out);
}

static Status from_hex(Tx *tx, const Args *a, Var **out)
{
    PyObject *text, *made;
    TRY(var_real(tx, &a->v[0]));
    TRY(var_const(tx, a->v[1], &text));
    if (a->v[0]->real != (PyObject *)&PyByteArray_Type || text == NULL)
        return ST_DECLINE;
    made = tx_hold(tx, PyObject_CallMethod(a->v[0]->real, "fromhex", "O", text));
    return made ? bytearray_like(tx, made, out) : raise_now(tx);
}

/* b",".join(parts) with a bytearray among the parts. */
static Status join_bytes(Tx *tx, const Args *a, Var **out)
{
    PyObject *sep, *parts;
    TRY(var_const(tx, a->v[0], &sep));
    if (sep == NULL || !PyBytes_CheckExact(sep))
        return ST_DECLINE;
    TRY(bytearray_parts(tx, a->v[1], &parts));
    if (parts == NULL)
        return ST_DECLINE;
    Var **items; /* a single part is the result itself */
    Py_ssize_t n;
    TRY(var_unpack(tx, a->v[1], &items, &n));
    PyObject *r = PyObject_CallMethod(sep, "join", "O", parts);
    return r ? const_result(tx, r, items, n, out) : raise_now(tx);
}

const Handler handlers_seq[] = {
    { "builtins.bytes.join", 2, 2, join_bytes, NULL },
    { "builtins.bytearray", 0, 3, bytearray_make, "source encoding errors" },
    { "builtins.bytearray.fromhex", 2, 2, from_hex, NULL },
    { "builtins.len", 1, 1, len_, NULL },
    { "builtins.list", 0, 1, list_, NULL },
    { "builtins.list.__new__", 1, -1, list_new_, ANY_KW },
    { "builtins.list.__init__", 1, 2, list_init, ANY_KW },
    { "builtins.list.append", 2, 2, append, NULL },
    { "builtins.list.extend", 2, 2, extend, NULL },
    { "builtins.list.insert", 3, 3, insert, NULL },
    { "builtins.list.pop", 1, 2, pop_, NULL },
    { "builtins.list.remove", 2, 2, remove_, NULL },
    { "builtins.list.clear", 1, 1, clear, NULL },
    { "builtins.list.index", 2, 4, list_index, NULL },
    { "builtins.list.count", 2, 2, count, NULL },
    { "builtins.list.sort", 1, 1, sort_, "key reverse" },
    { "builtins.list.reverse", 1, 1, reverse, NULL },
    { "builtins.list.copy", 1, 1, copy, NULL },
    { "builtins.list.__reversed__", 1, 1, list_reversed, NULL },
    { "builtins.list.__getitem__", 2, 2, get_item, NULL },
    { "builtins.list.__add__", 2, 2, add, NULL },
    { "builtins.list.__mul__", 2, 2, mul, NULL },
    { "builtins.list.__rmul__", 2, 2, rmul, NULL },
    { "builtins.list.__iadd__", 2, 2, list_iadd, NULL },
    { "builtins.list.__imul__", 2, 2, list_imul, NULL },
    COMPARES("builtins.list"),
    { "builtins.tuple", 0, 1, tuple_, NULL },
    { "builtins.tuple.__new__", 1, 2, tuple_new_, NULL },
    { "builtins.tuple.index", 2, 4, tuple_index, NULL },
    { "builtins.tuple.count", 2, 2, count, NULL },
    { "builtins.tuple.__add__", 2, 2, add, NULL },
    { "builtins.tuple.__mul__", 2, 2, mul, NULL },
    { "builtins.tuple.__rmul__", 2, 2, rmul, NULL },
    COMPARES("builtins.tuple"),
    { "torch.Size", 0, 1, size_, NULL },
    { "torch.Size.numel", 1, 1, size_numel, NULL },
    { "builtins.slice", 1, 3, slice_, NULL },
    { "builtins.slice.indices", 2, 2, slice_indices, NULL },
    COMPARES("builtins.dict"),
    COMPARES("builtins.set"),
    COMPARES("builtins.frozenset"),
    { 0 },
};
