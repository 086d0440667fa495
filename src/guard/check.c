/*
 * guard/check.c -- running a check program: once per call of a compiled point.
 *
 * One function an instruction, true: go on. Loads check the structure they walk (a program
 * meets any object at any place) and fail where it is another one. An exception is a
 * miss and is cleared. The loop holds the most frequent instructions in line.
 */
#include "guard/program.h"
#include "base/same.h"
#include "cpy/cpy.h"
#include "cpy/peek.h"

typedef struct Run {
    PyObject **regs;
    const Entered *in;
} Run;

#define INLINE static inline __attribute__((always_inline))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* -- Loads ------------------------------------------------------------------ */

static bool quiet(const Check *i, PyObject *v)
{
    if (i->q == (void *)QUIET_END)
        return !cpy_end_runs_code(v);
    return !(i->q == (void *)QUIET_SLOT && cpy_finalized(v)) && !cpy_last_runs_code(v, 1);
}

/* Asks of v what the load has been given to ask. */
INLINE bool posted(const Check *i, PyObject *v)
{
    switch (i->post) {
    case POST_NONE: return true;
    case POST_TYPE: return Py_TYPE(v) == (PyTypeObject *)i->q;
    case POST_IS: return v == i->q;
    case POST_EQ: return v == i->q || const_same(v, i->q);
    case POST_QUIET: return quiet(i, v);
    default: return false; /* ABSENT, but it is there */
    }
}

INLINE bool put(Run *r, const Check *i, PyObject *v)
{
    r->regs[i->a] = v;
    if (UNLIKELY(v == NULL))
        return i->post >= POST_ABSENT;
    return posted(i, v);
}

#define BASE (r->regs[i->b])
#define NUMBER(i) ((Py_ssize_t)(intptr_t)(i)->p)
#define LOAD(name) static bool load_##name(Run *r, Check *i)

LOAD(SLOT)
{
    return put(r, i, r->in->slots[NUMBER(i)]);
}

LOAD(FUNC)
{
    return put(r, i, r->in->func);
}

LOAD(EXC)
{
    return put(r, i, r->in->exc);
}

LOAD(OUTER)
{
    return put(r, i, cpy_exc_outer(PyThreadState_Get()));
}

LOAD(CONST)
{
    return false; /* constants are in their registers: no such instruction */
}

/* A field of a function; a C macro so that each loads one field. */
#define FUNCTION_FIELD(name, field)                                                      \
    LOAD(name)                                                                           \
    {                                                                                    \
        return PyFunction_Check(BASE) && put(r, i, ((PyFunctionObject *)BASE)->field);   \
    }

FUNCTION_FIELD(GLOBALS, func_globals)
FUNCTION_FIELD(BUILTINS, func_builtins)

static bool put_tuple_item(Run *r, const Check *i, PyObject *tuple)
{
    Py_ssize_t at = NUMBER(i);
    bool there = tuple && PyTuple_Check(tuple) && at >= 0 && at < PyTuple_GET_SIZE(tuple);
    return put(r, i, there ? PyTuple_GET_ITEM(tuple, at) : NULL);
}

LOAD(CLOSURE)
{
    return PyFunction_Check(BASE) && put_tuple_item(r, i, PyFunction_GET_CLOSURE(BASE));
}

LOAD(DEFAULT)
{
    return PyFunction_Check(BASE) && put_tuple_item(r, i, PyFunction_GET_DEFAULTS(BASE));
}

INLINE bool put_item(Run *r, Check *i, PyObject *dict)
{
    PyObject *v, *key = i->p;
    if (cpy_dict_peek(dict, key, ((PyASCIIObject *)key)->hash, &i->hint, &i->memo, &v) < 0)
        return false;
    return put(r, i, v);
}

LOAD(KWDEFAULT)
{
    if (!PyFunction_Check(BASE))
        return false;
    PyObject *d = PyFunction_GET_KW_DEFAULTS(BASE);
    return d ? PyDict_Check(d) && put_item(r, i, d) : put(r, i, NULL);
}

LOAD(CELL)
{
    return PyCell_Check(BASE) && put(r, i, PyCell_GET(BASE));
}

