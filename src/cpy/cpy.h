/*
 * cpy/cpy.h -- the contract every CPython version fulfils. Nothing outside this folder may
 * look at PY_VERSION_HEX, define Py_BUILD_CORE or include internal headers.
 */
#ifndef JEDLIK_CPY_CPY_H
#define JEDLIK_CPY_CPY_H

#include "bytecode/code.h"

/* -- Code objects ------------------------------------------------------------ */

/* Decodes into *c (fields as code.h says). 0, or -1 with an exception set. */
int cpy_decode(PyCodeObject *co, Code *c);

/* Unit of the opcode of instruction `index`, behind prefixes and first halves: what the
 * interpreter calls lasti. Ins.at is where the instruction starts. */
int cpy_lasti(const Code *c, int index);

/* The other direction is codelist_write (bytecode/codelist.h); code_of, code_line and code_locs are
 * implemented here as well. */

/* What hangs on a code object and dies with it. */
typedef struct CodeExtra {
    Code *code;   /* code_of; NULL until decoded */
    void *points; /* of run/ */
    void (*points_free)(void *points);
} CodeExtra;

/* Creates it on demand; borrowed, NULL with an exception set. peek: NULL if there is none. */
CodeExtra *cpy_extra_of(PyCodeObject *co);
CodeExtra *cpy_extra_peek(PyCodeObject *co);

/* -- Frames ------------------------------------------------------------------- */

int cpy_recursion_left(void); /* calls of this thread until RecursionError */

/* One activation of user code whose real frame lies on the thread's data stack. Frames are
 * pushed and popped in stack order; a pushed frame counts against the recursion limit. */
typedef struct _PyInterpreterFrame CpyFrame;

/* Pushes a frame of func's code: fast slots and stack empty (NULL), stopped before unit `at`.
 * NULL with RecursionError or MemoryError set. */
CpyFrame *cpy_frame_push(PyThreadState *ts, PyFunctionObject *func, int at);

/* Slots of a pushed frame: fast slots (cells and free variables are the cell objects), then
 * the operand stack, NULLs included. The caller owns what it puts in. */
PyObject **cpy_frame_slots(CpyFrame *f);
int cpy_frame_depth(CpyFrame *f); /* operand stack depth */
/* How many others keep the frame object (a traceback, a debugger): they can see what its slots end with. */
Py_ssize_t cpy_frame_holders(CpyFrame *f);
void cpy_frame_set(CpyFrame *f, int depth, int at);
int cpy_frame_at(CpyFrame *f);
PyFunctionObject *cpy_frame_func(CpyFrame *f);
PyCodeObject *cpy_frame_code(CpyFrame *f);

/* The unit of the instruction being carried out, as lines and f_lasti show it: cpy_lasti, or
 * the last unit of a CALL while a Python function it called runs. */
void cpy_frame_mark(CpyFrame *f, int unit);
int cpy_frame_lasti(CpyFrame *f);

/* Makes the frame the thread's current one / takes it off again, without running it. Between
 * the two, sys._getframe, warnings and tracebacks see it. */
void cpy_frame_link(PyThreadState *ts, CpyFrame *f);
void cpy_frame_unlink(PyThreadState *ts, CpyFrame *f);

/* Runs the frame to its end in the interpreter and pops it. It must be the topmost pushed
 * frame and not linked. New reference or NULL. */
PyObject *cpy_frame_run(PyThreadState *ts, CpyFrame *f);

/* As cpy_frame_run, but starts by raising the exception set in ts at the frame's unit `at`
 * (its own exception table finds the handler; traceback entry included). */
PyObject *cpy_frame_throw(PyThreadState *ts, CpyFrame *f);

/* Runs the frame under a copy of its code made by cpy_stops_new, at whose stops it halts: then
 * *stopped is true, NULL comes back without exception, and the frame is as cpy_frame_set would
 * leave it before the stopped unit. Else as cpy_frame_run. */
PyObject *cpy_frame_run_to(PyThreadState *ts, CpyFrame *f, PyCodeObject *stops,
                           bool *stopped);

/* A private copy of co without stops; a stop can be set at any instruction a frame may rest at,
 * in the copy only. False if the code cannot stop there. */
PyCodeObject *cpy_stops_new(PyCodeObject *co);
bool cpy_stops_set(PyCodeObject *stops, PyCodeObject *co, int at, bool on);
/* Whether f, which runs a copy of co, is just being left at a stop. */
bool cpy_frame_stopped(CpyFrame *f, PyCodeObject *co);

/* Pops a frame that is not run to its end (releases slots; survives as frame object if held). */
void cpy_frame_pop(PyThreadState *ts, CpyFrame *f);

/* Plain function call of a code object made by us, arguments in an array (borrowed),
 * without going through argument parsing or a frame hook. nargs == co_argcount. */
PyObject *cpy_call_code(PyThreadState *ts, PyFunctionObject *func, PyObject *const *args,
                        size_t nargs);
/* The same, taking over the references, also on failure. */
PyObject *cpy_call_code_steal(PyThreadState *ts, PyFunctionObject *func,
                              PyObject *const *args, size_t nargs);

/* The exception being handled (sys.exc_info) of the current level: borrowed or NULL; set steals. */
PyObject *cpy_exc_handled(PyThreadState *ts);
void cpy_exc_set_handled(PyThreadState *ts, PyObject *exc);
/* In a generator: what is handled where it was resumed, or further out: borrowed or NULL. */
PyObject *cpy_exc_outer(PyThreadState *ts);

/* -- Tracers and profilers ------------------------------------------------------- */

