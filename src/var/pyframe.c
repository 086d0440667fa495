/*
 * var/pyframe.c -- frames of the trace as the program may look at them: code, globals, the caller. They do not leave the trace.
 */
#include "trace/tx.h"

static bool named(PyObject *name, const char *text)
{
    return PyUnicode_CompareWithASCIIString(name, text) == 0;
}

static Status frame_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    Frame *f = AS(FrameVar, self)->f;
    if (named(name, "f_globals"))
        *out = f->fn->globals;
    else if (named(name, "f_code"))
        return const_peek(tx, (PyObject *)f->code->co, out);
    else if (named(name, "f_back") && f->up) {
        FrameVar *up;
        TRY(VAR_MAKE(tx, frame, FrameVar, &PyFrame_Type, &up));
        up->f = f->up;
        *out = &up->v;
    } else
        return graph_break(tx, BRK_NO_SLOT, "%U of a frame", name);
    return ST_OK;
}

static Status frame_truth(Tx *tx, Var *self, bool *yes)
{
    *yes = true;
    return ST_OK;
}

const VarKind kind_frame = {
    .name = "frame",
    .id = KIND_frame,
    .getattr = frame_getattr,
    .truth = frame_truth,
};
