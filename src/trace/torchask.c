/*
 * trace/torchask.c -- what the program may know of a traced tensor without a node: metadata that is certain.
 *
 * Takes: the name of what was called and what inference is not sure of. Gives: yes, with the guards that the answer hangs on, or a
 * break. Holds: strides, places in memory and view flags are told only if eager has the same (rule 18).
 */
#include "torch/infer.h"
#include "trace/torchcall.h"

Status torch_facts(Tx *tx, const TensorVar *t)
{
    const Var *v = t->same ? t->same : &t->v;
    size_t size;
    if (v->real && v->src) {
        const void *p = meta_facts_block(&tx->arena, v->real, &size);
        TRY_PTR(p);
        return guard_add(
            &tx->guards,
            (Guard){ .kind = GUARD_FACTS, .src = v->src, .p = p, .size = size });
    }
    for (size_t i = 0; i < tx->graph.node.n; i++) {
        const Node *n = &tx->graph.node.v[i];
        if (n->kind != NODE_INPUT || n->expr)
            continue;
        const void *p = meta_facts_block(&tx->arena, n->example, &size);
        TRY_PTR(p);
        TRY(guard_add(
            &tx->guards,
            (Guard){ .kind = GUARD_FACTS, .src = n->src, .p = p, .size = size }));
    }
    return ST_OK;
}

enum { ASKS_FACTS = 1 << 8 };

/* What the twins know, and which bits of doubt forbid the answer. Other questions are about the real memory. */
static const struct Question {
    const char *name;
    unsigned needs;
} questions[] = {
    { "size", 0 },
    { "dim", 0 },
    { "ndimension", 0 },
    { "numel", 0 },
    { "nelement", 0 },
    { "element_size", 0 },
    { "is_floating_point", 0 },
    { "is_complex", 0 },
    { "is_conj", 0 },
    { "is_neg", 0 },
    { "is_signed", 0 },
    { "is_same_size", 0 },
    { "get_device", 0 },
    { "is_distributed", 0 },
    { "result_type", 0 },
    { "dense_dim", 0 },
    { "sparse_dim", 0 },
    { "__len__", 0 },
    { "stride", UNSURE_STRIDES },
    { "is_contiguous", UNSURE_STRIDES },
    { "dim_order", UNSURE_STRIDES },
    { "storage_offset", UNSURE_STRIDES | ASKS_FACTS },
    { "_is_view", UNSURE_VIEW },
};

Status torch_ask(Tx *tx, const char *name, TorchOp op, unsigned unsure,
                 Var *const *tensors, int n)
{
    const struct Question *q = NULL;
    for (size_t i = 0; i < COUNT_OF(questions) && q == NULL; i++)
        if (strcmp(questions[i].name, name) == 0)
            q = &questions[i];
    if (q == NULL && op.cls == TC_SPECIAL)
        return graph_break(tx, BRK_TORCH_CALL, "%s", name);
    if (unsure & (q ? q->needs : UNSURE_ALL))
        return graph_break(tx, BRK_LAYOUT, "%s", name);
    for (int i = 0; q && (q->needs & ASKS_FACTS) && i < n; i++)
        if (AS(TensorVar, tensors[i])->external)
            TRY(torch_facts(tx, AS(TensorVar, tensors[i])));
    return ST_OK;
}
