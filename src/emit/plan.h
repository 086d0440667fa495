/*
 * emit/plan.h -- inside emit/: one value, one way to put it on the stack.
 *
 * The same functions run twice. In the first pass (`code` NULL) emit_load counts uses, finds exports, graph outputs
 * and cycles; in the second it writes instructions. So what a recipe needs is said once.
 */
#ifndef JEDLIK_EMIT_PLAN_H
#define JEDLIK_EMIT_PLAN_H

#include "emit/emit.h"
#include "emit/helpers.h"

typedef enum {
    HOW_EXPORT, /* the guard program loaded it: an argument of the segment */
    HOW_CONST,  /* LOAD_CONST */
    HOW_BUILD,  /* a recipe makes it; graph outputs too */
} How;

typedef struct Item {
    Var *v;
    How how;
    int arg; /* HOW_EXPORT: number of the export; graph output: its place in the tuple */
    PyObject *obj; /* HOW_CONST */
    int uses;
    int slot; /* local that keeps it, or -1 */
    bool shell; /* made empty first, content after: it is part of a cycle, or its kind asks for it */
    bool renew;     /* an iterator that is made again once all effects are written */
    bool made;      /* stands in its slot */
    bool busy;      /* being made */
    int order, low; /* first pass: Tarjan's numbers; 0: not seen */
    bool open;      /* first pass: on the stack of open components */
} Item;

typedef struct Emit Emit;

/* How a kind is made again. `fill` puts the content into an item that is a shell and whose value stands in its slot. */
typedef struct Recipe {
    Status (*build)(Emit *e, Item *it);
    Status (*fill)(Emit *e, Item *it);
    bool (*late)(Var *v); /* has content that only fill sets */
} Recipe;
extern const Recipe recipes[KIND_COUNT];

/* A write, once all values are known: operands are pushed, then the instruction runs. */
typedef enum {
#define EFFECT(name, text) FX_##name,
#include "emit/effects.def"
#undef EFFECT
} EffectKind;

typedef struct Effect {
    EffectKind kind;
    Var *target;
    PyObject *name; /* attribute */
    Helper helper;  /* FX_CALL */
    Var **v;        /* key, value … as the kind says */
    int n;
} Effect;

struct Emit {
    Tx *tx;
    Point *point;
    Asm *code; /* NULL: first pass */
    VEC(Item *) items;
    VEC(Item *) open;  /* Tarjan's stack */
    VEC(Item *) fills; /* shells that wait for their content */
    size_t filled;
    VEC(Item *) renewed;
    VEC(Export) exports;
    PtrMap exported;       /* Source or Expr -> its place in exports */
    VEC(uint32_t) outputs; /* graph nodes, in the order of the output tuple */
    VEC(Effect) effects;
    PtrMap told;  /* changed values whose effects are listed */
    Item *parent; /* first pass: whose children are being visited */
    int norder, depth;
    int nroots;           /* values of the exit tuple */
    int graph, out, left; /* locals: the callable, its output; outputs not taken yet */
    int first_arg;        /* local of export 0 */
    int nops;             /* operation nodes that stay */
};

static inline void *emit_alloc(Emit *e, size_t n)
{
    return arena_alloc(&e->tx->arena, n);
}
#define EMIT_PUSH(e, vec, ...)                                                           \
    (VEC_PUSH(&(e)->tx->arena, &(e)->tx->journal, (vec), __VA_ARGS__) ? ST_OK : ST_ERROR)

/* -- Values ------------------------------------------------------------------- */

bool emit_pinned(const Source *s); /* always the object that was found there */
Var *emit_settled(Var *v);         /* behind realised lazies */
Status emit_item(Emit *e, Var *v, Item **out);
Status emit_load(Emit *e, Var *v); /* puts v on top of the stack */
Status emit_load_obj(Emit *e,
                     PyObject *obj); /* an object of the outside world that has no Var */
Status emit_fill(Emit *e);           /* contents of shells; the stack is left alone */
Status emit_renew(Emit *e);          /* iterators over what effects have changed */
Status emit_export(Emit *e, Source *src, Expr *expr, int *index);
bool emit_is_constant(
    PyObject *obj); /* may stand in co_consts: nothing of the user's hangs on it */

/* -- Instructions: nothing in the first pass ------------------------------------ */

static inline void put(Emit *e, Op op, int arg)
{
    if (e->code)
        asm_op(e->code, op, arg);
}
static inline void put_const(Emit *e, PyObject *obj)
{
    if (e->code)
        asm_const(e->code, obj);
}
static inline void put_name(Emit *e, Op op, PyObject *name)
{
    if (e->code)
        asm_name(e->code, op, name);
}
static inline void put_call(Emit *e, int nargs)
{
    if (e->code)
        asm_call(e->code, nargs, NULL);
}
/* NULL and the helper; put_call follows behind the arguments. */
static inline void put_helper(Emit *e, Helper h)
{
    put(e, OP_PUSH_NULL, 0);
    put_const(e, helper_object(h));
}
/* The same for a callable of the outside world. */
static inline Status put_callee(Emit *e, PyObject *callable)
{
    put(e, OP_PUSH_NULL, 0);
    return emit_load_obj(e, callable);
}
Status put_key(Emit *e, const KeyEntry *k);
/* What an attribute entry goes by: a str, or the member descriptor of a slot (ObjectVar.members has it as id). */
static inline PyObject *emit_name(const KeyEntry *k)
{
    return k->key ? k->key : k->id;
}

/* -- Parts of emit_entry ----------------------------------------------------------- */

Status emit_list_effects(
    Emit *e); /* the ledger as Effects; first pass over their operands */
Status emit_write_effects(Emit *e); /* second pass */
void emit_print_effects(Emit *e, Text *t);
void emit_print_value(Emit *e, Text *t, Var *v, int depth);
Status emit_distinct(Tx *tx, const Options *o);     /* not-aliased guards */
Status emit_hand_off(Emit *e, PyObject **callable); /* new reference; None: no graph */
Status emit_exit(Emit *e, Exit **out);
Status emit_load_frames(Emit *e);
Status emit_set_steps(Emit *e, Var *v, PyObject **steps, Var ***items, int *n);
Status emit_note(Emit *e); /* texts for emit_log */
Status emit_note_guards(Emit *e, const Guards *g);

#endif
