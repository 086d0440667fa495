/*
 * guard/expr.c -- building scalar expressions: sharing, folding, what can raise, text.
 */
#include "guard/expr.h"
#include "base/same.h"

enum { EXPR_MAX_TEXT = 500, FIRST_BUCKETS = 64, LARGEST_SHIFT = 64, LARGEST_POWER = 16 };

int exprs_init(Exprs *t, Arena *arena)
{
    *t = (Exprs){ .arena = arena, .nbuckets = FIRST_BUCKETS };
    source_print_expr = expr_print;
    t->bucket = arena_alloc(arena, t->nbuckets * sizeof *t->bucket);
    return t->bucket ? 0 : -1;
}

/* -- The table -------------------------------------------------------------- */

static uintptr_t hash_of(const Expr *e)
{
    uintptr_t h = e->kind * 31u + e->op;
    uintptr_t parts[] = { (uintptr_t)e->a >> 4, (uintptr_t)e->b >> 4,
                          (uintptr_t)e->src >> 4,
                          e->kind == EX_CONST ? const_hash(e->value) : 0 };
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        h = (h ^ parts[i]) * UINT64_C(0x9E3779B97F4A7C15) >> 5;
    return h ^ h >> 29;
}

static bool alike(const Expr *x, const Expr *y)
{
    return x->kind == y->kind && x->op == y->op && x->a == y->a && x->b == y->b &&
           x->src == y->src && (x->kind != EX_CONST || const_same(x->value, y->value));
}

static bool grow(Exprs *t)
{
    size_t n = t->nbuckets * 2;
    Expr **bucket = arena_alloc(t->arena, n * sizeof *bucket);
    if (bucket == NULL)
        return false;
    for (size_t i = 0; i < t->nbuckets; i++)
        for (Expr *e = t->bucket[i], *next; e; e = next) {
            next = e->chain;
            size_t at = hash_of(e) & (n - 1);
            e->chain = bucket[at];
            bucket[at] = e;
        }
    t->bucket = bucket;
    t->nbuckets = n;
    return true;
}

static Expr *find(Exprs *t, const Expr *like)
{
    Expr *e = t->bucket[hash_of(like) & (t->nbuckets - 1)];
    while (e && !alike(e, like))
        e = e->chain;
    return e;
}

static uint32_t walks; /* marks of different walks differ for 2**32 of them */

static unsigned count(Expr *e, uint32_t mark)
{
    if (e == NULL || e->seen == mark)
        return 0;
    e->seen = mark;
    return 1 + count(e->a, mark) + count(e->b, mark);
}

/* What both operands are made of counts once; looked at only where that decides something. */
static uint16_t size_of(Expr *e)
{
    unsigned size =
        1u + (e->a ? e->a->size : 0) + (e->b && e->b != e->a ? e->b->size : 0);
    if (size > EXPR_MAX_SIZE && e->b)
        size = count(e, ++walks);
    return size > UINT16_MAX ? UINT16_MAX : (uint16_t)size;
}

/* `like` has kind, op, operands and its value, a new reference (a loan for leaves). */
static Expr *intern(Exprs *t, Expr like)
{
    Expr *e = find(t, &like);
    if (e != NULL) {
        Py_DECREF(like.value);
        return e;
    }
    if ((t->n >= t->nbuckets && !grow(t)) || !(e = arena_alloc(t->arena, sizeof *e))) {
        Py_DECREF(like.value);
        return NULL;
    }
    *e = like;
    if (arena_hold(t->arena, e->value) == NULL)
        return NULL;
    e->size = size_of(e);
    e->total = e->safe && (!e->a || e->a->total) && (!e->b || e->b->total);
    e->large = calc_large(e->value) || (e->a && e->a->large) || (e->b && e->b->large);
    e->id = (uint32_t)t->n++;
    size_t at = hash_of(e) & (t->nbuckets - 1);
    e->chain = t->bucket[at];
    t->bucket[at] = e;
    return e;
}

Expr *expr_leaf(Exprs *t, Source *src, PyObject *value)
{
    assert(calc_exact(value));
    return intern(
        t, (Expr){ .kind = EX_LEAF, .safe = true, .src = src, .value = Py_NewRef(value) });
}

Expr *expr_len(Exprs *t, Source *src, PyObject *value)
{
    return intern(
        t, (Expr){ .kind = EX_LEN, .safe = true, .src = src, .value = Py_NewRef(value) });
}

Expr *expr_dim(Exprs *t, Source *src, int dim, PyObject *value)
{
    return intern(t, (Expr){ .kind = EX_DIM,
                             .op = (uint8_t)dim,
                             .safe = true,
                             .src = src,
                             .value = Py_NewRef(value) });
}

