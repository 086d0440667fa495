/*
 * torch/classify.c -- which callables become graph nodes.
 *
 * Takes: the rows of ops.def and torch's namespaces, once. Gives: a TorchOp for any callable, by identity, and for
 * methods and attributes of tensors by name. Holds: nothing here runs user code; what torch itself does not know in
 * C is a break, what is Python and in no row is ordinary Python to inline.
 */
#include "torch/infer.h"
#include <string.h>

enum {
    F_NODE = 0,
    F_FACTORY = 1 << 0,
    F_RANDOM = 1 << 1,
    F_MUTATES = 1 << 2,
    F_VIEW = 1 << 3,
    F_ALIAS = 1 << 4,
    F_SYNCS = 1 << 5,
    F_STRUCT = 1 << 6,
    F_USER = 1 << 7,
    F_PURE = 1 << 8,
    F_CONST = 1 << 9,
    F_BREAK = 1 << 10,
    F_SPECIAL = 1 << 11,
    F_NONE = 1 << 12,
    F_LOOSE = 1 << 13,
    F_LAYOUT = 1 << 14,
    F_FRESH = 1 << 15,
    F_TOTAL = 1 << 16,
    F_TRIAL = 1 << 17,
    F_COSTLY = 1 << 18,
    F_LOWER = 1 << 19,
    F_FULL = 1 << 20,
    F_RECAST = 1 << 21,
    F_INDEXED = 1 << 22,
    RULE_SHIFT = 24, /* number of a shape rule, from 1 */
};

static PyObject *by_name;   /* plain name -> flags, from OPS */
static PyObject *by_attr;   /* attribute name -> flags */
static PyObject *by_object; /* callable -> flags */
static PyObject *by_method; /* name of a method of Tensor -> flags */
static PyTypeObject *tensor_base, *overload, *packet, *higher_order, *custom_op;

/* -- Flags ------------------------------------------------------------------ */

static TorchOp op_of(long f)
{
    TorchClass cls = f & F_NONE      ? TC_NONE
                     : f & F_BREAK   ? TC_BREAK
                     : f & F_CONST   ? TC_CONST
                     : f & F_SPECIAL ? TC_SPECIAL
                                     : TC_NODE;
    return (TorchOp){
        .cls = cls,
        .factory = f & F_FACTORY,
        .random = f & F_RANDOM,
        .mutates = f & F_MUTATES,
        .may_alias = f & F_ALIAS,
        .view = f & F_VIEW,
        .syncs = f & F_SYNCS,
        .user = f & F_USER,
        .structured = f & F_STRUCT,
        .loose = f & F_LOOSE,
        .layout = f & F_LAYOUT,
        .fresh = f & F_FRESH,
        .total = f & (F_TOTAL | F_PURE),
        .trial = (f & F_TRIAL) || ((f & F_PURE) && !(f & (F_VIEW | F_FACTORY | F_STRUCT))),
        .costly = f & F_COSTLY,
        .indexed = f & F_INDEXED,
        .cast = f & F_RECAST  ? CASTS_WITHIN
                : f & F_LOWER ? CASTS_LOWER
                : f & F_FULL  ? CASTS_FULL
                              : CASTS_NONE,
        .rule = (uint8_t)(f >> RULE_SHIFT),
        .pure = (f & F_PURE) && !(f & (F_RANDOM | F_MUTATES | F_USER | F_SYNCS)),
    };
}

/* A name that ends in one underscore writes its argument; dunder names and private ends do not. */
static bool in_place_name(const char *name)
{
    size_t n = strlen(name);
    return n > 1 && name[n - 1] == '_' && name[n - 2] != '_';
}

