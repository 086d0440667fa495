/*
 * guard/freeze.c -- from the recorded guards to a check program in one block of memory.
 *
 * In record order; a source is loaded where it is first needed. Two things move forward, to
 * where the source is loaded, since they need nothing else: the type of what was loaded, and
 * equality or identity that was asked after the type. Everything grows in the trace's arena.
 */
#include "guard/program.h"
#include "cpy/cpy.h"

typedef struct Reg {
    PyObject *init;      /* constants */
    PyTypeObject *known; /* exact type, as far as the program has established it */
    uint32_t def;        /* 1 + index of the instruction that loads it; 0: a constant */
    bool owned;
} Reg;

typedef struct ClassBuild {
    PyTypeObject *type;
    VEC(ClassAttr) attrs;
} ClassBuild;

typedef struct Freezer {
    GuardList *l;
    Pins pins;
    VEC(Check) code;
    VEC(Reg) regs;
    VEC(Source *) sources; /* with a register: `reg` is 1 + register while freezing */
    VEC(Expr *) exprs;
    VEC(ClassBuild *) classes;
    PtrMap class_of;
    VEC(uint64_t) data; /* payloads; p of an instruction is an offset until the end */
    VEC(uint32_t) exports;
    bool *done; /* per guard: emitted ahead of its place */
    PyObject *slot_names;
    int nslots;
    bool failed; /* a Python exception is set */
} Freezer;

#define PUSH(f, vec, ...)                                                                \
    ((f)->failed |= !VEC_PUSH((f)->l->arena, (f)->l->journal, (vec), __VA_ARGS__))

/* -- Pieces ----------------------------------------------------------------- */

static uint32_t reg_new(Freezer *f, Reg r)
{
    PUSH(f, &f->regs, r);
    return (uint32_t)f->regs.n - 1;
}

static void emit(Freezer *f, Check c)
{
    PUSH(f, &f->code, c);
}

/* A load into a new register. */
static uint32_t emit_load(Freezer *f, Check c, bool owned, PyTypeObject *known)
{
    uint32_t r = reg_new(
        f, (Reg){ .owned = owned, .known = known, .def = (uint32_t)f->code.n + 1 });
    c.a = r;
    emit(f, c);
    return r;
}

/* Can obj.__class__ be assigned? */
static bool type_changes(PyObject *obj)
{
    return (Py_TYPE(obj)->tp_flags & Py_TPFLAGS_HEAPTYPE) || PyModule_Check(obj);
}

/* found: the program has it, which was met without a place to read it from. So are classes: those that a trace makes are no constants. */
static uint32_t constant(Freezer *f, PyObject *obj, bool found)
{
    if (found || PyType_Check(obj))
        pins_pin(&f->pins, obj);
    else
        pins_own(&f->pins, obj);
    return reg_new(
        f, (Reg){ .init = obj, .known = type_changes(obj) ? NULL : Py_TYPE(obj) });
}