Expr *expr_const(Exprs *t, PyObject *value)
{
    assert(calc_exact(value));
    return intern(t, (Expr){ .kind = EX_CONST, .safe = true, .value = Py_NewRef(value) });
}

/* -- What can raise --------------------------------------------------------- */

static bool integral(const Expr *e)
{
    return PyLong_Check(e->value); /* bools too */
}

static bool floating(const Expr *e)
{
    return PyFloat_CheckExact(e->value);
}

/* Converts to float without overflow. */
static bool fits_float(const Expr *e)
{
    return floating(e) || PyBool_Check(e->value) || (e->kind == EX_CONST && integral(e));
}

/* A constant int in [low, high]. */
static bool const_between(const Expr *e, long low, long high)
{
    int overflow = 1;
    long v = e->kind == EX_CONST && integral(e)
                 ? PyLong_AsLongAndOverflow(e->value, &overflow)
                 : 0;
    return !overflow && v >= low && v <= high;
}

static bool nonzero_const(const Expr *e)
{
    return e->kind == EX_CONST && !PyUnicode_Check(e->value) &&
           PyObject_IsTrue(e->value) == 1;
}

static bool binary_safe(int op, const Expr *a, const Expr *b)
{
    bool ints = integral(a) && integral(b);
    bool floats = (floating(a) || floating(b)) && fits_float(a) && fits_float(b);
    switch (op) {
    case BIN_ADD: return ints || floats || PyUnicode_CheckExact(a->value);
    case BIN_SUB:
    case BIN_MUL: return ints || floats;
    case BIN_AND:
    case BIN_OR:
    case BIN_XOR: return ints;
    case BIN_FLOORDIV:
    case BIN_MOD: return (ints || floats) && nonzero_const(b);
    case BIN_TRUEDIV: /* the quotient of two ints may be too large for a float */
        return floats && nonzero_const(b);
    case BIN_LSHIFT:
    case BIN_RSHIFT: return ints && const_between(b, 0, LARGEST_SHIFT);
    case BIN_POW: return ints && const_between(b, 0, LARGEST_POWER);
    default: return false;
    }
}

static bool unary_safe(char op, const Expr *a)
{
    if (op == 'i')
        return integral(a);
    if (op == 'f')
        return fits_float(a);
    if (op == 's') /* the digits of an int may be too many */
        return !PyLong_CheckExact(a->value);
    if (op >= 'A' && op <= 'Z') /* the others have domains, or overflow */
        return strchr(EXPR_MATH_TOTAL, op) != NULL && fits_float(a);
    return true;
}

/* -- Operations ------------------------------------------------------------- */

/* Constants fold; what is too long, or no scalar, has no place here (NULL, no exception). */
static Expr *made(Exprs *t, Expr e)
{
    if (e.value == NULL)
        return NULL;
    bool constant = e.a->kind == EX_CONST && (!e.b || e.b->kind == EX_CONST);
    if (!calc_exact(e.value) || e.a->size + (e.b ? e.b->size : 0) >= EXPR_HARD_LIMIT) {
        Py_DECREF(e.value);
        return NULL;
    }
    return intern(t, constant ? (Expr){ .kind = EX_CONST, .safe = true, .value = e.value }
                              : e);
}

Expr *expr_unary(Exprs *t, char op, Expr *a)
{
    bool same_type = (op == 'i' && PyLong_CheckExact(a->value)) ||
                     (op == 'f' && floating(a)) ||
                     (op == 's' && PyUnicode_CheckExact(a->value)) ||
                     (op == 'b' && PyBool_Check(a->value));
    if (same_type)
        return a;
    return made(t, (Expr){ .kind = EX_UNARY,
                           .op = (uint8_t)op,
                           .safe = unary_safe(op, a),
                           .a = a,
                           .value = calc_unary(op, a->value) });
}

static bool add_or_sub(int op)
{
    return op == BIN_ADD || op == BIN_SUB;
}

static bool const_int(const Expr *e)
{
    return e->kind == EX_CONST && PyLong_CheckExact(e->value);
}

/* x + c with c any int: the forms x + c, x - c; x + 0 is another object than x (rule 2). */
static Expr *offset(Exprs *t, Expr *x, PyObject *c)
{
    int sign = _PyLong_Sign(c);
    PyObject *size = sign < 0 ? PyNumber_Negative(c) : Py_NewRef(c);
    Expr *k = size ? expr_const(t, size) : NULL;
    Py_XDECREF(size);
    if (k == NULL)
        return NULL;
    int op = sign < 0 ? BIN_SUB : BIN_ADD;
    return made(t, (Expr){ .kind = EX_BINARY,
                           .op = (uint8_t)op,
                           .safe = true,
                           .a = x,
                           .b = k,
                           .value = calc_binary(op, x->value, k->value) });
}

