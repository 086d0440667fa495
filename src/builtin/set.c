/*
 * builtin/set.c -- set and frozenset: constructors and methods. Constants among themselves are left to folding.
 */
#include "builtin/parts.h"

/* -- Receivers ---------------------------------------------------------------------- */

static PyTypeObject *base_type(Var *v)
{
    return PyType_IsSubtype(v->type, &PyFrozenSet_Type) ? &PyFrozenSet_Type : &PySet_Type;
}

/* Any set, constants too. */
static Status any_set(Tx *tx, const Args *a, SetVar **s, PyTypeObject **base)
{
    if (fold_ready(a))
        return ST_DECLINE;
    TRY(var_real(tx, &a->v[0]));
    Var *c = var_content(a->v[0]);
    bool ok = c && (c->kind == &kind_set ||
                    (c->kind == &kind_const && PyAnySet_Check(c->real)));
    if (!ok)
        return ST_DECLINE;
    TRY(set_from(tx, c, true, s));
    *base = base_type(c);
    return ST_OK;
}

static Status mutable_set(Tx *tx, const Args *a, SetVar **s)
{
    SELF(it, SetVar, set);
    if (base_type(&it->v) != &PySet_Type)
        return ST_DECLINE;
    *s = it;
    return ST_OK;
}

static Status is_set_like(Tx *tx, Var *v, bool *yes)
{
    PyTypeObject *t;
    TRY(var_type_of(tx, v, &t));
    *yes = PyType_IsSubtype(t, &PySet_Type) || PyType_IsSubtype(t, &PyFrozenSet_Type);
    return ST_OK;
}

/* A set of whatever `v` gives; its own SetVar if it is one. */
static Status operand(Tx *tx, Var *v, SetVar **out)
{
    bool set;
    TRY(is_set_like(tx, v, &set));
    if (set) {
        TRY(set_from(tx, v, true, out));
        if (*out)
            return ST_OK;
    }
    TRY(set_make(tx, &PySet_Type, out));
    return set_update(tx, *out, v);
}

/* -- Constructors ----------------------------------------------------------------------- */

static Status set_(Tx *tx, const Args *a, Var **out)
{
    SetVar *s;
    TRY(set_make(tx, &PySet_Type, &s));
    if (a->n)
        TRY(set_update(tx, s, a->v[0]));
    *out = &s->v;
    return ST_OK;
}

static Status frozenset_(Tx *tx, const Args *a, Var **out)
{
    SetVar *s;
    PyTypeObject *t;
    if (fold_ready(a))
        return ST_DECLINE;
    TRY(var_type_of(tx, a->v[0], &t));
    if (t == &PyFrozenSet_Type)
        return *out = a->v[0], ST_OK;
    TRY(set_make(tx, &PyFrozenSet_Type, &s));
    TRY(set_update(tx, s, a->v[0]));
    *out = &s->v;
    return ST_OK;
}

static Status set_new_(Tx *tx, const Args *a, Var **out)
{
    PyTypeObject *t = class_arg(a, &PySet_Type);
    if (t == NULL)
        return ST_DECLINE;
    if (t == &PySet_Type)
        return set_new(tx, t, out);
    Var *content;
    TRY(set_new(tx, &PySet_Type, &content));
    return new_with_content(tx, t, content, out);
}

static Status frozenset_new_(Tx *tx, const Args *a, Var **out)
{
    PyTypeObject *t = class_arg(a, &PyFrozenSet_Type);
    SetVar *s;
    if (t == NULL)
        return ST_DECLINE;
    TRY(set_make(tx, &PyFrozenSet_Type, &s));
    if (a->n > 1)
        TRY(set_update(tx, s, a->v[1]));
    return t == &PyFrozenSet_Type ? (*out = &s->v, ST_OK)
                                  : new_with_content(tx, t, &s->v, out);
}

static Status set_init(Tx *tx, const Args *a, Var **out)
{
    SetVar *s;
    TRY(mutable_set(tx, a, &s));
    if (s->v.real || s->items.n)
        TRY(set_clear(tx, s));
    if (a->n > 1)
        TRY(set_update(tx, s, a->v[1]));
    return give_none(tx, out);
}

/* -- Members -------------------------------------------------------------------------------- */

static Status add(Tx *tx, const Args *a, Var **out)
{
    SetVar *s;
    TRY(mutable_set(tx, a, &s));
    TRY(set_add(tx, s, a->v[1]));
    return give_none(tx, out);
}

static Status discard(Tx *tx, const Args *a, Var **out)
{
    SetVar *s;
    bool was;
    TRY(mutable_set(tx, a, &s));
    TRY(set_discard(tx, s, a->v[1], &was));
    return give_none(tx, out);
}

