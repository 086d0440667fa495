/*
 * trace/assertion.c -- branches on a tensor's data of which one side raises.
 *
 * Takes: a conditional jump on a tensor of one item, on the CPU. Gives: a node that fails where the program would raise, and the other
 * side. Holds: a graph that fails is run again plainly (rule 13), so that the exception is the program's own, raised where the program
 * raises it, with its own message. On other devices a failing node ends more than the graph: there it stays a break.
 */
#include "torch/failure.h"
#include "trace/run.h"
#include "var/container.h"

enum { LOOK_AHEAD = 128 };

/* Does what begins at instruction i raise, whatever happens? What it computes for the message is not looked at. */
static bool raises(const Code *code, int i)
{
    for (int n = 0; n < LOOK_AHEAD && i < code->n; n++, i++) {
        const Ins *in = &code->ins[i];
        switch (in->op) {
        case OP_RAISE_VARARGS: return true;
        case OP_RETURN_VALUE:
        case OP_RERAISE:
        case OP_YIELD_VALUE:
        case OP_RETURN_GENERATOR: return false;
        default:
            if (in->target >= 0)
                return false;
        }
    }
    return false;
}

static Status method(Tx *tx, Var *self, const char *name, Var **out)
{
    return var_call_method(tx, self, name, NULL, 0, out);
}

static Status one_on_cpu(Tx *tx, Var *v, bool *yes)
{
    TensorMeta m;
    PyObject *meta;
    Var *flag;
    TRY(tensor_meta(tx, AS(TensorVar, v), &meta));
    *yes = meta_read(meta, &m) && m.numel == 1;
    if (!*yes)
        return ST_OK;
    PyObject *is_cpu = tx_hold(tx, PyUnicode_InternFromString("is_cpu"));
    TRY_PTR(is_cpu);
    TRY(var_getattr(tx, v, is_cpu, &flag));
    *yes = flag == tx->true_;
    return ST_OK;
}

Status assert_truth(Tx *tx, Var *cond, bool truth)
{
    static PyObject *fn;
    Var *ignored, *text;
    if (fn == NULL) {
        PyObject *m = PyImport_ImportModule("torch");
        fn = m ? PyObject_GetAttrString(m, "_assert_async") : NULL;
        Py_XDECREF(m);
    }
    TRY_PTR(fn);
    if (!truth)
        TRY(method(tx, cond, "logical_not", &cond));
    TRY(const_str(tx, CHECK_FAILS, &text)); /* with a text backends keep it */
    Args a = { .v = (Var *[]){ cond, text }, .n = 2 };
    return torch_call(tx, fn, false, torch_classify(fn), &a, &ignored);
}

Status assert_possible(Tx *tx, Var **cond, bool *yes)
{
    *yes = false;
    if (tx->foreign) /* what is traced beside the graph has no nodes of its own */
        return ST_OK;
    TRY(var_real(tx, cond));
    return (*cond)->kind == &kind_tensor ? one_on_cpu(tx, *cond, yes) : ST_OK;
}

Status assert_branch(Tx *tx, Frame *f, const Ins *in, Var *cond, bool jumps_if,
                     bool *known, bool *truth)
{
    bool possible;
    *known = false;
    TRY(assert_possible(tx, &cond, &possible));
    if (!possible)
        return ST_OK;
    bool here = raises(f->code, (int)f->pc), there = raises(f->code, in->target);
    if (here == there)
        return ST_OK;
    *truth = here ? jumps_if : !jumps_if;
    TRY(assert_truth(tx, cond, *truth));
    *known = true;
    return ST_OK;
}