/* (x ± c1) ± c2 of ints. */
static Expr *chained(Exprs *t, int op, Expr *a, Expr *b)
{
    PyObject *c1 =
        a->op == BIN_SUB ? PyNumber_Negative(a->b->value) : Py_NewRef(a->b->value);
    PyObject *c = c1 ? calc_binary(op, c1, b->value) : NULL;
    Expr *e = c ? offset(t, a->a, c) : NULL;
    Py_XDECREF(c1);
    Py_XDECREF(c);
    return e;
}

Expr *expr_binary(Exprs *t, int op, Expr *a, Expr *b)
{
    if (op == BIN_ADD && const_int(a) && integral(b) && b->kind != EX_CONST) {
        Expr *left = a; /* c + n is n + c for ints */
        a = b;
        b = left;
    }
    if (add_or_sub(op) && const_int(b) && integral(a) && a->kind != EX_CONST) {
        bool chain = a->kind == EX_BINARY && add_or_sub(a->op) && const_int(a->b) &&
                     integral(a->a);
        if (chain)
            return chained(t, op, a, b);
        PyObject *c = op == BIN_SUB ? PyNumber_Negative(b->value) : Py_NewRef(b->value);
        Expr *e = c ? offset(t, a, c) : NULL;
        Py_XDECREF(c);
        return e;
    }
    if (calc_excessive(op, a->value, b->value) &&
        !(a->kind == EX_CONST && b->kind == EX_CONST))
        return NULL;
    return made(t, (Expr){ .kind = EX_BINARY,
                           .op = (uint8_t)op,
                           .safe = binary_safe(op, a, b),
                           .a = a,
                           .b = b,
                           .value = calc_binary(op, a->value, b->value) });
}

Expr *expr_compare(Exprs *t, int cmp, Expr *a, Expr *b)
{
    return made(t, (Expr){ .kind = EX_COMPARE,
                           .op = (uint8_t)cmp,
                           .safe = true,
                           .a = a,
                           .b = b,
                           .value = calc_compare(cmp, a->value, b->value) });
}

/* -- Walks ------------------------------------------------------------------ */

static void walk(Expr *e, uint32_t mark, void (*fn)(Expr *, void *), void *arg)
{
    if (e == NULL || e->seen == mark)
        return;
    e->seen = mark;
    walk(e->a, mark, fn, arg);
    walk(e->b, mark, fn, arg);
    if (e->src)
        fn(e, arg);
}

void expr_leaves(Expr *e, void (*fn)(Expr *leaf, void *arg), void *arg)
{
    walk(e, ++walks, fn, arg);
}

static void print(Text *t, const Expr *e, PyObject *slot_names, size_t most);

static void print_operand(Text *t, const Expr *e, PyObject *slot_names, size_t most)
{
    bool wrap = e->kind == EX_BINARY || e->kind == EX_COMPARE;
    text_put(t, wrap ? "(" : "");
    print(t, e, slot_names, most);
    text_put(t, wrap ? ")" : "");
}

static void print(Text *t, const Expr *e, PyObject *slot_names, size_t most)
{
    if (t->n > most) { /* what is shared is written as often as it is used */
        text_put(t, "…");
        return;
    }
    const char *name = e->kind == EX_UNARY     ? calc_unary_name((char)e->op)
                       : e->kind == EX_BINARY  ? calc_binary_name(e->op)
                       : e->kind == EX_COMPARE ? calc_compare_name(e->op)
                                               : "";
    switch ((ExprKind)e->kind) {
    case EX_LEAF: source_print(t, e->src, slot_names); break;
    case EX_CONST: text_repr(t, e->value); break;
    case EX_LEN:
        text_put(t, "len(");
        source_print(t, e->src, slot_names);
        text_put(t, ")");
        break;
    case EX_DIM:
        source_print(t, e->src, slot_names);
        text_put(t, ".shape[%d]", e->op);
        break;
    case EX_UNARY:
        text_put(t, "%s", name);
        if (strchr(name, '(')) {
            print(t, e->a, slot_names, most);
            text_put(t, ")");
        } else
            print_operand(t, e->a, slot_names, most);
        break;
    case EX_BINARY:
    case EX_COMPARE:
        print_operand(t, e->a, slot_names, most);
        text_put(t, " %s ", name);
        print_operand(t, e->b, slot_names, most);
        break;
    }
}

void expr_print(Text *t, const Expr *e, PyObject *slot_names)
{
    print(t, e, slot_names, t->n + EXPR_MAX_TEXT);
}
