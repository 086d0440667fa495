/*
 * guard/calc.c -- operations on exact int, float, bool and str.
 *
 * One implementation for the trace, which wants the value, and for the check program.
 */
#include "guard/expr.h"

enum { LARGE_BITS = 120, LARGE_STR = 1000, MANY_BITS = 4096 };

bool calc_exact(PyObject *o)
{
    return PyLong_CheckExact(o) || PyFloat_CheckExact(o) || PyBool_Check(o) ||
           PyUnicode_CheckExact(o);
}

/* -- Tables ----------------------------------------------------------------- */

static PyObject *power(PyObject *a, PyObject *b)
{
    return PyNumber_Power(a, b, Py_None);
}

static const struct {
    const char *name;
    PyObject *(*fn)(PyObject *, PyObject *);
} binaries[BIN_COUNT] = {
    [BIN_ADD] = { "+", PyNumber_Add },
    [BIN_AND] = { "&", PyNumber_And },
    [BIN_FLOORDIV] = { "//", PyNumber_FloorDivide },
    [BIN_LSHIFT] = { "<<", PyNumber_Lshift },
    [BIN_MATMUL] = { "@", PyNumber_MatrixMultiply },
    [BIN_MUL] = { "*", PyNumber_Multiply },
    [BIN_MOD] = { "%", PyNumber_Remainder },
    [BIN_OR] = { "|", PyNumber_Or },
    [BIN_POW] = { "**", power },
    [BIN_RSHIFT] = { ">>", PyNumber_Rshift },
    [BIN_SUB] = { "-", PyNumber_Subtract },
    [BIN_TRUEDIV] = { "/", PyNumber_TrueDivide },
    [BIN_XOR] = { "^", PyNumber_Xor },
};

static PyObject *truth(PyObject *a)
{
    return PyBool_FromLong(PyObject_IsTrue(a));
}

static PyObject *negation(PyObject *a)
{
    return PyBool_FromLong(!PyObject_IsTrue(a));
}

/* The module's own function, for its results and errors to the bit; not what a program has put in its place. */
static PyObject *math_call(PyObject **fn, const char *name, PyObject *a)
{
    if (*fn == NULL) {
        PyObject *math = PyImport_ImportModule("math");
        PyObject *found = math ? PyObject_GetAttrString(math, name) : NULL;
        if (found && PyCFunction_CheckExact(found) && PyCFunction_GET_SELF(found) == math)
            *fn = found;
        else
            Py_XDECREF(found);
        Py_XDECREF(math);
    }
    return *fn ? PyObject_CallOneArg(*fn, a) : NULL;
}

#define X(op, name)                                                                      \
    static PyObject *math_##name(PyObject *a)                                            \
    {                                                                                    \
        static PyObject *fn;                                                             \
        return math_call(&fn, #name, a);                                                 \
    }
EXPR_MATH(X)
#undef X
#define MATH_ROW(op, name) { op, "math." #name "(", math_##name },

static const struct {
    char op;
    const char *name;
    PyObject *(*fn)(PyObject *);
} unaries[] = { { '-', "-", PyNumber_Negative },
                { '+', "+", PyNumber_Positive },
                { '~', "~", PyNumber_Invert },
                { '!', "not ", negation },
                { 'b', "bool(", truth },
                { 'i', "int(", PyNumber_Long },
                { 'f', "float(", PyNumber_Float },
                { 's', "str(", PyObject_Str },
                { 'a', "abs(", PyNumber_Absolute },
                EXPR_MATH(MATH_ROW) };

const char *calc_binary_name(int op)
{
    return binaries[op].name;
}

const char *calc_compare_name(int cmp)
{
    static const char *const names[] = {
        [Py_LT] = "<",  [Py_LE] = "<=", [Py_EQ] = "==",
        [Py_NE] = "!=", [Py_GT] = ">",  [Py_GE] = ">=",
    };
    return names[cmp];
}

const char *calc_unary_name(char op)
{
    for (size_t i = 0; i < COUNT_OF(unaries); i++)
        if (unaries[i].op == op)
            return unaries[i].name;
    return "?";
}

/* -- Operations ------------------------------------------------------------- */

PyObject *calc_unary(char op, PyObject *a)
{
    assert(calc_exact(a));
    for (size_t i = 0; i < COUNT_OF(unaries); i++)
        if (unaries[i].op == op)
            return unaries[i].fn(a);
    PyErr_BadInternalCall();
    return NULL;
}

PyObject *calc_binary(int op, PyObject *a, PyObject *b)
{
    assert(calc_exact(a) && calc_exact(b));
    if (op < 0 || op >= BIN_COUNT) {
        PyErr_BadInternalCall();
        return NULL;
    }
    return binaries[op].fn(a, b);
}

PyObject *calc_compare(int cmp, PyObject *a, PyObject *b)
{
    assert(calc_exact(a) && calc_exact(b));
    return PyObject_RichCompare(a, b, cmp);
}

bool calc_large(PyObject *o)
{
    if (PyUnicode_CheckExact(o))
        return PyUnicode_GET_LENGTH(o) > LARGE_STR;
    return PyLong_CheckExact(o) && _PyLong_NumBits(o) > LARGE_BITS;
}

static bool above(PyObject *n, long limit)
{
    int overflow;
    long v = PyLong_AsLongAndOverflow(n, &overflow);
    return overflow > 0 || (overflow == 0 && v > limit);
}

bool calc_excessive(int op, PyObject *a, PyObject *b)
{
    if (calc_large(a) || calc_large(b))
        return true;
    if ((op == BIN_POW || op == BIN_LSHIFT) && PyLong_Check(a) && PyLong_Check(b))
        return above(b, MANY_BITS);
    if (op == BIN_MUL && PyUnicode_CheckExact(a))
        return above(b, MANY_BITS);
    if (op == BIN_MUL && PyUnicode_CheckExact(b))
        return above(a, MANY_BITS);
    return false;
}
