/*
 * builtin/checks.c -- torch's checks of tensors' data, and what torch.distributions needs for its own: nodes that fail, so that the plain
 * run that follows raises the program's error.
 */
#include "builtin/help.h"

static Status all_true(Tx *tx, Var *cond, Var **out)
{
    Var *all;
    bool possible;
    if (cond == NULL)
        return ST_DECLINE;
    TRY(var_real(tx, &cond));
    if (cond->kind != &kind_tensor)
        return ST_DECLINE;
    TRY(var_call_method(tx, cond, "all", NULL, 0, &all));
    TRY(assert_possible(tx, &all, &possible));
    if (!possible)
        return graph_break(tx, BRK_DATA_DEPENDENT, "%s", "a check of a tensor");
    TRY(assert_truth(tx, all, true));
    *out = tx_none(tx);
    return ST_OK;
}

/* torch._check_tensor_all(cond, message=None) */
static Status check_all(Tx *tx, const Args *a, Var **out)
{
    return all_true(tx, args_get(a, 0, "cond"), out);
}

/* torch._check_tensor_all_with(error_type, cond, message=None) */
static Status check_all_with(Tx *tx, const Args *a, Var **out)
{
    return all_true(tx, args_get(a, 1, "cond"), out);
}

/* The scan of state space models takes torch's associative_scan where it is compiled, which a trace does not have; else a loop, which it
 * has, and which rounds as the model does plainly. */
static Status compiling(Tx *tx, const Args *a, Var **out)
{
    if (tx->top == NULL || PyUnicode_CompareWithASCIIString(tx->top->code->co->co_name,
                                                            "mamba_selective_scan") != 0)
        return ST_DECLINE;
    *out = tx_bool(tx, false);
    return ST_OK;
}

/* What torch.distributions gives for a lazy property of a class: made for real, since nothing of it changes. */
static Status lazy_property(Tx *tx, const Args *a, Var **out)
{
    PyObject *cls =
        lookup_path(tx, "torch.distributions.utils", "_lazy_property_and_property");
    Var *wrapped = a->v[0];
    TRY(var_real(tx, &wrapped));
    if (cls == NULL || wrapped->kind != &kind_func || wrapped->real == NULL)
        return ST_DECLINE;
    if (wrapped->src != NULL && wrapped->src->kind != SRC_CONST)
        TRY(guard_is(&tx->guards, wrapped->src, wrapped->real));
    PyObject *made = tx_hold(tx, PyObject_CallOneArg(cls, wrapped->real));
    return made ? wrap_pinned(tx, made, NULL, out) : raise_now(tx);
}

const Handler handlers_checks[] = {
    { "transformers.utils.import_utils.is_torchdynamo_compiling", 0, 0, compiling, NULL },
    { "torch.distributions.utils._lazy_property_and_property", 1, 1, lazy_property, NULL },
    { "torch._check_tensor_all", 0, 2, check_all, "cond message" },
    { "torch._check_tensor_all_with", 1, 3, check_all_with, "error_type cond message" },
    { 0 },
};