/* Flags of a plain name; in-place twins take those of the name they are the twin of. */
static long flags_of(const char *name)
{
    PyObject *f = PyDict_GetItemString(by_name, name);
    long flags = f ? PyLong_AsLong(f) : F_NODE;
    if (!in_place_name(name))
        return flags;
    if (f == NULL) {
        char twin[128];
        size_t n = strlen(name) - 1;
        if (n < sizeof twin) {
            memcpy(twin, name, n);
            twin[n] = 0;
            f = PyDict_GetItemString(by_name, twin);
            flags = f ? PyLong_AsLong(f) & ~(F_FACTORY | F_STRUCT) : F_NODE;
            flags = flags & F_PURE ? (flags & ~F_PURE) | F_TOTAL | F_TRIAL : flags;
        }
    }
    return flags & (F_SPECIAL | F_BREAK) ? flags : flags | F_MUTATES | F_ALIAS;
}

/* -- Filling the tables ------------------------------------------------------- */

typedef int Add(const char *name, long flags);

/* Calls add for each word of a row. */
static int each_word(const char *words, long flags, Add *add)
{
    char word[128];
    for (const char *p = words; *p;) {
        size_t n = strcspn(p, " ");
        if (n && n < sizeof word) {
            memcpy(word, p, n);
            word[n] = 0;
            if (add(word, flags) < 0)
                return -1;
        }
        p += n + (p[n] == ' ');
    }
    return 0;
}

static int put(PyObject *dict, PyObject *key, long flags)
{
    PyObject *f = PyLong_FromLong(flags);
    int r = f ? PyDict_SetItem(dict, key, f) : -1;
    Py_XDECREF(f);
    return r;
}

static int put_string(PyObject *dict, const char *name, long flags)
{
    PyObject *key = PyUnicode_InternFromString(name);
    int r = key ? put(dict, key, flags) : -1;
    Py_XDECREF(key);
    return r;
}

static int add_name(const char *name, long flags)
{
    PyObject *old = PyDict_GetItemString(by_name, name);
    return put_string(by_name, name, flags | (old ? PyLong_AsLong(old) : 0));
}

static int add_attr(const char *name, long flags)
{
    return put_string(by_attr, name, flags);
}

/* A path that this torch does not have is no error. */
static int add_path(const char *path, long flags)
{
    PyObject *o = torch_path(path);
    if (o == NULL) {
        PyErr_Clear();
        return 0;
    }
    const char *dot = strrchr(path, '.');
    if (flags == F_NODE)
        flags = flags_of(dot ? dot + 1 : path);
    int r = put(by_object, o, flags);
    Py_DECREF(o);
    return r;
}