/* Copies a payload; its offset as the instructions carry it. */
static void *payload(Freezer *f, const void *from, size_t size)
{
    size_t at = f->data.n, n = at + (size + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    if (n > f->data.cap &&
        !vec_grow(f->l->arena, f->l->journal, &f->data, sizeof(uint64_t), n)) {
        f->failed = true;
        return NULL;
    }
    memcpy(f->data.v + at, from, size);
    JSET(f->l->journal, f->data.n, n);
    return (void *)(at * sizeof(uint64_t));
}

static void *key_payload(Freezer *f, PyObject *key)
{
    KeyRef k = { pins_key(&f->pins, key), PyObject_Hash(key) };
    f->failed |= k.hash == -1;
    return payload(f, &k, sizeof k);
}

static void complain(Freezer *f, const char *what, const Source *s)
{
    Text t = { 0 };
    if (f->failed)
        return;
    f->failed = true;
    source_print(&t, s, f->slot_names);
    PyErr_Format(PyExc_SystemError, "guard on %s: %s", t.s ? t.s : "?", what);
    text_free(&t);
}

/* -- Questions about a register ---------------------------------------------- */

/* Puts a comparison on the load of r if it has none yet, else behind. */
static void ask(Freezer *f, uint32_t r, Post post, Do op, void *q)
{
    uint32_t def = f->failed ? 0 : f->regs.v[r].def;
    Check *load = def ? &f->code.v[def - 1] : NULL;
    if (load && is_load(load) && load->post == POST_NONE) {
        load->post = (uint8_t)post;
        load->q = q;
    } else
        emit(f, (Check){ .op = (uint8_t)op, .b = r, .q = q });
}

static void ask_type(Freezer *f, uint32_t r, PyTypeObject *t)
{
    if (f->failed || f->regs.v[r].known == t)
        return;
    ask(f, r, POST_TYPE, DO_TYPE, pins_pin(&f->pins, (PyObject *)t));
    if (!f->failed)
        f->regs.v[r].known = t;
}

/* The exact type of r, asked for if no guard has: MEMBER and the like read memory by it. */
static PyTypeObject *type_of(Freezer *f, const Source *s, uint32_t r)
{
    if (f->failed)
        return NULL;
    if (f->regs.v[r].known == NULL) {
        if (s->hint == NULL) {
            complain(f, "the type of what is read by offset is not known", s);
            return NULL;
        }
        ask_type(f, r, Py_TYPE(s->hint));
    }
    return f->regs.v[r].known;
}

/* -- Loads ------------------------------------------------------------------ */

/* An entry of an instance dictionary needs the instance only. */
static bool through_instance(const Source *s)
{
    return s->base && s->base->kind == SRC_DICT &&
           (s->kind == SRC_KEYAT || (s->kind == SRC_ITEM && PyUnicode_CheckExact(s->key)));
}

static uint32_t eval(Freezer *f, Expr *e);

static Source *base_of(const Source *s)
{
    return through_instance(s) ? s->base->base : s->base;
}

/* A descriptor made by C, which runs no user code. */
static PyObject *c_getter(Freezer *f, const Source *s, PyTypeObject *t)
{
    PyObject *name = s->key ? Py_NewRef(s->key) : PyUnicode_InternFromString("grad");
    PyObject *d = t && name ? cpy_type_lookup(t, name) : NULL;
    Py_XDECREF(name);
    if (d && (Py_IS_TYPE(d, &PyGetSetDescr_Type) || Py_IS_TYPE(d, &PyMemberDescr_Type)))
        return pins_own(&f->pins, d);
    complain(f, "no getter made by C", s);
    return NULL;
}

/* The instruction that loads s from base register b, target left open. */
static Check load_of(Freezer *f, const Source *s, uint32_t b)
{
    Check c = { .op = (uint8_t)s->kind, .b = b, .p = (void *)s->index };
    bool instance = through_instance(s);
    switch (s->kind) {
    case SRC_SLOT:
        f->nslots = s->index >= f->nslots ? (int)s->index + 1 : f->nslots;
        break;
    case SRC_MEMBER:
        type_of(f, s->base, b);
        c.c = (uint32_t)s->index;
        c.p = pins_own(&f->pins, s->key);
        break;
    case SRC_GETSET:
    case SRC_GRAD: c.p = c_getter(f, s, type_of(f, s->base, b)); break;
    case SRC_AT: c.c = eval(f, source_expr(s)); break;
    case SRC_KEYAT: c.op = instance ? DO_LOAD_INST_KEY : DO_LOAD_KEYAT; break;
    case SRC_ITEM:
        if (!PyUnicode_CheckExact(s->key)) {
            c.op = DO_LOAD_KEYED;
            c.p = key_payload(f, s->key);
            break;
        }
        c.op = instance ? DO_LOAD_ATTR : DO_LOAD_ITEM;
        /* fall through */
    case SRC_ATTR:
    case SRC_CLASSVAR:
    case SRC_KWDEFAULT:
        c.p = pins_own(&f->pins, s->key);
        f->failed |= PyObject_Hash(s->key) == -1; /* lookups read the stored hash */
        break;
    default: break;
    }
    return c;
}

static void load_step(Freezer *f, Source *s, uint32_t b)
{
    uint32_t r;
    if (s->kind == SRC_CONST)
        r = constant(f, s->key, s->index == FOUND);
    else {
        Check c = load_of(f, s, b);
        if (f->failed)
            return;
        r = emit_load(f, c, source_makes_new(s->kind), NULL);
    }
    s->reg = (int)r + 1;
    PUSH(f, &f->sources, s);
}

/* The register of s; loads it, and what it comes from, if that is not done yet. */
static uint32_t load(Freezer *f, Source *s)
{
    VEC(Source *) path = { 0 };
    for (Source *at = s; at && !at->reg; at = base_of(at))
        PUSH(f, &path, at);
    while (path.n > 0 && !f->failed) {
        Source *step = path.v[--path.n], *base = base_of(step);
        load_step(f, step, base ? (uint32_t)base->reg - 1 : 0);
    }
    return f->failed ? 0 : (uint32_t)s->reg - 1;
}

/* -- Expressions ------------------------------------------------------------ */

static uint32_t eval_new(Freezer *f, Expr *e)
{
    PyTypeObject *t = Py_TYPE(e->value);
    Check c = { .q = t };
    uint32_t r;
    switch ((ExprKind)e->kind) {
    case EX_CONST: return constant(f, e->value, false);
    case EX_LEAF:
        r = load(f, e->src);
        ask_type(f, r, t);
        return r;
    case EX_LEN:
    case EX_DIM:
        c.op = e->kind == EX_LEN ? DO_EVAL_LEN : DO_EVAL_DIM;
        c.b = load(f, e->src);
        c.p = (void *)(uintptr_t)e->op;
        break;
    case EX_UNARY:
        c.op = DO_EVAL_UNARY;
        c.b = eval(f, e->a);
        break;
    case EX_BINARY:
    case EX_COMPARE:
        c.op = e->kind == EX_BINARY ? DO_EVAL_BINARY : DO_EVAL_COMPARE;
        c.b = eval(f, e->a);
        c.c = eval(f, e->b);
        break;
    }
    c.hint = e->op;
    return emit_load(f, c, true, t);
}

static uint32_t eval(Freezer *f, Expr *e)
{
    if (e->reg || f->failed)
        return (uint32_t)e->reg - 1;
    uint32_t r = eval_new(f, e);
    if (f->failed)
        return 0;
    e->reg = (int)r + 1;
    PUSH(f, &f->exprs, e);
    return r;
}

static bool small_int(const Expr *e, Py_ssize_t *n)
{
    int overflow = 1;
    if (e->kind == EX_CONST && PyLong_CheckExact(e->value))
        *n = PyLong_AsLongAndOverflow(e->value, &overflow);
    return !overflow;
}

/* int or len() against a constant: no object is made. */
static bool compare_int(Freezer *f, Expr *e, bool truth)
{
    static const uint8_t swapped[] = { [Py_LT] = Py_GT, [Py_LE] = Py_GE, [Py_EQ] = Py_EQ,
                                       [Py_NE] = Py_NE, [Py_GT] = Py_LT, [Py_GE] = Py_LE };
    Py_ssize_t n;
    if (e->kind != EX_COMPARE)
        return false;
    bool left = small_int(e->a, &n);
    if (!left && !small_int(e->b, &n))
        return false;
    Expr *x = left ? e->b : e->a;
    if (x->kind != EX_LEN && !(x->kind == EX_LEAF && PyLong_CheckExact(x->value)))
        return false;
    uint32_t r = x->kind == EX_LEN ? load(f, x->src) : eval(f, x);
    emit(f, (Check){ .op = DO_COMPARE_INT,
                     .hint = left ? swapped[e->op] : e->op,
                     .b = r,
                     .c = x->kind == EX_LEN,
                     .p = (void *)n,
                     .q = (void *)(uintptr_t)truth });
    return true;
}

typedef struct Known {
    bool all;
} Known;

static void all_equal(Expr *leaf, void *arg)
{
    uintptr_t eq = (uintptr_t)1 << GUARD_EQ, len = (uintptr_t)1 << GUARD_LEN;
    uintptr_t by = leaf->kind == EX_LEAF ? eq : leaf->kind == EX_LEN ? len : 0;
    ((Known *)arg)->all &= leaf->src->kind == SRC_CONST || (leaf->src->asked & by) != 0;
}

/* Equality of all leaves was asked later on: nothing is left to evaluate. */
static bool settled(Expr *e)
{
    Known k = { true };
    expr_leaves(e, all_equal, &k);
    return k.all;
}

static void predicate(Freezer *f, const Guard *g)
{
    if (settled(g->expr))
        return;
    if (g->kind == GUARD_NORAISE) {
        uint32_t r = eval(f, g->expr), def = f->failed ? 0 : f->regs.v[r].def;
        if (def)
            f->code.v[def - 1].post =
                POST_TYPE; /* asked for itself: a line of its own in reports */
    } else if (g->kind == GUARD_VALUE)
        emit(f, (Check){ .op = DO_VALUE, .b = eval(f, g->expr), .p = (void *)g->n });
    else if (!compare_int(f, g->expr, g->n))
        emit(f, (Check){ .op = DO_TRUTH, .b = eval(f, g->expr), .p = (void *)g->n });
}

/* -- Guards ----------------------------------------------------------------- */

static void emit_guard(Freezer *f, size_t i);

/* The one guard of that kind on s, ahead of its place. */
static bool bring_forward(Freezer *f, const Source *s, GuardKind kind)
{
    if (!(s->asked & (uintptr_t)1 << kind))
        return false;
    for (uintptr_t at = s->last; at; at = f->l->g.v[at - 1].prev)
        if (f->l->g.v[at - 1].kind == kind) {
            emit_guard(f, at - 1);
            return true;
        }
    return false;
}

static void type_guard(Freezer *f, const Guard *g)
{
    if (bring_forward(f, g->src, GUARD_EQ))
        return;
    if (bring_forward(f, g->src, GUARD_IS)) {
        const Reg *r = f->failed ? NULL : &f->regs.v[g->src->reg - 1];
        if (r == NULL || r->known == (PyTypeObject *)g->obj)
            return;
    }
    ask_type(f, load(f, g->src), (PyTypeObject *)g->obj);
}

/* What a function holds for good cannot die while the function is pinned. */
static bool held_by_base(const Source *s)
{
    bool fixed =
        s->kind == SRC_GLOBALS || s->kind == SRC_BUILTINS || s->kind == SRC_CLOSURE;
    return fixed && (s->base->asked & (uintptr_t)1 << GUARD_IS);
}

static void is_guard(Freezer *f, const Guard *g)
{
    uint32_t r = load(f, g->src);
    if (!held_by_base(g->src) || !bring_forward(f, g->src->base, GUARD_IS))
        pins_pin(&f->pins, g->obj);
    ask(f, r, POST_IS, DO_IS, g->obj);
    if (!f->failed && !type_changes(g->obj))
        f->regs.v[r].known = Py_TYPE(g->obj);
}

static void eq_guard(Freezer *f, const Guard *g)
{
    uint32_t r = load(f, g->src);
    ask(f, r, POST_EQ, DO_EQ, pins_own(&f->pins, g->obj));
    if (!f->failed)
        f->regs.v[r].known = Py_TYPE(g->obj);
}

/* Asks of a place where there may be nothing. */
static void ask_place(Freezer *f, const Source *s, Post post, void *q)
{
    Source *base = base_of(s);
    uint32_t b = base ? load(f, base) : 0;
    if (f->failed)
        return;
    Check c = load_of(f, s, b);
    c.post = (uint8_t)post;
    c.q = q;
    emit_load(f, c, source_makes_new(s->kind), NULL); /* nobody reads the register */
}

static void distinct(Freezer *f, const Guard *g)
{
    Source *const *group = g->p;
    size_t n = (size_t)g->n, slots = 0;
    while (n > 8 && slots < 2 * n)
        slots = slots ? slots * 2 : 16;
    size_t size = sizeof(Group) + n * sizeof(uint32_t);
    size = (size + 7) / 8 * 8 + slots * sizeof(void *);
    Group *d = arena_alloc(f->l->arena, size);
    if (d == NULL) {
        f->failed = true;
        return;
    }
    d->n = (uint32_t)n;
    d->mask = slots ? (uint32_t)slots - 1 : 0;
    for (size_t i = 0; i < n; i++)
        d->reg[i] = load(f, group[i]);
    emit(f, (Check){ .op = DO_DISTINCT, .p = payload(f, d, size) });
}

static void storage(Freezer *f, const Guard *g)
{
    const Sharer *v = g->p;
    size_t n = (size_t)g->n, slots = 4;
    while (slots < 2 * n)
        slots *= 2;
    Sharers *d;
    size_t size = sizeof *d + n * sizeof d->v[0] + slots * sizeof(void *);
    d = arena_alloc(f->l->arena, size);
    if (d == NULL) {
        f->failed = true;
        return;
    }
    d->n = (uint32_t)n;
    d->mask = (uint32_t)slots - 1;
    for (size_t i = 0; i < n; i++) {
        d->v[i].reg = load(f, v[i].src);
        d->v[i].first = (uint32_t)v[i].first;
        d->v[i].shared = v[i].shared;
        d->v[i].offset = v[i].offset;
    }
    emit(f, (Check){ .op = DO_STORAGE, .p = payload(f, d, size) });
}

static void class_fact(Freezer *f, const Guard *g)
{
    void *found = NULL;
    if (!ptrmap_get(&f->class_of, g->obj, &found)) {
        ClassBuild *b = found = arena_alloc(f->l->arena, sizeof *b);
        if (b == NULL ||
            !ptrmap_put(&f->class_of, f->l->arena, f->l->journal, g->obj, b)) {
            f->failed = true;
            return;
        }
        b->type = pins_pin(&f->pins, g->obj);
        PUSH(f, &f->classes, b);
    }
    ClassBuild *b = found;
    ClassAttr attr = { .name = pins_own(&f->pins, g->key), .kind = ATTR_ABSENT };
    if (!g->absent)
        pins_attr(&f->pins, &attr, g->obj2);
    PUSH(f, &b->attrs, attr);
}

/* The form of a container guard for an instance dictionary. */
static Do instance_form(GuardKind kind)
{
    return kind == GUARD_TYPE       ? DO_INST_TYPE
           : kind == GUARD_KEYS     ? DO_INST_KEYS
           : kind == GUARD_LEN      ? DO_INST_LEN
           : kind == GUARD_NONEMPTY ? DO_INST_NONEMPTY
           : kind == GUARD_ABSENT   ? DO_INST_ABSENT
                                    : DO_COUNT;
}

/* What is kept of the object a container is compared with: a state that nobody changes. */
static PyObject *snapshot(Freezer *f, GuardKind kind, PyObject *obj)
{
    return kind == GUARD_KEYS    ? pins_members(&f->pins, obj, true)
           : kind == GUARD_SETEQ ? pins_members(&f->pins, obj, PyTuple_CheckExact(obj))
                                 : pins_own(&f->pins, obj);
}

static void container(Freezer *f, const Guard *g)
{
    Check c = { .op = (uint8_t)(DO_TYPE + (int)g->kind - GUARD_TYPE) };
    Do form = g->src->kind == SRC_DICT ? instance_form(g->kind) : DO_COUNT;
    bool str = g->obj && PyUnicode_CheckExact(g->obj);
    if (g->kind == GUARD_ABSENT && !str) {
        form = DO_COUNT;
        c.op = DO_ABSENT_KEYED;
    }
    c.b = load(f, form == DO_COUNT ? g->src : g->src->base);
    if (form != DO_COUNT)
        c.op = (uint8_t)form;
    if (c.op == DO_ABSENT_KEYED)
        c.p = key_payload(f, g->obj);
    else
        c.p = g->obj ? snapshot(f, g->kind, g->obj) : (void *)g->n;
    if (str)
        f->failed |= PyObject_Hash(g->obj) == -1;
    emit(f, c);
}

static void torch_guard(Freezer *f, const Guard *g)
{
    if (g->src ? guard_tensor_check == NULL : guard_ambient_check == NULL) {
        PyErr_SetString(PyExc_SystemError,
                        "a guard on torch's state, but torch is not attached");
        f->failed = true;
        return;
    }
    uint32_t r = g->src ? load(f, g->src) : 0;
    uint8_t op = g->kind == GUARD_FACTS ? DO_FACTS : g->src ? DO_TENSOR : DO_AMBIENT;
    emit(f, (Check){ .op = op, .b = r, .p = payload(f, g->p, g->size) });
    if (g->src && g->src->hint && !f->failed)
        f->regs.v[r].known = pins_pin(&f->pins, (PyObject *)Py_TYPE(g->src->hint));
}

static bool on_instance_dict(const Guard *g)
{
    return g->src && g->src->kind == SRC_DICT && g->kind == GUARD_TYPE && !g->src->reg;
}

static void type_or_instance(Freezer *f, const Guard *g)
{
    if (on_instance_dict(g))
        emit(f, (Check){ .op = DO_INST_TYPE,
                         .b = load(f, g->src->base),
                         .q = pins_pin(&f->pins, g->obj) });
    else
        type_guard(f, g);
}

static void alias(Freezer *f, const Guard *g)
{
    uint32_t a = load(f, g->src);
    emit(f, (Check){ .op = DO_ALIAS, .b = a, .c = load(f, g->other) });
}

static void unbound(Freezer *f, const Guard *g)
{
    ask_place(f, g->src, POST_ABSENT, NULL);
}

static void bound(Freezer *f, const Guard *g)
{
    load(f, g->src);
}

static void quiet(Freezer *f, const Guard *g)
{
    if (g->src->reg || g->src->kind == SRC_CONST)
        emit(f, (Check){ .op = DO_QUIET, .b = load(f, g->src), .q = (void *)g->n });
    else
        ask_place(f, g->src, POST_QUIET, (void *)g->n);
}

static void quiet_all(Freezer *f, const Guard *g)
{
    emit(f, (Check){ .op = DO_QUIETALL, .b = load(f, g->src) });
}

static void abc(Freezer *f, const Guard *g)
{
    emit(f, (Check){ .op = DO_ABC,
                     .b = g->n != 0,
                     .c = cpy_abc_token(),
                     .p = pins_pin(&f->pins, g->obj2),
                     .q = pins_pin(&f->pins, g->obj) });
}

static void code(Freezer *f, const Guard *g)
{
    uint32_t b = load(f, g->src);
    emit(f, (Check){ .op = DO_CODE, .b = b, .q = pins_pin(&f->pins, g->obj) });
}

static void has_next(Freezer *f, const Guard *g)
{
    uint32_t b = load(f, g->src);
    emit(f,
         (Check){ .op = DO_HASNEXT, .b = b, .c = (uint32_t)g->size, .p = (void *)g->n });
}

static void (*const emitters[GUARD_COUNT])(Freezer *f, const Guard *g) = {
    [GUARD_TYPE] = type_or_instance,
    [GUARD_IS] = is_guard,
    [GUARD_EQ] = eq_guard,
    [GUARD_ALIAS] = alias,
    [GUARD_DISTINCT] = distinct,
    [GUARD_UNBOUND] = unbound,
    [GUARD_BOUND] = bound,
    [GUARD_QUIET] = quiet,
    [GUARD_QUIETALL] = quiet_all,
    [GUARD_CLASSATTR] = class_fact,
    [GUARD_ABC] = abc,
    [GUARD_CODE] = code,
    [GUARD_NDEFAULTS] = container,
    [GUARD_LEN] = container,
    [GUARD_NONEMPTY] = container,
    [GUARD_KEYS] = container,
    [GUARD_ABSENT] = container,
    [GUARD_SETEQ] = container,
    [GUARD_HASNEXT] = has_next,
    [GUARD_PRED] = predicate,
    [GUARD_NORAISE] = predicate,
    [GUARD_VALUE] = predicate,
    [GUARD_TENSOR] = torch_guard,
    [GUARD_FACTS] = torch_guard,
    [GUARD_STORAGE] = storage,
    [GUARD_AMBIENT] = torch_guard,
};

static void emit_guard(Freezer *f, size_t i)
{
    if (f->failed || f->done[i])
        return;
    f->done[i] = true;
    const Guard *g = &f->l->g.v[i];
    emitters[g->kind](f, g);
}

/* -- The block -------------------------------------------------------------- */

/* Hands out parts of the block: first run with base NULL measures. */
typedef struct Cut {
    char *base;
    size_t at;
} Cut;

static void *cut(Cut *c, size_t size)
{
    void *p = c->base ? c->base + c->at : NULL;
    c->at += (size + 15) / 16 * 16;
    return p;
}

static size_t count_owned(const Freezer *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->regs.n; i++)
        n += f->regs.v[i].owned;
    return n;
}

