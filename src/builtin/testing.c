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

const Handler handlers_testing[] = {
    REGEXES(ROW){ "traceback.clear_frames", 1, 1, clear_frames, NULL },
    { 0 },
};
