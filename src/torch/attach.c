/*
 * torch/attach.c -- finding torch: its types, its libraries' symbols, its object layout.
 *
 * Takes: sys.modules. Gives: torch_types, torch_lib, torch_py. Nothing is imported that
 * `import torch` has not loaded, and nothing of torch is linked: libraries that are already
 * in the process are opened again by name.
 */
#define _GNU_SOURCE
#include "base/map.h"
#include "cpy/peek.h"
#include "torch/infer.h"
#include <dlfcn.h>

bool torch_ready;
struct TorchTypes torch_types;
TorchLib torch_lib;
struct TorchPy torch_py;

/* -- Small helpers ---------------------------------------------------------- */

PyObject *torch_path(const char *dotted)
{
    PyObject *at = Py_NewRef(torch_py.torch);
    char part[64];
    while (at && *dotted) {
        size_t n = strcspn(dotted, ".");
        if (NEVER(n >= sizeof part))
            break;
        memcpy(part, dotted, n);
        part[n] = 0;
        Py_SETREF(at, PyObject_GetAttrString(at, part));
        dotted += n + (dotted[n] == '.');
    }
    return at;
}

static bool interrupted; /* while questions were asked */

PyObject *torch_run(const char *block, const char *result)
{
    PyObject *scope = PyDict_New();
    PyObject *r = NULL, *done = NULL;
    if (scope && PyDict_SetItemString(scope, "torch", torch_py.torch) == 0 &&
        PyDict_SetItemString(scope, "__builtins__", PyEval_GetBuiltins()) == 0)
        done = PyRun_String(block, Py_file_input, scope, scope);
    if (done)
        r = Py_XNewRef(PyDict_GetItemString(scope, result));
    Py_XDECREF(done);
    Py_XDECREF(scope);
    return r;
}

bool torch_interrupted(void)
{
    bool yes = PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
    PyErr_Clear();
    interrupted |= yes;
    return yes;
}

PyObject *torch_probe(const char *block, const char *name, PyMethodDef *def)
{
    PyObject *answer;
    do {
        PyObject *look = PyCFunction_New(def, NULL), *run = torch_run(block, name);
        answer = look && run ? PyObject_CallOneArg(run, look) : NULL;
        Py_XDECREF(run);
        Py_XDECREF(look);
    } while (torch_interrupted());
    return answer;
}

/* -- Types and objects ------------------------------------------------------ */

static int find_types(void)
{
    const struct {
        PyTypeObject **at;
        const char *path;
    } rows[] = {
        { &torch_types.tensor, "Tensor" },
        { &torch_types.parameter, "nn.Parameter" },
        { &torch_types.buffer, "nn.Buffer" },
        { &torch_types.module, "nn.Module" },
        { &torch_types.optimizer, "optim.Optimizer" },
        { &torch_types.size, "Size" },
        { &torch_types.dtype, "dtype" },
        { &torch_types.device, "device" },
        { &torch_types.layout, "layout" },
        { &torch_types.memory_format, "memory_format" },
        { &torch_types.generator, "Generator" },
        { &torch_types.function, "_C._FunctionBase" },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        PyObject *type = torch_path(rows[i].path);
        if (type == NULL)
            return -1;
        *rows[i].at = (PyTypeObject *)type;
    }
    key_plain_type(torch_types.device);
    PyObject *kernels = torch_path("_C._SDPBackend");
    if (kernels && PyType_Check(kernels))
        key_plain_type((PyTypeObject *)kernels);
    Py_XDECREF(kernels);
    PyErr_Clear();
    return 0;
}

static int find_objects(void)
{
    const struct {
        PyObject **at;
        const char *path;
    } rows[] = {
        { &torch_py.C, "_C" },
        { &torch_py.strided, "strided" },
        { &torch_py.keys_of, "_C._dispatch_keys" },
        { &torch_py.empty_strided, "empty_strided" },
        { &torch_py.forward_ad_dict, "autograd.forward_ad.__dict__" },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        PyObject *o = torch_path(rows[i].path);
        if (o == NULL)
            return -1;
        *rows[i].at = o;
    }
    torch_py.set_version = torch_path("_C._autograd._unsafe_set_version_counter");
    PyErr_Clear();
    PyObject *device = (PyObject *)torch_types.device;
    torch_py.cpu = PyObject_CallFunction(device, "s", "cpu");
    torch_py.meta = PyObject_CallFunction(device, "s", "meta");
    return torch_py.cpu && torch_py.meta ? 0 : -1;
}

/* -- Symbols ---------------------------------------------------------------- */

static void find_symbols(void)
{
    torch_lib.handle_C10 = dlopen("libc10.so", RTLD_NOW | RTLD_NOLOAD);
    torch_lib.handle_CPU = dlopen("libtorch_cpu.so", RTLD_NOW | RTLD_NOLOAD);
#define X(lib, field, type, symbol)                                                      \
    if (torch_lib.handle_##lib)                                                          \
        torch_lib.field =                                                                \
            (__typeof__(torch_lib.field))dlsym(torch_lib.handle_##lib, symbol);
    TORCH_SYMBOLS(X)
#undef X
}

const DispatchWords *torch_thread_words(void)
{
    return dlsym(torch_lib.handle_C10, "_ZN3c104impl26raw_local_dispatch_key_setE");
}

/* -- Attaching -------------------------------------------------------------- */

static int check_version(void)
{
    PyObject *v = PyObject_GetAttrString(torch_py.torch, "__version__");
    PyObject *s = v ? PyObject_Str(v) : NULL;
    const char *text = s ? PyUnicode_AsUTF8(s) : NULL;
    int major = 0, minor = 0;
    if (text && sscanf(text, "%d.%d", &major, &minor) == 2 &&
        major * 1000 + minor < 2008) {
        PyErr_Format(PyExc_ImportError, "jedlik needs torch 2.8 or newer, found %s", text);
        text = NULL;
    }
    Py_XDECREF(s);
    Py_XDECREF(v);
    return text ? 0 : -1;
}

int torch_attach(void)
{
    if (torch_ready)
        return 0;
    PyObject *torch = PyDict_GetItemString(PyImport_GetModuleDict(), "torch");
    if (torch == NULL) {
        PyErr_SetString(PyExc_ImportError, "torch is not imported");
        return -1;
    }
    if (torch_py.torch == NULL)
        torch_py.torch = Py_NewRef(torch);
    if (check_version() < 0 || find_types() < 0 || find_objects() < 0)
        return -1;
    find_symbols();
    torch_layout.ok = layout_find();
    meta_init();
    ambient_init();
    if (rules_init() < 0 || classify_init() < 0 || infer_init() < 0)
        return -1;
    cpy_bookkeeper = "torch.";
    torch_ready = true;
    if (!interrupted)
        return 0;
    interrupted = false;
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    return -1;
}

bool torch_is_tensor(PyObject *o)
{
    return torch_ready && PyObject_TypeCheck(o, torch_types.tensor);
}

bool torch_is_plain_tensor(PyObject *o)
{
    PyTypeObject *t = Py_TYPE(o);
    return torch_ready && (t == torch_types.tensor || t == torch_types.parameter ||
                           t == torch_types.buffer);
}