static void copy_classes(const Freezer *f, Guards *g, Cut *c)
{
    g->nclasses = f->classes.n;
    g->classes = cut(c, g->nclasses * sizeof *g->classes);
    for (size_t i = 0; i < f->classes.n; i++) {
        const ClassBuild *b = f->classes.v[i];
        ClassAttr *attrs = cut(c, b->attrs.n * sizeof *attrs);
        if (c->base == NULL)
            continue;
        memcpy(attrs, b->attrs.v, b->attrs.n * sizeof *attrs);
        /* No tag yet: the class may have changed since the facts were recorded. */
        g->classes[i] = (ClassRef){ b->type, 0, (uint32_t)b->attrs.n, attrs };
    }
}

static bool has_payload(const Check *c)
{
    return c->op == DO_TENSOR || c->op == DO_AMBIENT || c->op == DO_DISTINCT ||
           c->op == DO_FACTS || c->op == DO_STORAGE || c->op == DO_LOAD_KEYED ||
           c->op == DO_ABSENT_KEYED;
}

static void copy_code(const Freezer *f, Guards *g, Cut *c)
{
    char *data = cut(c, f->data.n * sizeof *f->data.v);
    if (c->base == NULL)
        return;
    if (f->data.n)
        memcpy(data, f->data.v, f->data.n * sizeof *f->data.v);
    memcpy(g->code, f->code.v, g->n * sizeof *g->code);
    for (size_t i = 0; i < g->n; i++)
        if (has_payload(&g->code[i]))
            g->code[i].p = data + (uintptr_t)g->code[i].p;
}

