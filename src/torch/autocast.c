/*
 * torch/autocast.c -- the part of the ambient state that a trace or a graph may change: autocast and grad mode.
 *
 * Takes: nothing; it asks and sets through torch._C. Gives: snapshots, and the real state as a snapshot says.
 */
#include "torch/lib.h"

static const char *const devices[CAST_DEVICES] = { "cpu", "cuda" };

int autocast_device(const char *name)
{
    for (int i = 0; i < CAST_DEVICES; i++)
        if (strcmp(name, devices[i]) == 0)
            return i;
    return -1;
}

/* The truth of an answer, or -1; dtypes go to *keep, borrowed: they live for ever. */
static int ask(const char *name, const char *device, PyObject **keep)
{
    PyObject *r = device ? PyObject_CallMethod(torch_py.C, name, "s", device)
                         : PyObject_CallMethod(torch_py.C, name, NULL);
    int yes = r == NULL ? -1 : keep ? 1 : PyObject_IsTrue(r);
    if (keep)
        *keep = r;
    Py_XDECREF(r);
    return yes;
}

int autocast_read(Autocast *a)
{
    int cache = ask("is_autocast_cache_enabled", NULL, NULL);
    for (int i = 0; i < CAST_DEVICES; i++) {
        int on = ask("is_autocast_enabled", devices[i], NULL);
        if (on < 0 || ask("get_autocast_dtype", devices[i], &a->dtype[i]) < 0)
            return -1;
        a->on[i] = on;
    }
    a->cache = cache == 1;
    return cache < 0 ? -1 : 0;
}

static void set(const char *name, const char *device, PyObject *value)
{
    PyObject *r = device ? PyObject_CallMethod(torch_py.C, name, "sO", device, value)
                         : PyObject_CallMethod(torch_py.C, name, "O", value);
    if (r == NULL)
        PyErr_Clear();
    Py_XDECREF(r);
}

void autocast_set(const Autocast *a)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    for (int i = 0; i < CAST_DEVICES; i++) {
        set("set_autocast_enabled", devices[i], a->on[i] ? Py_True : Py_False);
        set("set_autocast_dtype", devices[i], a->dtype[i]);
    }
    set("set_autocast_cache_enabled", NULL, a->cache ? Py_True : Py_False);
    PyErr_Restore(type, value, trace);
}

/* -- Around a graph ----------------------------------------------------------- */

static int step(const char *name)
{
    PyObject *r = PyObject_CallMethod(torch_py.C, name, NULL);
    int n = r ? (int)PyLong_AsLong(r) : 0;
    if (r == NULL)
        PyErr_Clear();
    Py_XDECREF(r);
    return n;
}

static int nesting(void)
{
    step("autocast_increment_nesting");
    return step("autocast_decrement_nesting");
}

void ambient_save(AmbientSaved *s, uint8_t switches)
{
    bool casts = switches & SWITCHES_CAST;
    s->kernels = switches & SWITCHES_KERNELS;
    s->mask = s->kernels ? ambient_kernels() : 0;
    s->grad = ambient_grad_enabled();
    s->casts = casts && autocast_read(&s->cast) == 0;
    s->nesting = s->casts ? nesting() : 0;
    if (casts && !s->casts)
        PyErr_Clear();
}

void ambient_restore(const AmbientSaved *s)
{
    PyObject *type, *value, *trace;
    if (ambient_grad_enabled() != s->grad)
        ambient_set_grad(s->grad);
    if (!s->casts && !s->kernels)
        return;
    PyErr_Fetch(&type, &value, &trace);
    if (s->kernels)
        ambient_set_kernels(s->mask);
    if (!s->casts) {
        PyErr_Restore(type, value, trace);
        return;
    }
    for (int n = nesting(); n > s->nesting; n--)
        if (step("autocast_decrement_nesting") == 0)
            Py_XDECREF(PyObject_CallMethod(torch_py.C, "clear_autocast_cache", NULL));
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    autocast_set(&s->cast);
}

/* -- Random numbers ------------------------------------------------------------- */

static PyObject *generator(void)
{
    static PyObject *g;
    if (g == NULL && (g = PyObject_GetAttrString(torch_py.C, "default_generator")) == NULL)
        PyErr_Clear();
    return g;
}

PyObject *generator_state(void)
{
    PyObject *g = generator();
    PyObject *state = g ? PyObject_CallMethod(g, "get_state", NULL) : NULL;
    if (state == NULL)
        PyErr_Clear();
    return state;
}

void generator_restore(PyObject *state)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *r = PyObject_CallMethod(generator(), "set_state", "O", state);
    if (r == NULL)
        PyErr_Clear();
    Py_XDECREF(r);
    PyErr_Restore(type, value, trace);
}
