/*
 * graph/graph.c -- appending nodes and finding the dead ones.
 *
 * Takes: nodes from the trace, outputs from the final state. Gives: ids and live marks.
 * Holds: arguments refer to earlier nodes only, so one backward pass settles liveness.
 */
#include "graph/graph.h"

Status graph_add(Graph *g, Node n, uint32_t *id)
{
    uint32_t at = (uint32_t)g->node.n;
    if (!VEC_PUSH(g->arena, g->journal, &g->node, n))
        return ST_ERROR;
    *id = at;
    return ST_OK;
}

static void mark_arg(Graph *g, const GArg *a)
{
    if (a->tag == GA_NODE) {
        g->node.v[a->node].live = true;
        return;
    }
    if (a->tag == GA_CONST)
        return;
    for (uint32_t i = 0; i < a->n; i++)
        mark_arg(g, &a->items[i]);
}

uint8_t graph_switches(const Graph *g)
{
    uint8_t all = 0;
    for (size_t i = 0; i < g->node.n; i++)
        if (g->node.v[i].live)
            all |= g->node.v[i].switches;
    return all;
}

uint32_t graph_hazard(const Graph *g)
{
    bool changed = false;
    uint32_t last = 0;
    for (uint32_t i = 0; i < g->node.n; i++) {
        const Node *n = &g->node.v[i];
        if (n->beside)
            continue;
        changed |= n->mutates_input || n->open;
        if (changed && (n->raises || n->open))
            last = i + 1;
    }
    return last;
}

/* Marking is not journalled: nothing reads `live` before the trace is over. */
int graph_prune(Graph *g, const uint32_t *outputs, int noutputs)
{
    for (size_t i = 0; i < g->node.n; i++)
        g->node.v[i].live = false;
    for (int i = 0; i < noutputs; i++)
        g->node.v[outputs[i]].live = true;
    int kept = 0;
    for (size_t i = g->node.n; i-- > 0;) {
        Node *n = &g->node.v[i];
        if (n->kind == NODE_INPUT)
            continue; /* lives if somebody reads it; its users lie behind it */
        n->live |= !n->pure || (i < g->keep && !n->beside);
        if (!n->live)
            continue;
        kept += !n->switches;
        for (uint32_t k = 0; k < n->nargs + n->nkw; k++)
            mark_arg(g, &n->args[k]);
    }
    return kept;
}
