/*
 * builtin/random.c -- seeds: torch.manual_seed, torch.get_rng_state, torch.set_rng_state.
 *
 * Takes: the calls. Gives: nodes in order with those that draw (rule 17); nobody drops them (rule 14), and a graph that fails behind one has
 * the generator put back before it is run plainly (rule 13). Holds: a seed that comes from outside is an input of the graph, of whatever
 * value. Only backends that run the graph's operations one by one can have such a node; for others it is a break.
 */
#include "builtin/help.h"
#include "torch/infer.h"
#include "trace/torchcall.h"

/* fn(arg), which gives nothing. */
static Status node(Tx *tx, PyObject *fn, GArg *arg, bool raises)
{
    Node n = {
        .kind = NODE_FUNCTION, .target = fn, .nargs = 1, .args = arg, .meta = Py_None
    };
    uint32_t id;
    return torch_node(tx, &n,
                      (TorchOp){ .cls = TC_NODE, .random = true, .total = !raises }, &id);
}

/* What torch takes for a seed without complaint. */
static bool fits(PyObject *seed)
{
    int over;
    PyLong_AsLongLongAndOverflow(seed, &over);
    if (over > 0)
        PyLong_AsUnsignedLongLong(seed);
    bool ok = over >= 0 && !PyErr_Occurred();
    PyErr_Clear();
    return ok;
}

/* The generator that the real function returns. */
static Status default_generator(Tx *tx, Var **out)
{
    PyObject *m = PyDict_GetItemString(PyImport_GetModuleDict(), "torch.random"), *name;
    Source *globals, *src;
    if (m == NULL || !PyModule_Check(m))
        return ST_DECLINE;
    PyObject *dict = PyModule_GetDict(m);
    PyObject *g = PyDict_GetItemString(dict, "default_generator");
    name = tx_hold(tx, PyUnicode_InternFromString("default_generator"));
    globals = source_get(&tx->sources, SRC_CONST, NULL, dict, 0);
    if (name == NULL || globals == NULL)
        return ST_ERROR;
    src = source_get(&tx->sources, SRC_ITEM, globals, name, 0);
    TRY_PTR(src);
    return g ? lazy_new(tx, g, src, out) : ST_DECLINE;
}

static Status manual_seed(Tx *tx, const Args *a, Var **out)
{
    Var *seed = args_get(a, 0, "seed"), *generator;
    PyObject *fn;
    GArg *arg = tx_alloc(tx, sizeof *arg);
    TRY_PTR(arg);
    if (seed == NULL)
        return ST_DECLINE;
    TRY(var_real(tx, &seed));
    bool lazy = seed->kind == &kind_scalar;
    if ((!lazy && seed->kind != &kind_const) || seed->type != &PyLong_Type)
        return ST_DECLINE;
    TRY(default_generator(tx, &generator));
    TRY(node_target(tx, "manual_seed", "torch.manual_seed", &fn));
    *arg = (GArg){ .tag = GA_CONST, .obj = seed->real };
    if (lazy)
        TRY(number_input(tx, AS(ScalarVar, seed), false, arg));
    TRY(node(tx, fn, arg, lazy || !fits(seed->real)));
    *out = generator;
    return ST_OK;
}

static Status get_state(Tx *tx, const Args *a, Var **out)
{
    PyObject *state, *meta, *device, *fn;
    TRY(node_target(tx, "get_rng_state", "torch.get_rng_state", &fn));
    state = tx_hold(tx, generator_state());
    if (state == NULL)
        return ST_DECLINE;
    meta = tx_hold(tx, infer_twin(state));
    device = tx_hold(tx, meta_device(state));
    if (meta == NULL || device == NULL)
        return ST_ERROR;
    TorchOp op = { .cls = TC_NODE, .random = true, .total = true };
    return torch_call_known(tx, fn, op, a, meta, device, out);
}

static Status set_state(Tx *tx, const Args *a, Var **out)
{
    Var *state = args_get(a, 0, "new_state");
    PyObject *fn;
    GArg *arg = tx_alloc(tx, sizeof *arg);
    TRY_PTR(arg);
    if (state == NULL)
        return ST_DECLINE;
    TRY(var_real(tx, &state));
    if (state->kind != &kind_tensor)
        return ST_DECLINE;
    TRY(node_target(tx, "set_rng_state", "torch.set_rng_state", &fn));
    arg->tag = GA_NODE;
    TRY(tensor_node(tx, AS(TensorVar, state), &arg->node));
    TRY(node(tx, fn, arg, true));
    *out = tx_none(tx);
    return ST_OK;
}

const Handler handlers_random[] = {
    { "torch.random.manual_seed", 0, 1, manual_seed, "seed" },
    { "torch.random.get_rng_state", 0, 0, get_state, NULL },
    { "torch.random.set_rng_state", 0, 1, set_state, "new_state" },
    { 0 },
};