static void copy_regs(const Freezer *f, Guards *g)
{
    for (size_t i = 0, k = 0; i < f->regs.n; i++) {
        g->regs[i] = f->regs.v[i].init;
        if (f->regs.v[i].owned)
            g->owned[k++] = (uint32_t)i;
    }
}

/* Lays the parts out; with a base, fills them. */
static void lay_out(const Freezer *f, Guards *g, Cut *c)
{
    cut(c, sizeof *g);
    g->n = f->code.n;
    g->code = cut(c, g->n * sizeof *g->code);
    copy_classes(f, g, c);
    copy_code(f, g, c);
    g->nregs = f->regs.n;
    g->regs = cut(c, g->nregs * sizeof *g->regs);
    g->nowned = count_owned(f);
    g->owned = cut(c, g->nowned * sizeof *g->owned);
    g->nexports = (int)f->exports.n;
    g->exports = cut(c, f->exports.n * sizeof *g->exports);
    g->nheld = f->pins.held.n;
    g->held = cut(c, g->nheld * sizeof *g->held);
    if (c->base == NULL)
        return;
    copy_regs(f, g);
    if (g->nexports)
        memcpy(g->exports, f->exports.v, f->exports.n * sizeof *g->exports);
    if (g->nheld)
        memcpy(g->held, f->pins.held.v, g->nheld * sizeof *g->held);
}

