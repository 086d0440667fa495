/*
 * guard/program.h -- the frozen check program, shared by freeze, check and report.
 *
 * Registers are assigned once and hold borrowed references, except those listed in `owned`.
 * Constants and constant sources are in their registers for good. No user code can run
 * between two instructions (no call of user code, no collection), so that what a register
 * borrows stays alive during the check.
 */
#ifndef JEDLIK_GUARD_PROGRAM_H
#define JEDLIK_GUARD_PROGRAM_H

#include "cpy/peek.h"
#include "guard/guard.h"

typedef enum {
#define SRC(name, text) DO_LOAD_##name,
#include "source/sources.def"
#undef SRC
#define GUARD(name, payload, text) DO_##name,
#include "guard/guards.def"
#undef GUARD
#define EXTRA(name) DO_##name,
#include "guard/extra.def"
#undef EXTRA
    DO_COUNT
} Do;

/* What a load asks of the value on the way. */
typedef enum {
    POST_NONE,
    POST_TYPE,   /* its type is q */
    POST_IS,     /* it is q */
    POST_EQ,     /* const_same as q */
    POST_ABSENT, /* there is no value */
    POST_QUIET,  /* there is none, or its end runs no code; nobody reads the register */
} Post;

typedef struct Check {
    uint8_t op, post;
    uint16_t hint;    /* of the last lookup; or an operator */
    uint32_t a, b, c; /* registers: target, operand, second operand */
    void *p;          /* key, index, number or payload */
    void *q;          /* type or object compared with */
    Memo memo;        /* of the last lookup in a dictionary */
} Check;

_Static_assert(sizeof(Check) == 48, "instructions are read in a row: keep them dense");

/* Loads compare what they load as `post` says; evaluations do not. */
static inline bool is_load(const Check *c)
{
    return c->op < SRC_COUNT || c->op == DO_LOAD_KEYED || c->op == DO_LOAD_INST_KEY;
}

/* A dictionary key that is no exact str. The hash is kept: computing it may run user code. */
typedef struct KeyRef {
    PyObject *key;
    Py_hash_t hash;
} KeyRef;

typedef struct Group { /* payload of DISTINCT; behind reg[]: the table, if the group is large */
    uint32_t n, mask;
    uint32_t reg[];
} Group;

typedef struct Sharers { /* payload of STORAGE; behind v[]: the table of storages */
    uint32_t n, mask;
    struct {
        uint32_t reg, first, shared;
        int64_t offset;
    } v[];
} Sharers;

/* One fact about what a lookup in a class gives. */
typedef enum {
    ATTR_ABSENT,
    ATTR_OWN,  /* obj itself, or const_same as it */
    ATTR_WEAK, /* obj is a weak reference to it */
    ATTR_PARTS, /* obj is a tuple: facts about the functions in a property, staticmethod … */
    ATTR_DESCR, /* a descriptor that C made for a class: same kind, class and name */
    ATTR_MRO, /* no lookup: obj is a tuple of weak references to the classes it goes through */
} AttrKind;

typedef struct ClassAttr {
    PyObject *name, *obj;
    void *owner; /* DESCR: the class; PARTS: the type of the descriptor */
    AttrKind kind;
} ClassAttr;

/* Checked before the first instruction: the version tag, or if it changed, the facts. */
typedef struct ClassRef {
    PyTypeObject *type;
    unsigned tag;
    uint32_t n;
    ClassAttr *attrs;
} ClassRef;

/* Set by the weak references of an entry when something dies that the program compares by
 * address. Outlives the program if a callback still runs. */
typedef struct Life {
    bool dead;
} Life;

struct Guards {
    Check *code; /* ends with DONE */
    size_t n;
    PyObject **regs;
    size_t nregs;
    Life *life;
    ClassRef *classes;
    size_t nclasses;
    uint32_t *owned, *exports;
    size_t nowned;
    int nexports, nslots;
    PyObject **held; /* references the program owns, weak reference objects included */
    size_t nheld;
    PyObject *capsule; /* of life */
    PyObject *slot_names;
};

/* What a run is given. */
typedef struct Entered {
    PyObject *func, *exc;
    PyObject *const *slots;
    int nslots;
} Entered;

/* The instruction that failed, DONE if none; NULL if a class or a life did, *class_at says
 * which class (nclasses: a life). Owned registers are to be released in each case. */
Check *program_run(Guards *g, const Entered *in, size_t *class_at);
void program_release(Guards *g);
/* Looks up what runs need; before the first freeze. False with an exception set. */
bool program_ready(void);

/* -- Pins (guard/pin.c) ----------------------------------------------------- */

/* Keeps references for the program; all in the trace's arena until frozen. */
typedef struct Pins {
    Arena *arena;
    Journal *journal;
    VEC(PyObject *) held;
    PtrMap pinned;
    PyObject *capsule, *callback;
    Life *life;
    bool failed; /* exception set */
} Pins;

bool pins_init(Pins *p, Arena *arena, Journal *journal);
void pins_drop(Pins *p); /* after a failure, or once `held` has been taken over */
void *pins_own(Pins *p, PyObject *obj); /* gives obj back */
/* Makes comparing with obj by address right: owns it, or has `life` end with it. */
void *pins_pin(Pins *p, PyObject *obj);
/* The same for a key or member: constants are owned. */
void *pins_key(Pins *p, PyObject *obj);
/* A tuple, if in order, else a frozenset, or a list if not all are constants; with weak references (base/same.h) in place of what
 * should not be owned. Borrowed, NULL: failed. */
PyObject *pins_members(Pins *p, PyObject *members, bool in_order);
/* Fills in kind, obj and owner. */
void pins_attr(Pins *p, ClassAttr *attr, PyObject *value);
/* What a fact is about, as it is now; borrowed or NULL. */
PyObject *attr_now(const ClassRef *c, const ClassAttr *attr);
bool attr_holds(const ClassAttr *attr, PyObject *value);
/* After it did not hold: remembers that the class counts there. */
void attr_moved(const ClassAttr *attr, PyObject *value);

#endif