static Status remove_(Tx *tx, const Args *a, Var **out)
{
    SetVar *s;
    bool was;
    TRY(mutable_set(tx, a, &s));
    TRY(set_discard(tx, s, a->v[1], &was));
    return was ? give_none(tx, out) : key_error(tx, a->v[1]);
}

static Status pop_(Tx *tx, const Args *a, Var **out)
{
    SetVar *s;
    TRY(mutable_set(tx, a, &s));
    TRY(set_pop(tx, s, out));
    if (*out != NULL)
        return ST_OK;
    Var *message;
    TRY(const_str(tx, "pop from an empty set", &message));
    return key_error(tx, message);
}

static Status clear(Tx *tx, const Args *a, Var **out)
{
    SetVar *s;
    TRY(mutable_set(tx, a, &s));
    TRY(set_clear(tx, s));
    return give_none(tx, out);
}

static Status contains(Tx *tx, const Args *a, Var **out)
{
    SetVar *s;
    PyTypeObject *base;
    bool yes;
    TRY(any_set(tx, a, &s, &base));
    TRY(set_has(tx, s, a->v[1], &yes));
    return give_bool(tx, yes, out);
}

/* -- New sets ---------------------------------------------------------------------------------- */

static Status copy(Tx *tx, const Args *a, Var **out)
{
    SetVar *s, *made;
    PyTypeObject *base;
    TRY(any_set(tx, a, &s, &base));
    if (base == &PyFrozenSet_Type && a->v[0]->type == base)
        return *out = a->v[0], ST_OK;
    TRY(set_copy(tx, s, base, &made));
    *out = &made->v;
    return ST_OK;
}

static Status union_(Tx *tx, const Args *a, Var **out)
{
    SetVar *s, *made;
    PyTypeObject *base;
    TRY(any_set(tx, a, &s, &base));
    TRY(set_copy(tx, s, base, &made));
    for (int i = 1; i < a->n; i++)
        TRY(set_update(tx, made, a->v[i]));
    *out = &made->v;
    return ST_OK;
}

/* What both have; an iterable is walked and gives its own objects. */
static Status common(Tx *tx, SetVar *s, Var *other, PyTypeObject *base, SetVar **out)
{
    bool set, yes;
    SetVar *b;
    Var *it, *item;
    TRY(is_set_like(tx, other, &set));
    if (set) {
        TRY(operand(tx, other, &b));
        return b == s ? set_copy(tx, s, base, out)
                      : set_algebra(tx, s, b, '&', base, out);
    }
    TRY(set_make(tx, base, out));
    TRY(var_iter(tx, other, &it));
    for (;;) {
        TRY(var_next(tx, it, &item));
        if (item == NULL)
            return ST_OK;
        TRY(set_has(tx, s, item, &yes));
        if (yes)
            TRY(set_add(tx, *out, item));
    }
}

static Status intersect_all(Tx *tx, const Args *a, SetVar *s, PyTypeObject *base,
                            SetVar **out)
{
    if (a->n == 1)
        return set_copy(tx, s, base, out);
    *out = s;
    for (int i = 1; i < a->n; i++)
        TRY(common(tx, *out, a->v[i], base, out));
    return ST_OK;
}

static Status intersection(Tx *tx, const Args *a, Var **out)
{
    SetVar *s, *made;
    PyTypeObject *base;
    TRY(any_set(tx, a, &s, &base));
    TRY(intersect_all(tx, a, s, base, &made));
    *out = &made->v;
    return ST_OK;
}

static Status discard_all(Tx *tx, SetVar *s, Var *other)
{
    SetVar *b;
    TRY(operand(tx, other, &b));
    return b == s ? set_clear(tx, s) : set_algebra_in_place(tx, s, b, '-');
}

static Status difference(Tx *tx, const Args *a, Var **out)
{
    SetVar *s, *made, *b;
    PyTypeObject *base;
    bool set = false;
    TRY(any_set(tx, a, &s, &base));
    if (a->n > 1)
        TRY(is_set_like(tx, a->v[1], &set));
    if (set) {
        TRY(operand(tx, a->v[1], &b));
        TRY(set_algebra(tx, s, b, '-', base, &made));
    } else {
        TRY(set_copy(tx, s, base, &made));
    }
    for (int i = set ? 2 : 1; i < a->n; i++)
        TRY(discard_all(tx, made, a->v[i]));
    *out = &made->v;
    return ST_OK;
}