LOAD(CONTEXT)
{
    static PyObject *none; /* what a variable without a value is told by */
    PyObject *v = NULL;
    if (none == NULL && (none = PyUnicode_FromString("jedlik: no value")) == NULL)
        return false;
    if (!PyContextVar_CheckExact(BASE) || PyContextVar_Get(BASE, none, &v) < 0)
        return false;
    Py_DECREF(v); /* the context has it */
    return put(r, i, v == none ? NULL : v);
}

LOAD(REFERENT)
{
    return (PyWeakref_CheckRefExact(BASE) || PyWeakref_CheckProxy(BASE)) &&
           put(r, i, PyWeakref_GET_OBJECT(BASE));
}

LOAD(METHFUNC)
{
    return PyMethod_Check(BASE) && put(r, i, PyMethod_GET_FUNCTION(BASE));
}

LOAD(METHSELF)
{
    if (PyCFunction_Check(BASE))
        return put(r, i, PyCFunction_GET_SELF(BASE));
    return PyMethod_Check(BASE) && put(r, i, PyMethod_GET_SELF(BASE));
}

INLINE bool load_ATTR(Run *r, Check *i)
{
    PyObject *v = NULL;
    return cpy_inst_peek(BASE, i->p, &i->hint, &i->memo, &v) >= 0 && put(r, i, v);
}

/* The exact type stands by a check before. */
LOAD(MEMBER)
{
    return put(r, i, *(PyObject **)((char *)BASE + i->c));
}

LOAD(DICT)
{
    if (cpy_inst_dict_type(BASE) == NULL || PyType_Check(BASE))
        return false;
    int was_on = PyGC_Disable(); /* no finalizers in the middle of a check */
    PyObject *d = PyObject_GenericGetDict(BASE, NULL);
    if (was_on)
        PyGC_Enable();
    if (d == NULL) {
        PyErr_Clear();
        return false;
    }
    Py_DECREF(d); /* the object owns it */
    return put(r, i, d);
}

LOAD(CLASSDICT)
{
    return PyType_Check(BASE) && put(r, i, ((PyTypeObject *)BASE)->tp_dict);
}

LOAD(TYPE)
{
    return put(r, i, (PyObject *)Py_TYPE(BASE));
}

LOAD(CLASSVAR)
{
    return PyType_Check(BASE) && put(r, i, cpy_type_lookup((PyTypeObject *)BASE, i->p));
}

/* The exact type stands by a check before; p is its descriptor. */
LOAD(GETSET)
{
    PyObject *d = i->p;
    int was_on = PyGC_Disable();
    PyObject *v = Py_TYPE(d)->tp_descr_get(d, BASE, (PyObject *)Py_TYPE(BASE));
    if (was_on)
        PyGC_Enable();
    if (v == NULL)
        PyErr_Clear();
    return put(r, i, v);
}

INLINE bool load_ITEM(Run *r, Check *i)
{
    return PyDict_Check(BASE) && put_item(r, i, BASE);
}

LOAD(KEYED)
{
    const KeyRef *k = i->p;
    PyObject *v = NULL;
    if (!PyDict_Check(BASE) ||
        cpy_dict_peek(BASE, k->key, k->hash, &i->hint, &i->memo, &v) < 0)
        return false;
    return put(r, i, v);
}

static PyTypeObject *deque;

bool program_ready(void)
{
    if (deque != NULL)
        return true;
    PyObject *m = PyImport_ImportModule("_collections"); /* no user code: at a freeze */
    PyObject *names = m ? PyModule_GetDict(m) : NULL;
    if (names == NULL)
        return false;
    deque = (PyTypeObject *)PyDict_GetItemString(names, "deque"); /* no user code: str */
    Py_XINCREF(deque);
    Py_DECREF(m);
    return deque != NULL;
}

/* Element of a deque, borrowed from it. NULL also: it is none. */
static PyObject *deque_item(PyObject *o, Py_ssize_t at)
{
    PyObject *v = NULL;
    if (PyObject_TypeCheck(o, deque))
        v = deque->tp_as_sequence->sq_item(o, at < 0 ? at + Py_SIZE(o) : at);
    PyErr_Clear();
    Py_XDECREF(v);
    return v;
}