static int add_rows(bool paths)
{
    enum {
        NODE = F_NODE,
        FACTORY = F_FACTORY,
        RANDOM = F_RANDOM,
        MUTATES = F_MUTATES,
        VIEW = F_VIEW,
        ALIAS = F_ALIAS,
        SYNCS = F_SYNCS,
        STRUCT = F_STRUCT,
        USER = F_USER,
        PURE = F_PURE,
        CONST = F_CONST,
        BREAK = F_BREAK,
        SPECIAL = F_SPECIAL,
        NONE = F_NONE,
        LOOSE = F_LOOSE,
        LAYOUT = F_LAYOUT,
        FRESH = F_FRESH,
        TOTAL = F_TOTAL,
        TRIAL = F_TRIAL,
        COSTLY = F_COSTLY,
        LOWER = F_LOWER,
        FULL = F_FULL,
        RECAST = F_RECAST,
        INDEXED = F_INDEXED,
        FACTORY_RANDOM = F_FACTORY | F_RANDOM
    };
#define OPS(flags, words)                                                                \
    if (!paths && each_word(words, flags, add_name) < 0)                                 \
        return -1;
#define ATTR(flags, words)                                                               \
    if (!paths && each_word(words, flags, add_attr) < 0)                                 \
        return -1;
#define PATH(flags, words)                                                               \
    if (paths && each_word(words, flags, add_path) < 0)                                  \
        return -1;
#define RULE(rule, words)                                                                \
    if (!paths && each_word(words, (long)rules_find(#rule) << RULE_SHIFT, add_name) < 0) \
        return -1;
#include "torch/ops.def"
#undef OPS
#undef ATTR
#undef PATH
#undef RULE
    return 0;
}

/* -- Torch's namespaces ------------------------------------------------------- */

typedef bool Wanted(PyObject *o, const char *module);

static bool c_function(PyObject *o, const char *module)
{
    return PyCFunction_Check(o);
}

/* Python functions that `module` defines itself. */
static bool own_function(PyObject *o, const char *module)
{
    if (!PyFunction_Check(o))
        return PyCFunction_Check(o);
    PyObject *m = PyObject_GetAttrString(o, "__module__");
    bool own = m && PyUnicode_Check(m) && strcmp(PyUnicode_AsUTF8(m), module) == 0;
    PyErr_Clear();
    Py_XDECREF(m);
    return own;
}

/* In a row that says something: torch.dsmm comes before torch.mm, and is equal to it. */
static bool known(PyObject *o)
{
    PyObject *f = PyDict_GetItem(by_object, o);
    return f && PyLong_AsLong(f) != F_NODE;
}

static int add_namespace(const char *path, const char *module, Wanted *wanted)
{
    PyObject *ns = torch_path(path);
    if (ns == NULL) {
        PyErr_Clear();
        return 0;
    }
    PyObject *names = PyObject_Dir(ns);
    int r = names ? 0 : -1;
    for (Py_ssize_t i = 0; r == 0 && i < PyList_GET_SIZE(names); i++) {
        PyObject *name = PyList_GET_ITEM(names, i);
        const char *s = PyUnicode_AsUTF8(name);
        if (s[0] == '_' && (s[1] == '_' || wanted == own_function))
            continue; /* private Python helpers are read as Python */
        PyObject *o = PyObject_GetAttr(ns, name);
        if (o && wanted(o, module) && !known(o))
            r = put(by_object, o, flags_of(s));
        PyErr_Clear();
        Py_XDECREF(o);
    }
    Py_XDECREF(names);
    Py_DECREF(ns);
    return r;
}

static int add_namespaces(void)
{
    static const struct {
        const char *path, *module;
        Wanted *wanted;
    } rows[] = {
        { "_C._VariableFunctions", "", c_function },
        { "_C._nn", "", c_function },
        { "_C._fft", "", c_function },
        { "_C._linalg", "", c_function },
        { "_C._special", "", c_function },
        { "functional", "torch.functional", own_function },
        { "nn.functional", "torch.nn.functional", own_function },
        { "_lowrank", "torch._lowrank", own_function },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (add_namespace(rows[i].path, rows[i].module, rows[i].wanted) < 0)
            return -1;
    return 0;
}

/* The functions of the operator module that have a meaning on tensors. */
static const struct {
    const char *name;
    long flags;
} operators[] = {
    { "floordiv", F_LAYOUT },
    { "mod", F_NODE },
    { "pow", F_NODE },
    { "lshift", F_NODE },
    { "rshift", F_NODE },
    { "abs", F_PURE },
    { "add", F_PURE },
    { "sub", F_PURE },
    { "mul", F_PURE },
    { "neg", F_PURE },
    { "eq", F_PURE },
    { "ne", F_PURE },
    { "lt", F_PURE },
    { "le", F_PURE },
    { "gt", F_PURE },
    { "ge", F_PURE },
    { "concat", F_BREAK },
    { "iconcat", F_BREAK },
    { "delitem", F_BREAK },
    { "truediv", F_PURE | F_LAYOUT },
    { "matmul", F_PURE | F_FRESH },
    { "pos", F_PURE | F_ALIAS },
    { "inv", F_PURE },
    { "invert", F_PURE },
    { "and_", F_PURE },
    { "or_", F_PURE },
    { "xor", F_PURE },
    { "getitem", F_VIEW },
    { "setitem", F_MUTATES },
    { "contains", F_SYNCS },
    { "truth", F_SYNCS },
    { "not_", F_SYNCS },
    { "index", F_SYNCS },
    { "countOf", F_SYNCS },
    { "indexOf", F_SYNCS },
    { "iadd", F_MUTATES },
    { "isub", F_MUTATES },
    { "imul", F_MUTATES },
    { "itruediv", F_MUTATES },
    { "ifloordiv", F_MUTATES },
    { "imod", F_MUTATES },
    { "ipow", F_MUTATES },
    { "iand", F_MUTATES },
    { "ior", F_MUTATES },
    { "ixor", F_MUTATES },
    { "ilshift", F_MUTATES },
    { "irshift", F_MUTATES },
    { "imatmul", F_NODE },
};

static int add_operators(void)
{
    PyObject *m = PyImport_ImportModule("operator");
    int r = m ? 0 : -1;
    for (size_t i = 0; r == 0 && i < COUNT_OF(operators); i++) {
        PyObject *f = PyObject_GetAttrString(m, operators[i].name);
        PyObject *row = PyDict_GetItemString(by_name, operators[i].name);
        long said = row ? PyLong_AsLong(row) : 0;
        long flags =
            operators[i].flags |
            (said & (F_TOTAL | F_TRIAL | F_COSTLY | F_LOWER | F_FULL | F_RECAST)) |
            said >> RULE_SHIFT << RULE_SHIFT;
        r = f ? put(by_object, f, flags & F_MUTATES ? flags | F_ALIAS : flags) : -1;
        Py_XDECREF(f);
    }
    Py_XDECREF(m);
    return r;
}

/* C methods are nodes unless a row says otherwise; Python methods only if a row names them or they are arithmetic. */
static int add_methods(void)
{
    static const char *const python_nodes[] = {
        "__floordiv__", "__rfloordiv__", "__pow__",  "__rpow__", "__ipow__",
        "__rdiv__",     "__rtruediv__",  "__rsub__", "__rmod__", "__rmatmul__",
        "__rlshift__",  "__rrshift__",   "split",    "norm",     "unflatten",
        "istft",        "stft",          "lu",
    };
    PyObject *names = PyObject_Dir((PyObject *)torch_types.tensor);
    int r = names ? 0 : -1;
    for (Py_ssize_t i = 0; r == 0 && i < PyList_GET_SIZE(names); i++) {
        PyObject *name = PyList_GET_ITEM(names, i);
        const char *s = PyUnicode_AsUTF8(name);
        PyObject *o = PyObject_GetAttr((PyObject *)torch_types.tensor, name);
        PyErr_Clear();
        long flags = flags_of(s);
        bool node = o && !PyFunction_Check(o) && PyCallable_Check(o);
        for (size_t k = 0; k < COUNT_OF(python_nodes); k++)
            node |= strcmp(s, python_nodes[k]) == 0;
        if (!node && !(flags & (F_SYNCS | F_BREAK | F_SPECIAL)))
            flags = F_NONE;
        if (o && PyCallable_Check(o)) {
            r = put(by_method, name, flags);
            /* Torch.Tensor.add as a function: the same operation, whichever way it is reached. */
            if (r == 0 && (Py_IS_TYPE(o, &PyMethodDescr_Type) || PyFunction_Check(o)) &&
                !PyDict_GetItem(by_object, o))
                r = put(by_object, o, flags);
        }
        PyErr_Clear();
        Py_XDECREF(o);
    }
    Py_XDECREF(names);
    return r;
}

static PyTypeObject *type_at(const char *path)
{
    PyObject *o = torch_path(path);
    if (o && PyType_Check(o))
        return (PyTypeObject *)o;
    PyErr_Clear();
    Py_XDECREF(o);
    return NULL;
}

int classify_init(void)
{
    PyObject **dicts[] = { &by_name, &by_attr, &by_object, &by_method };
    for (size_t i = 0; i < COUNT_OF(dicts); i++) {
        Py_XSETREF(*dicts[i], PyDict_New());
        if (*dicts[i] == NULL)
            return -1;
    }
    tensor_base = type_at("_C.TensorBase");
    overload = type_at("_ops.OpOverload");
    packet = type_at("_ops.OpOverloadPacket");
    higher_order = type_at("_ops.HigherOrderOperator");
    custom_op = type_at("_library.custom_ops.CustomOpDef");
    /* Rows by path come first: a namespace never overrides them. */
    if (add_rows(false) < 0 || add_rows(true) < 0 || add_namespaces() < 0 ||
        add_operators() < 0)
        return -1;
    return add_methods();
}

/* -- torch.ops ---------------------------------------------------------------- */

static bool truth_of(PyObject *o, const char *attr)
{
    PyObject *v = PyObject_GetAttrString(o, attr);
    bool yes = v && PyObject_IsTrue(v) == 1;
    PyErr_Clear();
    Py_XDECREF(v);
    return yes;
}

static bool has_tag(PyObject *op, const char *name)
{
    PyObject *tags = PyObject_GetAttrString(op, "tags");
    PyObject *tag_type = torch_path("Tag");
    PyObject *tag = tag_type ? PyObject_GetAttrString(tag_type, name) : NULL;
    bool yes = tags && tag && PySequence_Contains(tags, tag) == 1;
    PyErr_Clear();
    Py_XDECREF(tag);
    Py_XDECREF(tag_type);
    Py_XDECREF(tags);
    return yes;
}

/* aten and prims are torch's own; what other namespaces do is for their author to know. */
static bool own_namespace(PyObject *op)
{
    PyObject *ns = PyObject_GetAttrString(op, "namespace");
    const char *s = ns && PyUnicode_Check(ns) ? PyUnicode_AsUTF8(ns) : "";
    bool own = strcmp(s, "aten") == 0 || strcmp(s, "prims") == 0;
    PyErr_Clear();
    Py_XDECREF(ns);
    return own;
}

/* What the rows say of the plain name ("add" of aten.add.Tensor). */
static long named_flags(PyObject *op)
{
    PyObject *name = PyObject_GetAttrString(op, "__name__");
    const char *s = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    char plain[128];
    size_t n = s ? strcspn(s, ".") : 0;
    long f = 0;
    if (n && n < sizeof plain) {
        memcpy(plain, s, n);
        plain[n] = 0;
        f = flags_of(plain) &
            (F_LOOSE | F_LAYOUT | F_FRESH | F_SYNCS | F_MUTATES | F_TRIAL | F_COSTLY);
    }
    PyErr_Clear();
    Py_XDECREF(name);
    return f;
}

static long overload_flags(PyObject *op)
{
    long f = own_namespace(op) ? named_flags(op) : F_USER;
    PyObject *schema = PyObject_GetAttrString(op, "_schema");
    if (schema && truth_of(schema, "is_mutable"))
        f |= F_MUTATES | F_ALIAS;
    PyErr_Clear();
    Py_XDECREF(schema);
    if (truth_of(op, "is_view"))
        f |= F_VIEW;
    if (has_tag(op, "nondeterministic_seeded"))
        f |= F_RANDOM;
    if (has_tag(op, "data_dependent_output") || has_tag(op, "dynamic_output_shape"))
        f |= F_SYNCS;
    return f | F_STRUCT;
}

/* A packet does what any of its overloads may do. */
static long packet_flags(PyObject *op)
{
    long f = F_NODE;
    PyObject *names = PyObject_CallMethod(op, "overloads", NULL);
    for (Py_ssize_t i = 0; names && PyList_Check(names) && i < PyList_GET_SIZE(names);
         i++) {
        const char *name = PyUnicode_AsUTF8(PyList_GET_ITEM(names, i));
        if (name == NULL || strstr(name, "out"))
            continue;
        PyObject *one = PyObject_GetAttr(op, PyList_GET_ITEM(names, i));
        if (one)
            f |= overload_flags(one);
        Py_XDECREF(one);
    }
    PyErr_Clear();
    Py_XDECREF(names);
    return f;
}

/* Operators are for ever, like the libraries that register them: remembered after the first look. */
static long remember(PyObject *callable, long flags)
{
    if (put(by_object, callable, flags) < 0)
        PyErr_Clear();
    return flags;
}

static bool is_a(PyObject *o, PyTypeObject *type)
{
    return type && PyObject_TypeCheck(o, type);
}

/* -- Asking ------------------------------------------------------------------- */

static bool torch_module_name(PyObject *m)
{
    const char *s = m && PyUnicode_Check(m) ? PyUnicode_AsUTF8(m) : NULL;
    return s && (strcmp(s, "torch") == 0 || strncmp(s, "torch.", 6) == 0);
}

/* C code of torch that no row names: what it does is unknown. */
static long unnamed_c(PyObject *f)
{
    PyObject *m = ((PyCFunctionObject *)f)->m_module;
    PyObject *self = PyCFunction_GET_SELF(f);
    if (torch_module_name(m))
        return F_BREAK;
    if (self && PyModule_Check(self)) {
        const char *s = PyModule_GetName(self);
        PyErr_Clear();
        return s && strncmp(s, "torch", 5) == 0 ? F_BREAK : F_NONE;
    }
    PyTypeObject *of = self == NULL         ? NULL
                       : PyType_Check(self) ? (PyTypeObject *)self
                                            : Py_TYPE(self);
    return of && strncmp(of->tp_name, "torch.", 6) == 0 ? F_BREAK : F_NONE;
}

static long unnamed(PyObject *o)
{
    if (PyCFunction_Check(o))
        return unnamed_c(o);
    if (is_a(o, overload))
        return remember(o, overload_flags(o));
    if (is_a(o, packet))
        return remember(o, packet_flags(o));
    if (is_a(o, higher_order))
        return F_BREAK;
    if (is_a(o, custom_op))
        return F_USER | F_STRUCT;
    if (Py_IS_TYPE(o, &PyMethodDescr_Type) || Py_IS_TYPE(o, &PyWrapperDescr_Type)) {
        const char *owner = PyDescr_TYPE(o)->tp_name;
        return strncmp(owner, "torch.", 6) == 0 ? F_BREAK : F_NONE;
    }
    return F_NONE;
}

/* Whether hashing and comparing o is CPython's or torch's own code. */
static bool may_look_up(PyObject *o)
{
    return PyCFunction_Check(o) || PyFunction_Check(o) ||
           Py_TYPE(o)->tp_hash == PyBaseObject_Type.tp_hash ||
           Py_IS_TYPE(o, &PyMethodDescr_Type) || Py_IS_TYPE(o, &PyWrapperDescr_Type) ||
           Py_IS_TYPE(o, &PyType_Type) || is_a(o, overload) || is_a(o, packet) ||
           is_a(o, higher_order) || is_a(o, custom_op);
}

TorchOp torch_classify(PyObject *callable)
{
    if (!torch_ready || !may_look_up(callable))
        return op_of(F_NONE);
    if (Py_IS_TYPE(callable, &PyWrapperDescr_Type) &&
        PyDescr_TYPE(callable) == tensor_base)
        return torch_classify_method(PyDescr_NAME(callable));
    PyObject *f = PyDict_GetItemWithError(by_object, callable);
    if (f)
        return op_of(PyLong_AsLong(f));
    TorchOp op = op_of(unnamed(callable));
    PyErr_Clear();
    return op;
}

TorchOp torch_classify_method(PyObject *name)
{
    PyObject *f = torch_ready ? PyDict_GetItemWithError(by_method, name) : NULL;
    PyErr_Clear();
    return op_of(f ? PyLong_AsLong(f) : F_NONE);
}

TorchOp torch_classify_attr(PyObject *name)
{
    PyObject *f = torch_ready ? PyDict_GetItemWithError(by_attr, name) : NULL;
    PyErr_Clear();
    return op_of(f ? PyLong_AsLong(f) : F_BREAK);
}

bool torch_custom_op(PyObject *o)
{
    return torch_ready && is_a(o, custom_op);
}
