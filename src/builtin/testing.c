/*
 * builtin/testing.c -- what tests are written with, where it is not plain Python for a trace: tracebacks, regular expressions.
 *
 * The methods of unittest.TestCase themselves are Python and are inlined like any other, if config.capture_unittest is
 * set.
 */
#include "builtin/help.h"

/* Called with the traceback of an exception that the trace itself has raised and caught: there are no frames to clear. */
static Status clear_frames(Tx *tx, const Args *a, Var **out)
{
    Var *tb = a->v[0];
    TRY(var_real(tx, &tb));
    if (tb->type != &PyTraceBack_Type || tb->real != NULL)
        return ST_DECLINE;
    *out = tx_none(tx);
    return ST_OK;
}

/* -- Regular expressions ---------------------------------------------------------- */

/* The functions of re are Python, but what they do with constants depends on these alone. */
#define REGEX(name)                                                                      \
    static Status re_##name(Tx *tx, const Args *a, Var **out)                            \
    {                                                                                    \
        PyObject *f = lookup_path(tx, "re", #name);                                      \
        return f ? fold_run(tx, f, a, out) : ST_DECLINE;                                 \
    }
#define REGEXES(X)                                                                       \
    X(compile)                                                                           \
    X(_compile)                                                                          \
    X(match) X(search) X(fullmatch) X(split) X(findall) X(sub) X(subn) X(escape)
REGEXES(REGEX)
#undef REGEX

#define ROW(name) { "re." #name, 1, 5, re_##name, ANY_KW },

/* pattern.sub(function, text): the matches are found for real, the function is traced. */
static Status sub_calls(Tx *tx, const Args *a, Var **out)
{
    Var *repl = a->v[1], *piece;
    PyObject *pattern, *text, *r;
    TRY(var_real(tx, &repl));
    bool calls = repl->kind == &kind_func || repl->kind == &kind_method;
    if (!calls || !fold_possible(a->v[0]) || !fold_possible(a->v[2]))
        return ST_DECLINE;
    TRY(fold_value(tx, a->v[0], &pattern));
    TRY(fold_value(tx, a->v[2], &text));
    if (pattern == NULL || text == NULL || !PyUnicode_CheckExact(text))
        return ST_DECLINE;
    PyObject *found = tx_hold(tx, PyObject_CallMethod(pattern, "finditer", "O", text));
    PyObject *matches = found ? tx_hold(tx, PySequence_List(found)) : NULL;
    PyObject *parts = tx_hold(tx, PyList_New(0));
    if (matches == NULL || parts == NULL)
        return raise_now(tx);
    Py_ssize_t at = 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(matches); i++) {
        PyObject *m = PyList_GET_ITEM(matches, i);
        Var *match;
        Py_ssize_t start, end;
        PyObject *span = tx_hold(tx, PyObject_CallMethod(m, "span", NULL));
        TRY_PTR(span);
        start = PyLong_AsSsize_t(PyTuple_GET_ITEM(span, 0));
        end = PyLong_AsSsize_t(PyTuple_GET_ITEM(span, 1));
        TRY(const_peek(tx, m, &match));
        TRY(var_call1(tx, repl, match, &piece));
        TRY(var_const(tx, piece, &r));
        if (r == NULL || !PyUnicode_CheckExact(r))
            return graph_break(tx, BRK_UNKNOWN_CALL, "%s", "re.sub() with text not known");
        PyObject *before = tx_hold(tx, PyUnicode_Substring(text, at, start));
        if (before == NULL || PyList_Append(parts, before) < 0 ||
            PyList_Append(parts, r) < 0)
            return ST_ERROR;
        at = end;
    }
    PyObject *rest =
        tx_hold(tx, PyUnicode_Substring(text, at, PyUnicode_GET_LENGTH(text)));
    PyObject *empty = tx_hold(tx, PyUnicode_FromString(""));
    if (rest == NULL || empty == NULL || PyList_Append(parts, rest) < 0)
        return ST_ERROR;
    return at == 0 && PyList_GET_SIZE(matches) == 0
               ? const_peek(tx, text, out)
               : const_new(tx, PyUnicode_Join(empty, parts), out);
}

const Handler handlers_testing[] = {
    { "re.Pattern.sub", 3, 3, sub_calls, NULL },
    REGEXES(ROW){ "traceback.clear_frames", 1, 1, clear_frames, NULL },
    { 0 },
};