INLINE bool put_element(Run *r, Check *i, PyObject *o, Py_ssize_t at)
{
    bool list = PyList_Check(o);
    if (!list && !PyTuple_Check(o))
        return put(r, i, deque_item(o, at));
    if (at < 0)
        at += Py_SIZE(o);
    if (at < 0 || at >= Py_SIZE(o))
        return put(r, i, NULL);
    return put(r, i, list ? PyList_GET_ITEM(o, at) : PyTuple_GET_ITEM(o, at));
}

INLINE bool load_INDEX(Run *r, Check *i)
{
    return put_element(r, i, BASE, NUMBER(i));
}

/* c: an exact int. */
LOAD(AT)
{
    int overflow;
    Py_ssize_t at = PyLong_AsLongAndOverflow(r->regs[i->c], &overflow);
    return !overflow && put_element(r, i, BASE, at);
}

LOAD(KEYAT)
{
    return PyDict_Check(BASE) && put(r, i, cpy_dict_key(BASE, NUMBER(i)));
}

LOAD(INST_KEY)
{
    return put(r, i, cpy_inst_key(BASE, NUMBER(i)));
}

LOAD(UNDERLYING)
{
    return put(r, i, cpy_iter_under(BASE, NUMBER(i)));
}

LOAD(NEXTITEM)
{
    PyObject *v = NULL;
    return cpy_iter_peek(BASE, NUMBER(i), &v) >= 0 && put(r, i, v);
}

#define load_GRAD load_GETSET

/* -- Guards ----------------------------------------------------------------- */

#define CHECK(name) static bool check_##name(Run *r, Check *i)

INLINE bool check_TYPE(Run *r, Check *i)
{
    return Py_TYPE(BASE) == (PyTypeObject *)i->q;
}

CHECK(IS)
{
    return BASE == i->q;
}

CHECK(EQ)
{
    return const_same(BASE, i->q);
}

CHECK(ALIAS)
{
    return BASE == r->regs[i->c];
}

