/*
 * graph/graph.h -- the captured graph: nodes in an array, arguments as small trees.
 *
 * Append-only under the journal; a rewind shortens it. Node ids are indices.
 */
#ifndef JEDLIK_GRAPH_GRAPH_H
#define JEDLIK_GRAPH_GRAPH_H

#include "base/text.h"
#include "base/vec.h"
#include "source/source.h"

typedef enum {
    GA_CONST, /* any object fx takes as an immediate: None, numbers, str, dtype, device, layout, Size … */
    GA_NODE,
    GA_TUPLE,
    GA_LIST,
    GA_DICT,  /* items: key0, value0, key1 … ; keys are GA_CONST */
    GA_SLICE, /* three items */
} GArgTag;

typedef struct GArg GArg;
struct GArg {
    GArgTag tag;
    uint32_t n; /* items */
    union {
        PyObject *obj; /* GA_CONST, held by the arena */
        uint32_t node;
        GArg *items;
    };
};

typedef enum {
    NODE_INPUT,    /* placeholder: a tensor loaded through `src`, or the number `expr` */
    NODE_FUNCTION, /* target(*args, **kwargs) */
    NODE_METHOD,   /* args[0].target(*args[1:], **kwargs); target is a str */
} NodeKind;

enum { SWITCHES_GRAD = 1, SWITCHES_CAST = 2, SWITCHES_KERNELS = 4 };

typedef struct Node {
    NodeKind kind;
    bool pure; /* may vanish when unused (rule 14): validated shapes, no effects, no random numbers */
    bool mutates;       /* writes to an argument's storage or metadata */
    bool mutates_input; /* … and that storage may exist outside the graph: */
    uint32_t nwrites;
    uint32_t *writes; /* nodes whose values it may write to */
    bool open;        /* runs user Python (rule 15) */
    bool raises;      /* may raise on data */
    bool random;      /* draws random numbers */
    bool beside;      /* another node does it: no part of the graph */
    bool live;        /* set by graph_prune */
    PyObject *target;
    uint32_t nargs, nkw;
    GArg *args;        /* nargs positional, then nkw keyword values */
    PyObject *kwnames; /* tuple of str or NULL */
    Source *src;       /* NODE_INPUT */
    struct Expr *expr; /* NODE_INPUT: a number, of whatever value; NULL: a tensor */
    bool as_tensor; /* NODE_INPUT: backends are given the number as a tensor without dimensions */
    PyObject *example; /* NODE_INPUT: the real tensor or number seen, borrowed */
    PyObject *
        meta; /* inferred result: meta tensor(s), held by the arena; NULL while pending */
    PyObject *
        device; /* of the result's tensors in the real program, borrowed; NULL: none or not known */
    bool grad;                   /* grad mode it was recorded under */
    const struct Autocast *cast; /* autocast it was recorded under; NULL: as at the start */
    uint8_t switches; /* SWITCHES_: changes torch's ambient state and computes nothing */
    uint32_t region; /* computed again in the backward pass, with all nodes of this number; 0: not */
    PyCodeObject *co; /* where it came from, borrowed */
    int line;
} Node;

/* What a trace leaves to the real thing, because one before it came to no good end. One that is to go the same way has the same. */
typedef struct Ways {
    bool no_modes; /* regions of inference mode: a trace ended in an open one */
    bool plain_nodes; /* seeds, parameters: the backend has refused a graph with such a node */
    uintptr_t
        in_place; /* number of the autograd.Function (Tx.applies) whose forward is traced in place and broke beside the graph */
} Ways;

typedef struct Graph {
    Arena *arena;
    Journal *journal;
    VEC(Node) node;
    uint32_t keep; /* nodes before this one stay, dead or not: failures need their values */
} Graph;

/* Appends; *id is its index. ST_ERROR on memory. */
Status graph_add(Graph *g, Node n, uint32_t *id);
/* Marks what the outputs and impure nodes need; returns how many operation nodes stay. */
int graph_prune(Graph *g, const uint32_t *outputs, int noutputs);
/* What of torch's ambient state the live nodes change while they run: SWITCHES_. */
uint8_t graph_switches(const Graph *g);
/* 1 + index of the last node that may raise when something outside of the graph has been changed; 0: none (rule 13). */
uint32_t graph_hazard(const Graph *g);
/* "v0 = input L['x'] ; v1 = torch.sin v0", one node a line, live nodes only, numbered in order. */
void graph_print(Text *t, const Graph *g, const uint32_t *outputs, int noutputs,
                 PyObject *slot_names);

#endif
