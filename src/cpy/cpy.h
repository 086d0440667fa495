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

/* The other direction is list_write (bytecode/list.h); code_of, code_line and code_locs are
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

/* One activation of user code whose real frame lies on the thread's data stack. */
typedef struct CpyFrame CpyFrame; /* struct _PyInterpreterFrame */

/* Pushes a frame of func's code: fast slots and stack empty (NULL), stopped before unit `at`.
 * NULL with RecursionError or MemoryError set. */
CpyFrame *cpy_frame_push(PyThreadState *ts, PyFunctionObject *func, int at);

/* Slots of a pushed frame: fast slots (cells and free variables are the cell objects), then
 * the operand stack, NULLs included. The caller owns what it puts in. */
PyObject **cpy_frame_slots(CpyFrame *f);
int cpy_frame_depth(CpyFrame *f); /* operand stack depth */
void cpy_frame_set(CpyFrame *f, int depth, int at);
int cpy_frame_at(CpyFrame *f);
PyFunctionObject *cpy_frame_func(CpyFrame *f);
PyCodeObject *cpy_frame_code(CpyFrame *f);

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

/* Pops a frame that is not run to its end (releases slots; survives as frame object if held). */
void cpy_frame_pop(PyThreadState *ts, CpyFrame *f);

/* Plain function call of a code object made by us, arguments in an array (borrowed),
 * without going through argument parsing or a frame hook. nargs == co_argcount. */
PyObject *cpy_call_code(PyThreadState *ts, PyFunctionObject *func, PyObject *const *args,
                        size_t nargs);

/* The exception being handled (sys.exc_info) of the current level: borrowed or NULL; set steals. */
PyObject *cpy_exc_handled(PyThreadState *ts);
void cpy_exc_set_handled(PyThreadState *ts, PyObject *exc);

bool cpy_tracing(PyThreadState *ts); /* a tracer or profiler is active */

/* The instruction at `index` of the linked frame's code, for real. See run/real.h. */

/* -- Objects ------------------------------------------------------------------ */

/* Raw instance dictionary lookup that materialises nothing. *value borrowed or NULL. Returns
 * 1 found, 0 not there, -1 the object has no instance dictionary. `name` is an interned str. */
int cpy_inst_get(PyObject *obj, PyObject *name, PyObject **value);

/* The materialised instance dict or NULL (borrowed); inline-values objects give NULL. */
PyObject *cpy_inst_dict(PyObject *obj);

/* Names in an instance's dictionary in order (new list), whether materialised or inline. */
PyObject *cpy_inst_names(PyObject *obj);

/* The globally unique version tag of a type, assigning one if needed; 0: none to be had. */
unsigned cpy_type_version(PyTypeObject *t);

/* Item of a dict by key and hash with a slot cache: *hint is where it was found last time.
 * Runs no user code when the key is an exact str. Borrowed or NULL without exception. */
PyObject *cpy_dict_get(PyObject *dict, PyObject *key, Py_hash_t hash, Py_ssize_t *hint);

/* MRO lookup as _PyType_Lookup (borrowed, no exception). */
PyObject *cpy_type_lookup(PyTypeObject *t, PyObject *name);

/* Underlying object and position of built-in iterators; see cpy311.c for the kinds. */
#endif