static bool all_different(const Group *d, PyObject **regs)
{
    for (uint32_t i = 1; i < d->n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (regs[d->reg[i]] == regs[d->reg[k]])
                return false;
    return true;
}

/* The table lies behind the registers of the group. */
CHECK(DISTINCT)
{
    Group *d = i->p;
    if (d->mask == 0)
        return all_different(d, r->regs);
    PyObject **table = (PyObject **)(((uintptr_t)(d->reg + d->n) + 7) & ~(uintptr_t)7);
    memset(table, 0, (d->mask + 1) * sizeof *table);
    for (uint32_t n = 0; n < d->n; n++) {
        PyObject *o = r->regs[d->reg[n]];
        uintptr_t at = ((uintptr_t)o >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20;
        for (; table[at & d->mask]; at++)
            if (table[at & d->mask] == o)
                return false;
        table[at & d->mask] = o;
    }
    return true;
}

CHECK(QUIET)
{
    return BASE == NULL || quiet(i, BASE);
}

CHECK(QUIETALL)
{
    return !cpy_content_ends_run_code(BASE);
}

/* A function's code, or the descriptor of a bound method of C. */
CHECK(CODE)
{
    PyMethodDescrObject *method = i->q;
    if (PyFunction_Check(BASE))
        return PyFunction_GET_CODE(BASE) == i->q;
    return PyCFunction_CheckExact(BASE) && Py_IS_TYPE(method, &PyMethodDescr_Type) &&
           ((PyCFunctionObject *)BASE)->m_ml == method->d_method;
}

CHECK(NDEFAULTS)
{
    if (!PyFunction_Check(BASE))
        return false;
    PyObject *d = PyFunction_GET_DEFAULTS(BASE);
    return (d ? PyTuple_GET_SIZE(d) : 0) == NUMBER(i);
}

/* Length of the storage, past any __len__; -1: no container we know. */
static Py_ssize_t raw_len(PyObject *o)
{
    if (PyList_Check(o) || PyTuple_Check(o) || PyBytes_Check(o))
        return Py_SIZE(o);
    if (PyDict_Check(o))
        return PyDict_GET_SIZE(o);
    if (PyUnicode_Check(o))
        return PyUnicode_GET_LENGTH(o);
    if (PyAnySet_Check(o))
        return PySet_GET_SIZE(o);
    if (Py_TYPE(o)->tp_flags & Py_TPFLAGS_HEAPTYPE)
        return -1;
    Py_ssize_t n = PyObject_Size(o); /* no user code: of a type made by C */
    if (n < 0)
        PyErr_Clear();
    return n;
}

CHECK(LEN)
{
    return raw_len(BASE) == NUMBER(i);
}

CHECK(NONEMPTY)
{
    Py_ssize_t n = raw_len(BASE);
    return n >= 0 && (n != 0) == NUMBER(i);
}

CHECK(KEYS)
{
    if (PyAnySet_Check(BASE))
        return cpy_set_items_are(BASE, i->p);
    return PyDict_Check(BASE) && cpy_dict_keys_are(BASE, i->p, &i->memo);
}

static bool absent(Check *i, PyObject *dict, PyObject *key, Py_hash_t hash)
{
    PyObject *v;
    return PyDict_Check(dict) &&
           cpy_dict_peek(dict, key, hash, &i->hint, &i->memo, &v) == 0;
}

CHECK(ABSENT)
{
    return absent(i, BASE, i->p, ((PyASCIIObject *)i->p)->hash);
}

CHECK(ABSENT_KEYED)
{
    const KeyRef *k = i->p;
    return absent(i, BASE, k->key, k->hash);
}

CHECK(INST_TYPE)
{
    return cpy_inst_dict_type(BASE) == i->q;
}

CHECK(INST_KEYS)
{
    return cpy_inst_keys_are(BASE, i->p, &i->memo);
}

CHECK(INST_LEN)
{
    return cpy_inst_len(BASE) == NUMBER(i);
}

CHECK(INST_NONEMPTY)
{
    Py_ssize_t n = cpy_inst_len(BASE);
    return n >= 0 && (n != 0) == NUMBER(i);
}

INLINE bool check_INST_ABSENT(Run *r, Check *i)
{
    PyObject *v = NULL;
    return cpy_inst_peek(BASE, i->p, &i->hint, &i->memo, &v) == 0;
}

/* By identity or as constants; no hash of a user's object is computed. */
static bool among(PyObject *item, PyObject *want)
{
    if (PyList_CheckExact(want)) {
        for (Py_ssize_t n = 0; n < PyList_GET_SIZE(want); n++)
            if (kept_same(PyList_GET_ITEM(want, n), item))
                return true;
        return false;
    }
    if (!key_plain(item))
        return false;
    int found = PySet_Contains(want, item); /* no user code: plain keys */
    if (found < 0)
        PyErr_Clear();
    return found > 0;
}

/* p: what pins_members gives. */
CHECK(SETEQ)
{
    PyObject *want = i->p, *item;
    Py_ssize_t at = 0;
    Py_hash_t hash;
    if (PyTuple_CheckExact(want))
        return PyAnySet_Check(BASE) && cpy_set_items_are(BASE, want);
    Py_ssize_t size =
        PyList_CheckExact(want) ? PyList_GET_SIZE(want) : PySet_GET_SIZE(want);
    if (!PyAnySet_Check(BASE) || PySet_GET_SIZE(BASE) != size)
        return false;
    while (_PySet_NextEntry(BASE, &at, &item, &hash))
        if (!among(item, want))
            return false;
    return true;
}

CHECK(HASNEXT)
{
    return cpy_iter_peek(BASE, i->c, NULL) == NUMBER(i);
}

INLINE bool check_TENSOR(Run *r, Check *i)
{
    return guard_tensor_check(BASE, i->p);
}

CHECK(FACTS)
{
    return guard_tensor_facts(BASE, i->p);
}

/* Storages that come first are all different; the others are those that they were, at the same places. */
CHECK(STORAGE)
{
    Sharers *d = i->p;
    void **table = (void **)&d->v[d->n];
    memset(table, 0, ((size_t)d->mask + 1) * sizeof *table);
    for (uint32_t n = 0; n < d->n; n++) {
        int64_t offset, ignored;
        void *s = guard_tensor_storage(r->regs[d->v[n].reg], &offset);
        if (s == NULL || (d->v[n].shared && offset != d->v[n].offset))
            return false;
        if (d->v[n].first != n) {
            if (guard_tensor_storage(r->regs[d->v[d->v[n].first].reg], &ignored) != s)
                return false;
            continue;
        }
        uintptr_t at = ((uintptr_t)s >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20;
        for (; table[at & d->mask]; at++)
            if (table[at & d->mask] == s)
                return false;
        table[at & d->mask] = s;
    }
    return true;
}

CHECK(AMBIENT)
{
    return guard_ambient_check(i->p);
}

/* -- Expressions ------------------------------------------------------------ */

/* Steals v. A result of another type than in the trace is a miss (2 ** n with n < 0). */
static bool result(Run *r, Check *i, PyObject *v)
{
    if (UNLIKELY(v == NULL)) {
        PyErr_Clear();
        return false;
    }
    r->regs[i->a] = v;
    return Py_TYPE(v) == (PyTypeObject *)i->q;
}

static bool eval_LEN(Run *r, Check *i)
{
    Py_ssize_t n = raw_len(BASE);
    return n >= 0 && result(r, i, PyLong_FromSsize_t(n));
}

static bool eval_DIM(Run *r, Check *i)
{
    int64_t n = guard_tensor_dim ? guard_tensor_dim(BASE, (int)NUMBER(i)) : -1;
    return n >= 0 && result(r, i, PyLong_FromLongLong(n));
}

static bool eval_UNARY(Run *r, Check *i)
{
    return !calc_large(BASE) && result(r, i, calc_unary((char)i->hint, BASE));
}

static bool eval_BINARY(Run *r, Check *i)
{
    PyObject *a = BASE, *b = r->regs[i->c];
    return !calc_excessive(i->hint, a, b) && result(r, i, calc_binary(i->hint, a, b));
}

static bool eval_COMPARE(Run *r, Check *i)
{
    return result(r, i, calc_compare(i->hint, BASE, r->regs[i->c]));
}

static bool compare(Py_ssize_t a, int op, Py_ssize_t b)
{
    return op == Py_LT   ? a < b
           : op == Py_LE ? a <= b
           : op == Py_EQ ? a == b
           : op == Py_NE ? a != b
           : op == Py_GT ? a > b
                         : a >= b;
}

CHECK(COMPARE_INT)
{
    int overflow = 0;
    Py_ssize_t n = i->c ? raw_len(BASE) : PyLong_AsLongAndOverflow(BASE, &overflow);
    if (i->c && n < 0)
        return false;
    bool is = overflow
                  ? compare(overflow, i->hint, 0) /* beyond any constant of this size */
                  : compare(n, i->hint, NUMBER(i));
    return is == (bool)(uintptr_t)i->q;
}

CHECK(TRUTH)
{
    return PyObject_IsTrue(BASE) == NUMBER(i); /* no user code: a number */
}

CHECK(VALUE)
{
    int overflow;
    return PyLong_AsLongAndOverflow(BASE, &overflow) == NUMBER(i) && !overflow;
}

/* Registrations are rare: only behind one the ABC is asked again. */
CHECK(ABC)
{
    if (!UNLIKELY(cpy_abc_token() != i->c))
        return true;
    /* no user code: the hooks of these classes are the standard library's (builtin/instance.c) */
    int yes = PyObject_IsSubclass(i->p, i->q);
    if (yes < 0)
        PyErr_Clear();
    if (yes != (int)i->b)
        return false;
    i->c = cpy_abc_token();
    return true;
}

/* -- The loop --------------------------------------------------------------- */

typedef bool (*Step)(Run *r, Check *i);

static const Step steps[DO_COUNT] = {
#define SRC(name, text) [DO_LOAD_##name] = load_##name,
#include "source/sources.def"
#undef SRC
    [DO_LOAD_KEYED] = load_KEYED,
    [DO_LOAD_INST_KEY] = load_INST_KEY,
    [DO_TYPE] = check_TYPE,
    [DO_IS] = check_IS,
    [DO_EQ] = check_EQ,
    [DO_ALIAS] = check_ALIAS,
    [DO_DISTINCT] = check_DISTINCT,
    [DO_QUIET] = check_QUIET,
    [DO_QUIETALL] = check_QUIETALL,
    [DO_ABC] = check_ABC,
    [DO_CODE] = check_CODE,
    [DO_NDEFAULTS] = check_NDEFAULTS,
    [DO_LEN] = check_LEN,
    [DO_NONEMPTY] = check_NONEMPTY,
    [DO_KEYS] = check_KEYS,
    [DO_ABSENT] = check_ABSENT,
    [DO_ABSENT_KEYED] = check_ABSENT_KEYED,
    [DO_SETEQ] = check_SETEQ,
    [DO_HASNEXT] = check_HASNEXT,
    [DO_TENSOR] = check_TENSOR,
    [DO_FACTS] = check_FACTS,
    [DO_STORAGE] = check_STORAGE,
    [DO_AMBIENT] = check_AMBIENT,
    [DO_VALUE] = check_VALUE,
    [DO_INST_TYPE] = check_INST_TYPE,
    [DO_INST_KEYS] = check_INST_KEYS,
    [DO_INST_LEN] = check_INST_LEN,
    [DO_INST_NONEMPTY] = check_INST_NONEMPTY,
    [DO_INST_ABSENT] = check_INST_ABSENT,
    [DO_EVAL_LEN] = eval_LEN,
    [DO_EVAL_DIM] = eval_DIM,
    [DO_EVAL_UNARY] = eval_UNARY,
    [DO_EVAL_BINARY] = eval_BINARY,
    [DO_EVAL_COMPARE] = eval_COMPARE,
    [DO_COMPARE_INT] = check_COMPARE_INT,
    [DO_TRUTH] = check_TRUTH,
    /* DONE, and guards that become something else, have none: the loop ends there. */
};

/* Compares a class fact by fact after its version tag changed. */
static __attribute__((noinline)) bool class_holds(ClassRef *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        PyObject *value = attr_now(c, &c->attrs[i]);
        if (!attr_holds(&c->attrs[i], value)) {
            attr_moved(&c->attrs[i], value);
            return false;
        }
    }
    c->tag = cpy_type_version(c->type);
    return true;
}

Check *program_run(Guards *g, const Entered *in, size_t *class_at)
{
    Run run = { g->regs, in }, *r = &run;
    for (size_t k = 0; k < g->nowned; k++)
        g->regs[g->owned[k]] = NULL;
    *class_at = g->nclasses;
    if (g->life->dead || in->nslots < g->nslots)
        return NULL;
    for (size_t k = 0; k < g->nclasses; k++) {
        ClassRef *c = &g->classes[k];
        if ((c->tag == 0 || c->type->tp_version_tag != c->tag) && !class_holds(c)) {
            *class_at = k;
            return NULL;
        }
    }
    for (Check *i = g->code;; i++) {
        bool ok;
        switch (i->op) {
        case DO_LOAD_ATTR: ok = load_ATTR(r, i); break;
        case DO_LOAD_ITEM: ok = load_ITEM(r, i); break;
        case DO_LOAD_INDEX: ok = load_INDEX(r, i); break;
        case DO_TYPE: ok = check_TYPE(r, i); break;
        case DO_INST_ABSENT: ok = check_INST_ABSENT(r, i); break;
        case DO_TENSOR: ok = check_TENSOR(r, i); break;
        case DO_DONE: return i;
        default: ok = steps[i->op](r, i);
        }
        if (UNLIKELY(!ok))
            return i;
    }
}

void program_release(Guards *g)
{
    for (size_t k = 0; k < g->nowned; k++)
        Py_CLEAR(g->regs[g->owned[k]]);
}

bool guards_check(Guards *g, PyObject *func, PyObject *const *slots, int nslots,
                  PyObject *exc, PyObject **out)
{
    Entered in = { func, exc, slots, nslots };
    size_t class_at;
    assert(!PyErr_Occurred());
    Check *at = program_run(g, &in, &class_at);
    bool ok = at && at->op == DO_DONE;
    for (int k = 0; ok && k < g->nexports; k++)
        out[k] = Py_NewRef(g->regs[g->exports[k]]);
    if (g->nowned)
        program_release(g);
    assert(!PyErr_Occurred());
    return ok;
}
