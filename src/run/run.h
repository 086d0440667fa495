/*
 * run/run.h -- what happens at run time: points, their entries, exits, the trampoline.
 *
 * A *point* is a place where compiled code can be entered: (code, options, unit, stack shape). Unit 0 with
 * bound arguments is a function call; any other unit is where a break left off. A point has cache entries.
 * The code of an entry, its *segment*, runs its graph, settles its effects and ends in exactly one way, known
 * when it was compiled: it returns the point's frame's value (`exit` is NULL), or it returns a tuple of the
 * values that make up the frames open at a break, described by `exit`. The trampoline acts on that: it pushes
 * the frames, runs the one instruction that could not be traced for real, and enters the next point.
 */
#ifndef JEDLIK_RUN_RUN_H
#define JEDLIK_RUN_RUN_H

#include "cpy/cpy.h"
#include "graph/graph.h"

typedef struct Guards Guards;   /* frozen check program: guard/check.h */
typedef struct Options Options; /* what compile() was asked for */
typedef struct Point Point;
typedef struct Entry Entry;

/* One open frame at a break, outermost first. */
typedef struct ExitFrame {
    PyCodeObject *co;
    bool own; /* the exit owns co; not the code that the exit itself hangs on */
    int at; /* unit of the broken instruction; of the pending CALL in all but the innermost */
    int resume; /* all but the innermost: unit to go on at once the callee has returned */
    int depth; /* operand stack entries, NULLs included; the pending call's operands are gone */
    int nslots; /* fast slots + depth */
    uint8_t *present; /* per slot: 1 the next value of the tuple, 0 NULL (unbound local, NULL on the stack) */
} ExitFrame;

/* Values in the tuple, in order: for each frame but the first its function object, then its
 * present slots; last, if `has_exc`, the exception being handled (None: none). */
typedef struct Exit {
    int nframes;
    ExitFrame *frames;
    bool has_exc;
    bool cut;         /* the instruction was not broken: the next trace begins with it */
    int brk;          /* row of breaks.def */
    PyObject *reason; /* str, for reports */
} Exit;

struct Entry {
    Entry *next;    /* most recently used first */
    Guards *guards; /* check + export of values to the segment's arguments */
    PyFunctionObject
        *seg; /* segment: positional arguments only: graph callable, then exports */
    PyObject *graph; /* compiled graph, or None if the trace has no node */
    int nops;        /* its operations, for reports */
    Exit *exit;      /* NULL: returns the value */
    bool pure; /* the graph changes nothing that exists: an exception is a deopt (rule 13) … */
    bool late; /* … or it keeps its values: the state at the operation that raised is made from them */
    Ways ways;  /* … by a trace like its own */
    bool draws; /* a deopt puts the generator back */
    bool idle; /* no graph and no effect: running plainly is as good (rule 26); seg may be NULL, the
                              * guards then export nothing */
    uint8_t switches; /* SWITCHES_ of graph.h: what the graph changes in between and puts back */
    int running;    /* activations of its segment that still look at it */
    bool forgotten; /* the last of them frees it */
};

typedef struct PointTable PointTable; /* the points of one (code, options): point.h */

struct Point {
    Point *next; /* at the same unit */
    PointTable *table;
    PyCodeObject *co; /* borrowed: the table hangs on the code object */
    Options *options;
    int at; /* 0: function call, slots are the arguments (co_argcount + kwonly + *args + **kw) */
    int depth;      /* operand stack at `at` */
    uint64_t shape; /* bit i: stack entry i is NULL */
    Entry *entries;
    PyObject *
        numbers; /* dict: what graphs were given, by place; Ellipsis: several values. NULL: nothing yet */
    int nentries, compiles;
    int nargs;  /* most arguments one of their segments has */
    int idle;   /* visits that led to no graph, in a row */
    bool live;  /* has an entry that is not idle */
    bool busy;  /* being compiled: others run plainly */
    bool plain; /* no more entries: not worth compiling, or at its limit */
};

struct Options {
    PyObject_HEAD PyObject
        *backend;  /* callable (gm, example_inputs) -> callable, made by Python */
    PyObject *key; /* what makes two option sets equal */
    bool fullgraph;
    PyObject *dynamic;
    int limit; /* recompile limit */
};

/* What compiling a point came to. */
typedef enum {
    COMPILE_DONE,    /* *out is a new entry */
    COMPILE_NOTHING, /* no graph node. *out is an entry with `idle` set, whose exit says where the trace broke (so that
                      * compiling goes on behind it), or NULL: the point is plain from now on */
    COMPILE_SKIP,    /* not with these arguments */
    COMPILE_PLAIN,   /* cannot be compiled here and never will */
    COMPILE_AGAIN,   /* inside of the pipeline only: with fewer liberties */
    COMPILE_ERROR, /* a Python exception is set and goes to the caller (fullgraph, KeyboardInterrupt, backend) */
} CompileResult;

/* Set by module.c to pipeline.c's compile_point. slots: as the point says, borrowed. exc: the exception being
 * handled at the point, or NULL. */
extern CompileResult (*run_compile)(Point *p, PyFunctionObject *func,
                                    PyObject *const *slots, int nslots, PyObject *exc,
                                    Entry **out);

/* Set likewise: an entry that ends, with an exit, at the operation at which a run of its point's graph failed. */
struct GraphFailure;
extern CompileResult (*run_compile_late)(Point *p, PyFunctionObject *func,
                                         PyObject *const *slots, int nslots, PyObject *exc,
                                         const struct GraphFailure *f, Entry **out);

/* The function under whose name profilers are told of compiling. */
extern PyObject *run_compile_name;

void entry_free(Entry *e);
/* The same for an entry that is on no list any more; if it is running, once it has ended. */
void entry_forget(Entry *e);
void exit_free(Exit *x);

/* The guard side, set by module.c to guards_check and guards_free: true if the guards hold for these slots; then
 * out[0..) are the segment's arguments behind the graph, new references. Runs no user code. */
extern bool (*run_check)(Guards *g, PyObject *func, PyObject *const *slots, int nslots,
                         PyObject *exc, PyObject **out);
extern void (*run_guards_free)(Guards *g);

/* Told once per point, when it has as many entries as options->limit and one more is wanted;
 * not if none of them has a graph. */
extern void (*run_limit_warning)(Point *p, PyFunctionObject *func, PyObject *const *slots,
                                 int nslots, PyObject *exc);
/* Told of each call that runs plainly because it makes a generator or coroutine. */
extern void (*run_plain_note)(PyObject *fn);

extern int
    run_idle_budget; /* visits in a row without a graph after which a point is left alone */
extern bool run_off;                   /* everything runs plainly */
extern _Thread_local int run_disabled; /* > 0: everything in this thread does */

/* The function-call point of a code object; NULL with an exception set. */
Point *run_entry_point(PyCodeObject *co, Options *o);

/* A call with bound arguments. *plain: nothing was run, the caller shall call the original. */
PyObject *run_call(Point *p, PyFunctionObject *func, PyObject *const *slots, int nslots,
                   bool *plain);

/* Drops the entries of all points, e.g. for reset(); those that are running when they have ended. */
void run_forget(void);

/* make_options, Compiled. */
int run_init(PyObject *module);

#endif
