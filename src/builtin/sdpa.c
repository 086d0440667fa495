/*
 * builtin/sdpa.c -- torch.nn.attention.sdpa_kernel(): which kernels of attention may be used.
 *
 * Takes: the two functions through which that context manager reads and writes the process's flags. Gives: the flags as the trace has
 * them (rule 17): nodes set them where the program does, so that the graph itself runs under them. Holds: reading them makes them
 * part of the guard on torch's ambient state. An order of preference is left to the real functions.
 */
#include "builtin/help.h"
#include "var/container.h"

static const char module[] = "torch.nn.attention";

/* The member of SDPBackend that stands for bit i of ambient_kernels(). */
static PyObject *backend(Tx *tx, int i)
{
    PyObject *all = lookup_path(tx, module, "SDPBackend");
    return all ? tx_hold(tx, PyObject_GetAttrString(all, kernel_names[i].member)) : NULL;
}

static Status ask(Tx *tx)
{
    if (tx->kernels)
        return ST_OK;
    ambient_ask_kernels(tx->ambient);
    SET(tx, tx->kernels0, KERNELS_ASKED | ambient_kernels());
    SET(tx, tx->kernels, tx->kernels0);
    return ST_OK;
}

static Status priority(Tx *tx, Var *flag, bool *yes)
{
    *yes = false;
    return flag ? var_truth(tx, flag, yes) : ST_OK;
}

/* _cur_sdpa_kernel_backends(with_priority=False) */
static Status current(Tx *tx, const Args *a, Var **out)
{
    Var *items[KERNELS];
    Py_ssize_t n = 0;
    bool ordered;
    TRY(priority(tx, args_get(a, 0, "with_priority"), &ordered));
    if (ordered || tx->ambient == NULL)
        return ST_DECLINE;
    TRY(ask(tx));
    for (int i = 0; i < KERNELS; i++) {
        PyObject *member = backend(tx, i);
        if (member == NULL)
            return raise_now(tx);
        if (tx->kernels & ((uintptr_t)1 << i))
            TRY(wrap_pinned(tx, member, NULL, &items[n++]));
    }
    return list_new(tx, items, n, out);
}

static Status node(Tx *tx, const char *target, GArg *args, uint32_t n, uint32_t *id)
{
    PyObject *fn = lookup_path(tx, module, target);
    if (fn == NULL)
        return raise_now(tx);
    return graph_add(&tx->graph,
                     (Node){ .kind = NODE_FUNCTION,
                             .target = fn,
                             .nargs = n,
                             .args = args,
                             .meta = Py_None,
                             .co = tx->top->code->co,
                             .line = code_line(tx->top->code, (int)tx->top->cur),
                             .switches = SWITCHES_KERNELS },
                     id);
}

/* The backends by name, since no constant in a graph can be one; then the call. */
static Status set_nodes(Tx *tx, const int *which, uint32_t n)
{
    GArg *list = tx_alloc(tx, (n + 1) * sizeof *list);
    GArg *args = tx_alloc(tx, 2 * sizeof *args);
    uint32_t ignored;
    if (list == NULL || args == NULL)
        return ST_ERROR;
    for (uint32_t i = 0; i < n; i++) {
        GArg *name = tx_alloc(tx, sizeof *name);
        TRY_PTR(name);
        *name = (GArg){ .tag = GA_CONST,
                        .obj = tx_hold(tx, PyUnicode_InternFromString(
                                               kernel_names[which[i]].member)) };
        TRY_PTR(name->obj);
        list[i] = (GArg){ .tag = GA_NODE };
        TRY(node(tx, "_backend_from_string", name, 1, &list[i].node));
    }
    args[0] = (GArg){ .tag = GA_LIST, .n = n, .items = list };
    args[1] = (GArg){ .tag = GA_CONST, .obj = Py_False };
    return node(tx, "_sdpa_kernel", args, 2, &ignored);
}

static Status which_one(Tx *tx, Var *v, int *which)
{
    TRY(var_real(tx, &v));
    for (*which = 0; *which < KERNELS; ++*which) {
        PyObject *member = backend(tx, *which);
        if (member == NULL)
            return raise_now(tx);
        if (member == v->real)
            return ST_OK;
    }
    return ST_DECLINE;
}

/* _sdpa_kernel(backends, set_priority=False) */
static Status set(Tx *tx, const Args *a, Var **out)
{
    Var **items, *backends = args_get(a, 0, "backends");
    Py_ssize_t n;
    int which[KERNELS];
    bool ordered, known;
    uintptr_t mask = KERNELS_ASKED;
    TRY(priority(tx, args_get(a, 1, "set_priority"), &ordered));
    if (ordered || backends == NULL || tx->ambient == NULL)
        return ST_DECLINE;
    TRY(items_exact(tx, backends, &items, &n, &known));
    if (!known || n > KERNELS)
        return ST_DECLINE;
    for (Py_ssize_t i = 0; i < n; i++) {
        TRY(which_one(tx, items[i], &which[i]));
        mask |= (uintptr_t)1 << which[i];
    }
    TRY(ask(tx));
    TRY(set_nodes(tx, which, (uint32_t)n));
    SET(tx, tx->kernels, mask);
    *out = tx_none(tx);
    return ST_OK;
}

/* torch._C._get_<flag>_sdp_enabled(): folded as other settings are, unless the trace has set them. */
static Status enabled(Tx *tx, const char *flag, Var **out)
{
    if (tx->kernels == 0)
        return ST_DECLINE;
    for (int i = 0; i < KERNELS; i++)
        if (strcmp(kernel_names[i].flag, flag) == 0) {
            *out = tx_bool(tx, tx->kernels >> i & 1);
            return ST_OK;
        }
    return ST_DECLINE;
}

#define ENABLED(flag)                                                                    \
    static Status flag##_enabled(Tx *tx, const Args *a, Var **out)                       \
    {                                                                                    \
        return enabled(tx, #flag, out);                                                  \
    }
ENABLED(cudnn)
ENABLED(flash)
ENABLED(mem_efficient)
ENABLED(math)
ENABLED(overrideable)
#undef ENABLED

const Handler handlers_sdpa[] = {
    { "torch._C._get_cudnn_sdp_enabled", 0, 0, cudnn_enabled, NULL },
    { "torch._C._get_flash_sdp_enabled", 0, 0, flash_enabled, NULL },
    { "torch._C._get_mem_efficient_sdp_enabled", 0, 0, mem_efficient_enabled, NULL },
    { "torch._C._get_math_sdp_enabled", 0, 0, math_enabled, NULL },
    { "torch._C._get_overrideable_sdp_enabled", 0, 0, overrideable_enabled, NULL },
    { "torch.nn.attention._cur_sdpa_kernel_backends", 0, 1, current, "with_priority" },
    { "torch.nn.attention._sdpa_kernel", 0, 2, set, "backends set_priority" },
    { 0 },
};