static Status symmetric_difference(Tx *tx, const Args *a, Var **out)
{
    SetVar *s, *b, *made;
    PyTypeObject *base;
    bool set;
    TRY(any_set(tx, a, &s, &base));
    TRY(is_set_like(tx, a->v[1], &set));
    TRY(operand(tx, a->v[1], &b));
    if (set) {
        TRY(set_algebra(tx, s, b, '^', base, &made));
    } else {
        made = b;
        made->v.type = base;
        TRY(set_algebra_in_place(tx, made, s, '^'));
    }
    *out = &made->v;
    return ST_OK;
}

/* -- In place ------------------------------------------------------------------------------------- */

static Status update(Tx *tx, const Args *a, Var **out)
{
    SetVar *s;
    TRY(mutable_set(tx, a, &s));
    for (int i = 1; i < a->n; i++)
        TRY(set_update(tx, s, a->v[i]));
    return give_none(tx, out);
}

static Status difference_update(Tx *tx, const Args *a, Var **out)
{
    SetVar *s;
    TRY(mutable_set(tx, a, &s));
    for (int i = 1; i < a->n; i++)
        TRY(discard_all(tx, s, a->v[i]));
    return give_none(tx, out);
}

static Status intersection_update(Tx *tx, const Args *a, Var **out)
{
    SetVar *s, *made;
    TRY(mutable_set(tx, a, &s));
    TRY(intersect_all(tx, a, s, &PySet_Type, &made));
    TRY(set_become(tx, s, made));
    return give_none(tx, out);
}

static Status symmetric_difference_update(Tx *tx, const Args *a, Var **out)
{
    SetVar *s, *b;
    TRY(mutable_set(tx, a, &s));
    TRY(operand(tx, a->v[1], &b));
    if (b == s)
        TRY(set_clear(tx, s));
    else
        TRY(set_algebra_in_place(tx, s, b, '^'));
    return give_none(tx, out);
}

/* -- Questions --------------------------------------------------------------------------------------- */

static Status relation(Tx *tx, const Args *a, int op, Var **out)
{
    SetVar *s, *b;
    PyTypeObject *base;
    bool yes;
    TRY(any_set(tx, a, &s, &base));
    TRY(operand(tx, a->v[1], &b));
    TRY(set_compare(tx, s, b, op, &yes));
    return give_bool(tx, yes, out);
}

static Status issubset(Tx *tx, const Args *a, Var **out)
{
    return relation(tx, a, Py_LE, out);
}

static Status issuperset(Tx *tx, const Args *a, Var **out)
{
    return relation(tx, a, Py_GE, out);
}

static Status isdisjoint(Tx *tx, const Args *a, Var **out)
{
    SetVar *s, *both;
    PyTypeObject *base;
    TRY(any_set(tx, a, &s, &base));
    TRY(common(tx, s, a->v[1], &PySet_Type, &both));
    return give_bool(tx, both->items.n == 0, out);
}

/* -- The table ------------------------------------------------------------------------------------------ */

#define NEW_SETS(type)                                                                   \
    { type ".copy", 1, 1, copy, NULL }, { type ".union", 1, -1, union_, NULL },          \
        { type ".intersection", 1, -1, intersection, NULL },                             \
        { type ".difference", 1, -1, difference, NULL },                                 \
        { type ".symmetric_difference", 2, 2, symmetric_difference, NULL },              \
        { type ".issubset", 2, 2, issubset, NULL },                                      \
        { type ".issuperset", 2, 2, issuperset, NULL },                                  \
        { type ".isdisjoint", 2, 2, isdisjoint, NULL },                                  \
    {                                                                                    \
        type ".__contains__", 2, 2, contains, NULL                                       \
    }

const Handler handlers_set[] = {
    { "builtins.set", 0, 1, set_, NULL },
    { "builtins.set.__new__", 1, -1, set_new_, ANY_KW },
    { "builtins.set.__init__", 1, 2, set_init, NULL },
    { "builtins.set.add", 2, 2, add, NULL },
    { "builtins.set.discard", 2, 2, discard, NULL },
    { "builtins.set.remove", 2, 2, remove_, NULL },
    { "builtins.set.pop", 1, 1, pop_, NULL },
    { "builtins.set.clear", 1, 1, clear, NULL },
    { "builtins.set.update", 1, -1, update, NULL },
    { "builtins.set.difference_update", 1, -1, difference_update, NULL },
    { "builtins.set.intersection_update", 1, -1, intersection_update, NULL },
    { "builtins.set.symmetric_difference_update", 2, 2, symmetric_difference_update,
      NULL },
    NEW_SETS("builtins.set"),
    { "builtins.frozenset", 0, 1, frozenset_, NULL },
    { "builtins.frozenset.__new__", 1, 2, frozenset_new_, NULL },
    NEW_SETS("builtins.frozenset"),
    { 0 },
};