static Guards *finish(Freezer *f)
{
    Guards measure = { 0 };
    Cut c = { 0 };
    lay_out(f, &measure, &c);
    Guards *g = mem_alloc(c.at);
    if (g == NULL)
        return NULL;
    c = (Cut){ .base = (char *)g };
    lay_out(f, g, &c);
    g->nslots = f->nslots;
    g->life = f->pins.life;
    g->capsule = f->pins.capsule;
    g->slot_names = Py_XNewRef(f->slot_names);
    f->pins.capsule = NULL; /* taken over, like what is held */
    f->pins.held.n = 0;
    return g;
}

static void export(Freezer *f, const Export *x)
{
    uint32_t r = x->src ? load(f, x->src) : eval(f, x->expr);
    PUSH(f, &f->exports, r);
}

static void emit_all(Freezer *f, const Export *exports, int nexports)
{
    f->done = arena_alloc(f->l->arena, f->l->g.n + 1);
    f->failed |= f->done == NULL;
    for (size_t i = 0; i < f->l->g.n && !f->failed; i++)
        emit_guard(f, i);
    for (int i = 0; i < nexports && !f->failed; i++)
        export(f, &exports[i]);
    emit(f, (Check){ .op = DO_DONE });
    f->failed |= f->pins.failed;
}

Guards *guards_freeze(GuardList *l, const Export *exports, int nexports,
                      PyObject *slot_names)
{
    Freezer f = { .l = l, .slot_names = slot_names };
    if (!program_ready() || !pins_init(&f.pins, l->arena, l->journal))
        return NULL;
    emit_all(&f, exports, nexports);
    for (size_t i = 0; i < f.sources.n; i++)
        f.sources.v[i]->reg = 0;
    for (size_t i = 0; i < f.exprs.n; i++)
        f.exprs.v[i]->reg = 0;
    if (l->journal->failed && !f.failed) {
        PyErr_NoMemory();
        f.failed = true;
    }
    Guards *g = f.failed ? NULL : finish(&f);
    pins_drop(&f.pins);
    return g;
}

void guards_free(Guards *g)
{
    if (g == NULL)
        return;
    for (size_t i = 0; i < g->nheld; i++)
        Py_DECREF(g->held[i]);
    Py_XDECREF(g->slot_names);
    Py_DECREF(g->capsule);
    mem_free(g);
}

bool guards_dead(const Guards *g)
{
    return g->life->dead;
}

int guards_nexports(const Guards *g)
{
    return g->nexports;
}