enum { CPY_TRACED = 1, CPY_PROFILED = 2 };
/* Which of the two are told what the thread does now. */
int cpy_watched(PyThreadState *ts);
/* Tells one profiler from another; NULL: none. */
void *cpy_profiler(PyThreadState *ts);
/* The call of f, the current frame, whose RESUME at `unit` the evaluator has not run. 0, or -1: the profiler raised. */
int cpy_tell_call(PyThreadState *ts, CpyFrame *f, int unit);
/* The end of the current frame, with a value or (NULL) the exception set. 0, or -1: the profiler raised instead. */
int cpy_tell_return(PyThreadState *ts, PyObject *value);
/* A call that the evaluator would tell as that of a C function; self: the first argument of a method, or NULL. *func is for
 * cpy_tell_c_return, which is due whatever came of the call. False: the profiler raised. */
bool cpy_tell_c_call(PyThreadState *ts, PyObject *callable, PyObject *self,
                     PyObject **func);
bool cpy_tell_c_return(PyThreadState *ts, PyObject *func);
/* Nothing is told in between. */
bool cpy_profile_pause(PyThreadState *ts);
void cpy_profile_resume(PyThreadState *ts, bool paused);
/* run(ts, f) for a frame with stops, whose code without them is co: profilers do not take a stop for a return. */
PyObject *cpy_profile_stretch(PyThreadState *ts, CpyFrame *f, PyCodeObject *co,
                              PyObject *(*run)(PyThreadState *, CpyFrame *));

/* True if calling it in the evaluator would have pushed a Python frame inline. */
bool cpy_call_inlines(PyObject *callable);

/* Frames other than generators only: the code has no suspension points and is optimised. */
bool cpy_code_plain(PyCodeObject *co);

/* Special method of obj's type, bound; NULL, with an exception only if binding it raised. */
PyObject *cpy_special(PyObject *obj, PyObject *name);

/* -- Generators ---------------------------------------------------------------- */

/* A generator that waits, of code with handlers, or an iterator over one: it may have something to do when it goes. */
bool cpy_gen_open(PyObject *o);
/* Calls a generator function with None for every argument: nothing of it runs. New reference. */
PyObject *cpy_gen_blank(PyFunctionObject *func);
/* A suspended generator of func's code that goes on behind the YIELD_VALUE at `unit` (its lasti). slots (borrowed): fast slots, then the
 * operand stack, NULLs included. exc: the exception handled inside it, or NULL. New reference. */
PyObject *cpy_gen_make(PyFunctionObject *func, int unit, PyObject *const *slots, int n,
                       PyObject *exc);

/* -- functools.lru_cache ---------------------------------------------------------- */

typedef struct CpyLru {
    PyObject *func, *cache,
        *mark; /* borrowed; mark: stands before keyword arguments in a key */
    Py_ssize_t hits, misses, maxsize; /* -1: without bounds */
    bool typed;
} CpyLru;

/* What a wrapper holds; false: not known. */
bool cpy_lru_look(PyObject *wrapper, CpyLru *out);
/* The result that an entry of its cache stands for: borrowed. */
PyObject *cpy_lru_result(PyObject *wrapper, PyObject *entry);
/* Takes back so many calls, and the entries that they made (list of keys). */
void cpy_lru_undo(PyObject *wrapper, Py_ssize_t hits, Py_ssize_t misses, PyObject *keys);

/* -- Objects ------------------------------------------------------------------ */

/* Raw instance dictionary lookup that materialises nothing. *value borrowed or NULL. Returns
 * 1 found, 0 not there, -1 the object has no instance dictionary. `name` is an interned str. */
int cpy_inst_get(PyObject *obj, PyObject *name, PyObject **value);
/* The same with a slot cache, see cpy_dict_get. */
int cpy_inst_find(PyObject *obj, PyObject *name, Py_ssize_t *hint, PyObject **value);

/* The materialised instance dict or NULL (borrowed); inline-values objects give NULL. */
PyObject *cpy_inst_dict(PyObject *obj);

/* Names in an instance's dictionary in order (new list), whether materialised or inline. */
PyObject *cpy_inst_names(PyObject *obj);

/* The globally unique version tag of a type, assigning one if needed; 0: none to be had. */
unsigned cpy_type_version(PyTypeObject *t);

/* Item of a dict by key and hash with a slot cache: *hint is where it was found last time.
 * Runs no user code when the key is an exact str. Borrowed or NULL without exception. */
PyObject *cpy_dict_get(PyObject *dict, PyObject *key, Py_hash_t hash, Py_ssize_t *hint);

/* Whether the dictionaries along the MRO have exact strings alone as keys: else a lookup may run an __eq__. */
bool cpy_type_has_names(PyTypeObject *t);
/* MRO lookup as _PyType_Lookup (borrowed, no exception). */
PyObject *cpy_type_lookup(PyTypeObject *t, PyObject *name);

/* The C class below those written in Python, which an instance has its layout from. */
static inline PyTypeObject *cpy_c_base(PyTypeObject *t)
{
    while (t->tp_flags & Py_TPFLAGS_HEAPTYPE)
        t = t->tp_base;
    return t;
}

/* What __set_name__ has told a property; NULL: nothing. Borrowed. */
PyObject *cpy_property_name(PyObject *property);

/* type.__new__(meta, name, bases, ns) without running any __set_name__, __init_subclass__ or mro() of the program; ns is used
 * up. New reference or NULL with the exception. */
PyObject *cpy_class_new(PyTypeObject *meta, PyObject *name, PyObject *bases, PyObject *ns);
/* The class is not told by __subclasses__() of the base. */
void cpy_class_hide(PyTypeObject *t, PyTypeObject *base);
/* Changes whenever a class is registered with an ABC. */
unsigned cpy_abc_token(void);
/* The class lets go of its attributes. */
void cpy_class_empty(PyTypeObject *t);

/* Underlying object and position of built-in iterators; see cpy311.c for the kinds. */
#endif
