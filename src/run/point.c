/*
 * run/point.c -- the points of code objects, found by place.
 *
 * Takes: code, options, instruction, operand stack. Gives: the one Point for them. Holds:
 * tables own their points, points their entries; all die with the code object.
 */
#include "run/point.h"

void (*run_guards_free)(Guards *g);

static PointTable *tables; /* of all code objects */

/* -- Entries --------------------------------------------------------------------- */

void exit_free(Exit *x)
{
    if (x == NULL)
        return;
    for (int i = 0; i < x->nframes; i++) {
        if (x->frames[i].own)
            Py_DECREF(x->frames[i].co);
        mem_free(x->frames[i].present);
    }
    mem_free(x->frames);
    Py_XDECREF(x->reason);
    mem_free(x);
}

void entry_free(Entry *e)
{
    if (e == NULL)
        return;
    if (e->guards != NULL && run_guards_free != NULL)
        run_guards_free(e->guards);
    exit_free(e->exit);
    Py_XDECREF(e->seg);
    Py_XDECREF(e->graph);
    mem_free(e);
}

void entry_forget(Entry *e)
{
    if (e->running == 0)
        entry_free(e);
    else
        e->forgotten = true;
}

static void free_entries(Entry *e)
{
    while (e != NULL) {
        Entry *next = e->next;
        entry_forget(e);
        e = next;
    }
}

/* -- Tables ------------------------------------------------------------------------ */

static void table_free(PointTable *t)
{
    *t->back = t->all;
    if (t->all != NULL)
        t->all->back = t->back;
    for (int i = 0; i < t->c->n; i++)
        for (Point *p = t->at[i]; p != NULL;) {
            Point *next = p->next;
            free_entries(p->entries);
            Py_XDECREF(p->numbers);
            mem_free(p);
            p = next;
        }
    Py_XDECREF(t->stops);
    mem_free(t->stop);
    mem_free(t->saved_exc);
    mem_free(t);
}

static void tables_free(void *first)
{
    for (PointTable *t = first; t != NULL;) {
        PointTable *next = t->next;
        table_free(t);
        t = next;
    }
}

static PointTable *table_new(PyCodeObject *co, Options *o)
{
    const Code *c = code_of(co);
    if (c == NULL)
        return NULL;
    PointTable *t = mem_alloc(sizeof *t + (size_t)c->n * sizeof t->at[0]);
    if (t == NULL)
        return NULL;
    t->co = co;
    t->c = c;
    t->options = o;
    t->all = tables;
    t->back = &tables;
    if (tables != NULL)
        tables->back = &t->all;
    tables = t;
    return t;
}

PointTable *table_of(PyCodeObject *co, Options *o)
{
    CodeExtra *x = cpy_extra_of(co);
    if (x == NULL)
        return NULL;
    for (PointTable *t = x->points; t != NULL; t = t->next)
        if (t->options == o)
            return t;
    PointTable *t = table_new(co, o);
    if (t == NULL)
        return NULL;
    t->next = x->points;
    x->points = t;
    x->points_free = tables_free;
    return t;
}

/* Takes the point's entries off it, onto the list. */
static Entry *forget_point(Point *p, Entry *list)
{
    for (Entry *e = p->entries; e != NULL;) {
        Entry *next = e->next;
        e->next = list;
        list = e;
        e = next;
    }
    p->entries = NULL;
    Py_CLEAR(p->numbers);
    p->nentries = p->compiles = p->idle = 0;
    p->live = p->plain = false;
    return list;
}

void run_forget(void)
{
    Entry *list = NULL; /* freed at the end: that may run code which looks at tables */
    for (PointTable *t = tables; t != NULL; t = t->all) {
        for (int i = 0; i < t->c->n; i++) {
            for (Point *p = t->at[i]; p != NULL; p = p->next)
                list = forget_point(p, list);
            table_stop(t, i, false);
        }
        t->nlive = 0;
        t->wasted = 0;
    }
    free_entries(list);
}

/* -- Points -------------------------------------------------------------------------- */

static Point *point_new(PointTable *t, int index, int depth, uint64_t shape)
{
    Point *p = mem_alloc(sizeof *p);
    if (p == NULL)
        return NULL;
    p->table = t;
    p->co = t->co;
    p->options = t->options;
    p->at = t->c->ins[index].at;
    p->depth = depth;
    p->shape = shape;
    p->next = t->at[index];
    t->at[index] = p;
    return p;
}

Point *table_point(PointTable *t, int index, PyObject *const *stack, int depth)
{
    uint64_t shape = 0;
    for (int i = 0; i < depth; i++)
        if (stack[i] == NULL) {
            if (i >= 64)
                return NULL;
            shape |= (uint64_t)1 << i;
        }
    for (Point *p = t->at[index]; p != NULL; p = p->next)
        if (p->depth == depth && p->shape == shape)
            return p;
    return point_new(t, index, depth, shape);
}

Point *run_entry_point(PyCodeObject *co, Options *o)
{
    PointTable *t = table_of(co, o);
    return t == NULL ? NULL : table_point(t, 0, NULL, 0);
}

void point_add(Point *p, Entry *e)
{
    e->next = p->entries;
    p->entries = e;
    p->nentries++;
    int nargs = segment_args(e);
    p->nargs = nargs > p->nargs ? nargs : p->nargs;
    if (e->idle)
        return;
    p->table->nlive += !p->live;
    p->live = true;
    point_wake(p);
}

void point_wake(Point *p)
{
    p->idle = 0;
    if (p->table->stops != NULL && p->at > 0)
        table_stop(p->table, p->table->c->index_of[p->at], true);
}

/* -- Stops ----------------------------------------------------------------------------- */

void table_stop(PointTable *t, int index, bool on)
{
    if (t->stop == NULL) {
        if (!on)
            return;
        t->stop = mem_alloc((size_t)t->c->n);
        t->stops = t->stop == NULL ? NULL : cpy_stops_new(t->co);
        if (t->stops == NULL) {
            PyErr_Clear(); /* plain to the end, then */
            mem_free(t->stop);
            t->stop = NULL;
            return;
        }
    }
    if (t->stop[index] == on ||
        (on && !cpy_stops_set(t->stops, t->co, t->c->ins[index].at, true)))
        return;
    if (!on)
        cpy_stops_set(t->stops, t->co, t->c->ins[index].at, false);
    t->stop[index] = on;
    t->nstops += on ? 1 : -1;
}

PyCodeObject *table_stops(PointTable *t)
{
    if (t->stops == NULL && t->nlive > 0)
        for (int i = 1; i < t->c->n; i++)
            for (Point *p = t->at[i]; p != NULL; p = p->next)
                if (p->live)
                    table_stop(t, i, true);
    return t->nstops > 0 ? t->stops : NULL;
}

/* -- Exception state on the operand stack -------------------------------------------------- */

/* A walk over all paths with an abstract stack of bytes: SAVED is what PUSH_EXC_INFO put away. */
enum { VALUE, SAVED };

typedef struct Flow {
    const Code *c;
    int16_t *lowest; /* result; UNSEEN until reached */
    uint8_t *stack;  /* of the path being walked */
    int depth;
    uint8_t *todo; /* pending paths: an index, a depth, the stack */
    int *todo_index, *todo_depth, ntodo;
} Flow;

enum { UNSEEN = -2 };

static int lowest_saved(const Flow *w)
{
    for (int i = 0; i < w->depth; i++)
        if (w->stack[i] == SAVED)
            return i;
    return -1;
}

/* Each instruction becomes pending at most once: it is marked as seen here. */
static void later(Flow *w, int index, int depth, const uint8_t *stack)
{
    if (w->lowest[index] != UNSEEN)
        return;
    w->lowest[index] = -1;
    memcpy(w->todo + (size_t)w->ntodo * (size_t)(w->c->stacksize + 2), stack,
           (size_t)depth);
    w->todo_index[w->ntodo] = index;
    w->todo_depth[w->ntodo++] = depth;
}

/* PUSH_EXC_INFO does not raise, and in front of it nothing has been put away yet. */
static void to_handler(Flow *w, const Ins *in)
{
    if (in->handler < 0 || in->op == OP_PUSH_EXC_INFO)
        return;
    const ExcEntry *e = &w->c->exc[in->handler];
    if (w->lowest[e->target] != UNSEEN)
        return;
    uint8_t keep[2] = { w->stack[e->depth], w->stack[e->depth + 1] };
    w->stack[e->depth] = w->stack[e->depth + 1] = VALUE;
    later(w, e->target, e->depth + 1 + e->lasti, w->stack);
    memcpy(w->stack + e->depth, keep, 2);
}

static void move(Flow *w, const Ins *in)
{
    uint8_t *top = w->stack + w->depth;
    int pop, push;
    switch ((Op)in->op) {
    case OP_PUSH_EXC_INFO:
        top[-1] = SAVED;
        top[0] = VALUE;
        w->depth++;
        return;
    case OP_COPY:
        top[0] = top[-in->arg];
        w->depth++;
        return;
    case OP_SWAP: {
        uint8_t other = top[-in->arg];
        top[-in->arg] = top[-1];
        top[-1] = other;
        return;
    }
    default:
        op_motion(in, &pop, &push);
        memset(top - pop, VALUE, (size_t)push);
        w->depth += push - pop;
    }
}

static void walk(Flow *w, int index)
{
    for (;; index++) {
        const Ins *in = &w->c->ins[index];
        w->lowest[index] = (int16_t)lowest_saved(w);
        to_handler(w, in);
        if (in->target >= 0)
            later(w, in->target, w->depth + op_effect(in, true), w->stack);
        if (op_ends(in->op))
            return;
        move(w, in);
        if (index + 1 >= w->c->n || w->lowest[index + 1] != UNSEEN)
            return;
    }
}

static int16_t *find_saved(const Code *c)
{
    size_t n = (size_t)c->n, row = (size_t)c->stacksize + 2;
    Flow w = { .c = c, .lowest = mem_alloc(n * sizeof *w.lowest) };
    char *block = mem_alloc(n * 2 * sizeof(int) + (n + 1) * row);
    if (w.lowest == NULL || block == NULL) {
        mem_free(w.lowest);
        mem_free(block);
        PyErr_Clear();
        return NULL;
    }
    w.todo_index = (int *)block;
    w.todo_depth = w.todo_index + n;
    w.todo = (uint8_t *)(w.todo_depth + n);
    w.stack = w.todo + n * row;
    for (size_t i = 0; i < n; i++)
        w.lowest[i] = UNSEEN;
    later(&w, 0, 0, w.stack);
    while (w.ntodo > 0) {
        w.depth = w.todo_depth[--w.ntodo];
        memcpy(w.stack, w.todo + (size_t)w.ntodo * row, (size_t)w.depth);
        walk(&w, w.todo_index[w.ntodo]);
    }
    mem_free(block);
    return w.lowest;
}

int table_saved_exc(PointTable *t, int index)
{
    if (t->c->nexc == 0)
        return -1;
    if (t->saved_exc == NULL)
        t->saved_exc = find_saved(t->c);
    if (t->saved_exc == NULL)
        return -1;
    return t->saved_exc[index];
}
