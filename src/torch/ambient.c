/*
 * torch/ambient.c -- torch's ambient state as a few words: read, compared, judged.
 *
 * Takes: the thread's and the process's torch state. Gives: a block for GUARD_AMBIENT, its
 * check in about 15 ns, and whether tracing under that state is possible at all. Holds: two
 * equal blocks mean that the same operations do the same thing. Without the symbols the same
 * words are read through torch._C.
 */
#include "cpy/peek.h"
#include "guard/guard.h"
#include "torch/infer.h"

enum {
    W_INCLUDED, /* dispatch keys switched on in this thread: modes, functorch, inference mode */
    W_EXCLUDED, /* … and off: autocast */
    W_FUNCTION, /* torch-function modes and whether __torch_function__ is disabled */
    W_FLAGS,    /* autograd bits, dtypes, autocast cache, deterministic, hooks */
    W_LEVEL,    /* forward-mode AD level: the int object */
    W_DEVICE, /* the default device, interned; OTHER_MODE: a torch-function mode of another kind */
    W_SETTINGS, /* of the process: precision, kernels that may be chosen, threads */
    W_COUNT
};

typedef struct Ambient {
    uint64_t w[W_COUNT];
    unsigned kernels; /* of attention; 0: nobody asked, else with KERNELS_ASKED */
    bool quiet; /* the trace left out what only a profiler sees: there must be none */
} Ambient;

/* Offsets in three thread-local structs of torch; self_check sees that they mean what we believe. */
enum {
    STATE_BITS = 24, /* AutogradState: */
    BIT_GRAD = 1,
    BIT_INFERENCE = 2,
    TF_STATE = 0,
    TF_BEGIN = 8,
    TF_END = 16, /* PythonTorchFunctionTLS */
    HOOKS_START = 16,
    HOOKS_END = 48,
    HOOKS_OFF = 112, /* SavedTensorDefaultHooksTLS */
};

enum { CPU_TYPE = 0, CUDA_TYPE = 1 };
enum { OTHER_MODE = 1, ALL_DISABLED = 2 }; /* W_DEVICE; state of torch functions */

static bool
    may_hide; /* writing the state of torch functions does what DisableTorchFunction does */
bool ambient_fast;           /* all symbols are there and agree with Python */
static uint64_t bad_keys;    /* included keys under which nothing can be traced */
static PyObject *level_name; /* "_current_level" */

/* -- Fast reads ------------------------------------------------------------- */

/* Fixed for the life of a thread; asking for them costs more than reading them. */
static __thread const DispatchWords *my_words;
static __thread const char *my_state, *my_functions, *my_hooks;

static __attribute__((noinline)) bool find_mine(void)
{
    my_state = torch_lib.autograd_state();
    my_functions = torch_lib.tf_state();
    my_hooks = torch_lib.hooks_state();
    my_words = torch_thread_words();
    return my_words != NULL;
}

/* Levels are small ints, which are one object each. The module's globals hardly ever change. */
static inline PyObject *ad_level(void)
{
    static uint16_t hint;
    static Memo memo;
    PyObject *level = NULL;
    cpy_dict_peek(torch_py.forward_ad_dict, level_name,
                  ((PyASCIIObject *)level_name)->hash, &hint, &memo, &level);
    return level;
}

static inline uint64_t function_word(void)
{
    return (uint64_t)(FIELD(char *, my_functions, TF_END) -
                      FIELD(char *, my_functions, TF_BEGIN))
               << 8 |
           FIELD(uint8_t, my_functions, TF_STATE);
}

/* Autocast's dtypes and cache mean nothing while it is off, and then nothing is excluded. */
static __attribute__((noinline)) uint64_t autocast_bits(void)
{
    return (uint64_t)(uint8_t)torch_lib.autocast_dtype(CPU_TYPE) << 16 |
           (uint64_t)(uint8_t)torch_lib.autocast_dtype(CUDA_TYPE) << 24 |
           (uint64_t)torch_lib.autocast_cache() << 32;
}

static inline uint64_t fast_flags(const Ambient *a)
{
    static void *context;
    if (__builtin_expect(context == NULL, 0))
        context = torch_lib.context();
    uint64_t bits = FIELD(uint8_t, my_state, STATE_BITS);
    bits |= (uint64_t)(uint8_t)torch_lib.default_dtype() << 8;
    if (__builtin_expect(a->w[W_EXCLUDED] != 0, 0))
        bits |= autocast_bits();
    if (__builtin_expect(torch_lib.deterministic(context), 0))
        bits |= (torch_lib.warn_only(context) ? UINT64_C(3) : UINT64_C(1)) << 33;
    bits |= (uint64_t)FIELD(uint8_t, my_hooks, HOOKS_OFF) << 35;
    bits |= (uint64_t)(FIELD(void *, my_hooks, HOOKS_START) !=
                       FIELD(void *, my_hooks, HOOKS_END))
            << 36;
    return bits;
}

/* The default device is a mode, the only one on the stack. */
static __attribute__((noinline)) uint64_t device_word(void)
{
    static PyObject *context;
    if (context == NULL)
        context = torch_path("utils._device.DeviceContext");
    PyObject *n = PyObject_CallMethod(torch_py.C, "_len_torch_function_stack", NULL);
    PyObject *mode =
        n && PyLong_AsLong(n) == 1
            ? PyObject_CallMethod(torch_py.C, "_get_function_stack_at", "i", 0)
            : NULL;
    PyObject *device = mode && context && (PyObject *)Py_TYPE(mode) == context
                           ? PyObject_GetAttrString(mode, "device")
                           : NULL;
    uint64_t w = device ? (uint64_t)(uintptr_t)infer_device(device) : OTHER_MODE;
    PyErr_Clear();
    Py_XDECREF(device);
    Py_XDECREF(mode);
    Py_XDECREF(n);
    return w ? w : OTHER_MODE;
}

static inline bool fast_read(Ambient *a)
{
    if (__builtin_expect(my_words == NULL, 0) && !find_mine())
        return false;
    a->w[W_INCLUDED] = my_words->included;
    a->w[W_EXCLUDED] = my_words->excluded;
    a->w[W_FUNCTION] = function_word();
    a->w[W_FLAGS] = fast_flags(a);
    a->w[W_LEVEL] = (uint64_t)(uintptr_t)ad_level();
    a->w[W_DEVICE] = __builtin_expect(a->w[W_FUNCTION] >> 8 != 0, 0) ? device_word() : 0;
    a->w[W_SETTINGS] = settings_word();
    return true;
}

/* -- Slow reads ------------------------------------------------------------- */

/* Result of torch._C.<name>(arg) as a word: small ints and booleans as such, objects by address or hash. */
static uint64_t ask(const char *name, const char *arg, bool *ok)
{
    PyObject *r = arg ? PyObject_CallMethod(torch_py.C, name, "s", arg)
                      : PyObject_CallMethod(torch_py.C, name, NULL);
    uint64_t w = 0;
    if (r == NULL)
        *ok = false;
    else if (PyLong_Check(r))
        w = (uint64_t)PyLong_AsLongLong(r);
    else
        w = (uint64_t)(uintptr_t)r; /* None, dtype objects: live for ever */
    PyErr_Clear();
    Py_XDECREF(r);
    return w;
}

static uint64_t functorch_depth(void)
{
    PyObject *m = PyObject_GetAttrString(torch_py.C, "_functorch");
    PyObject *top = m ? PyObject_CallMethod(m, "peek_interpreter_stack", NULL) : NULL;
    uint64_t w = top != Py_None;
    PyErr_Clear();
    Py_XDECREF(top);
    Py_XDECREF(m);
    return w;
}

static uint64_t slow_settings(bool *ok)
{
    static const char *const names[] = {
        "get_num_threads",
        "_get_cublas_allow_tf32",
        "_get_flash_sdp_enabled",
        "_get_mem_efficient_sdp_enabled",
        "_get_math_sdp_enabled",
        "_get_mkldnn_enabled",
        "_get_deterministic_fill_uninitialized_memory",
    };
    uint64_t w = 0;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        w = w * 4099 + ask(names[i], NULL, ok);
    PyObject *p = PyObject_CallMethod(torch_py.C, "_get_float32_matmul_precision", NULL);
    w = w * 4099 + (uint64_t)(p ? PyObject_Hash(p) : 0);
    *ok &= p != NULL;
    PyErr_Clear();
    Py_XDECREF(p);
    return w;
}

static bool slow_read(Ambient *a)
{
    bool ok = true;
    a->w[W_INCLUDED] = ask("_len_torch_dispatch_stack", NULL, &ok) + functorch_depth();
    a->w[W_EXCLUDED] = ask("is_autocast_enabled", "cpu", &ok) |
                       ask("is_autocast_enabled", "cuda", &ok) << 1 |
                       ask("is_autocast_cache_enabled", NULL, &ok) << 2 |
                       ask("_get_deterministic_algorithms", NULL, &ok) << 3 |
                       ask("_get_deterministic_algorithms_warn_only", NULL, &ok) << 4;
    a->w[W_FUNCTION] = ask("_len_torch_function_stack", NULL, &ok) << 8 |
                       !ask("_is_torch_function_enabled", NULL, &ok);
    a->w[W_FLAGS] = ask("get_default_dtype", NULL, &ok) << 2;
    a->w[W_FLAGS] ^= ask("get_autocast_dtype", "cpu", &ok) << 18;
    a->w[W_FLAGS] ^= ask("get_autocast_dtype", "cuda", &ok) << 34;
    a->w[W_FLAGS] ^= (ask("is_grad_enabled", NULL, &ok) ? BIT_GRAD : 0) |
                     (ask("is_inference_mode_enabled", NULL, &ok) ? BIT_INFERENCE : 0);
    a->w[W_LEVEL] = (uint64_t)(uintptr_t)ad_level();
    a->w[W_DEVICE] = a->w[W_FUNCTION] >> 8 ? OTHER_MODE : 0;
    a->w[W_SETTINGS] = slow_settings(&ok);
    return ok;
}

static bool read_ambient(Ambient *a)
{
    return ambient_fast ? fast_read(a) : slow_read(a);
}

/* -- Kernels of attention --------------------------------------------------- */

const struct KernelName kernel_names[KERNELS] = {
    { "cudnn", "CUDNN_ATTENTION" },
    { "flash", "FLASH_ATTENTION" },
    { "mem_efficient", "EFFICIENT_ATTENTION" },
    { "math", "MATH" },
    { "overrideable", "OVERRIDEABLE" },
};

unsigned ambient_kernels(void)
{
    unsigned mask = 0;
    char name[64];
    bool ok = true;
    for (int i = 0; i < KERNELS; i++) {
        snprintf(name, sizeof name, "_get_%s_sdp_enabled", kernel_names[i].flag);
        mask |= (unsigned)(ask(name, NULL, &ok) == 1) << i;
    }
    return mask;
}

void ambient_set_kernels(unsigned mask)
{
    char name[64];
    for (int i = 0; i < KERNELS; i++) {
        snprintf(name, sizeof name, "_set_sdp_use_%s", kernel_names[i].flag);
        PyObject *on = mask & (1u << i) ? Py_True : Py_False;
        Py_XDECREF(PyObject_CallMethod(torch_py.C, name, "O", on));
        PyErr_Clear();
    }
}

void ambient_ask_kernels(void *block)
{
    ((Ambient *)block)->kernels = KERNELS_ASKED | ambient_kernels();
}

/* -- Profilers -------------------------------------------------------------- */

bool ambient_quiet(void *block)
{
    if (torch_lib.profiling == NULL || torch_lib.profiling())
        return false;
    ((Ambient *)block)->quiet = true;
    return true;
}

/* -- The guard -------------------------------------------------------------- */

void *ambient_block(Arena *a, size_t *size)
{
    Ambient *b = arena_alloc(a, sizeof *b);
    if (b == NULL)
        return NULL;
    *size = sizeof *b;
    b->kernels = 0;
    b->quiet = false;
    if (!read_ambient(b)) {
        PyErr_SetString(PyExc_RuntimeError, "torch's ambient state cannot be read");
        return NULL;
    }
    return b;
}

bool ambient_words(uint64_t *w, size_t *n)
{
    Ambient a;
    if (!read_ambient(&a))
        return false;
    memcpy(&w[*n], a.w, sizeof a.w);
    *n += W_COUNT;
    return true;
}

static bool check(const void *block)
{
    const Ambient *b = block;
    Ambient now;
    if (!read_ambient(&now))
        return false;
    uint64_t differ = 0;
    for (int i = 0; i < W_COUNT; i++)
        differ |= now.w[i] ^ b->w[i];
    return differ == 0 && !(b->quiet && torch_lib.profiling()) &&
           (b->kernels == 0 || b->kernels == (KERNELS_ASKED | ambient_kernels()));
}

/* -- The default device ----------------------------------------------------- */

PyObject *ambient_device(void)
{
    if (!ambient_fast || (my_words == NULL && !find_mine()) || function_word() >> 8 == 0)
        return NULL;
    uint64_t w = device_word();
    return w == OTHER_MODE ? NULL : (PyObject *)(uintptr_t)w;
}

uint8_t ambient_hide_modes(void)
{
    if (!may_hide || (my_words == NULL && !find_mine()))
        return 0;
    uint8_t *state = (uint8_t *)(uintptr_t)(my_functions + TF_STATE), old = *state;
    *state = ALL_DISABLED;
    return old;
}

void ambient_show_modes(uint8_t old)
{
    if (may_hide)
        *(uint8_t *)(uintptr_t)(my_functions + TF_STATE) = old;
}

static void try_hiding(void)
{
    may_hide = ambient_fast;
    uint8_t old = ambient_hide_modes();
    bool ok = true,
         hidden = may_hide && ask("_is_torch_function_all_disabled", NULL, &ok) == 1;
    ambient_show_modes(old);
    may_hide = hidden && ok && ask("_is_torch_function_all_disabled", NULL, &ok) == 0;
}

/* -- Judging ---------------------------------------------------------------- */

bool ambient_tracable(const char **why)
{
    Ambient a;
    *why = NULL;
    if (!read_ambient(&a))
        *why = "torch's ambient state cannot be read";
    else if (a.w[W_DEVICE] == OTHER_MODE || (a.w[W_DEVICE] && !may_hide))
        *why = "a torch function mode is active";
    else if (a.w[W_FUNCTION] & 0xff)
        *why = "__torch_function__ is disabled";
    else if (ambient_fast ? (a.w[W_INCLUDED] & bad_keys) != 0 || torch_lib.modes_len() > 0
                          : a.w[W_INCLUDED] != 0)
        *why = "a dispatch mode or functorch transform is active";
    else if (a.w[W_LEVEL] == 0 || PyLong_AsLong((PyObject *)(uintptr_t)a.w[W_LEVEL]) != -1)
        *why = "forward-mode differentiation is active";
    return *why == NULL;
}

bool ambient_grad_enabled(void)
{
    if (torch_lib.grad_enabled)
        return torch_lib.grad_enabled();
    bool ok = true;
    return ask("is_grad_enabled", NULL, &ok) == 1;
}

bool ambient_inference(void)
{
    if (ambient_fast && (my_words != NULL || find_mine()))
        return FIELD(uint8_t, my_state, STATE_BITS) & BIT_INFERENCE;
    bool ok = true;
    return ask("is_inference_mode_enabled", NULL, &ok) == 1;
}

void ambient_set_grad(bool on)
{
    if (torch_lib.grad_set) {
        torch_lib.grad_set(on);
        return;
    }
    PyObject *r = PyObject_CallMethod(torch_py.C, "_set_grad_enabled", "i", (int)on);
    PyErr_Clear();
    Py_XDECREF(r);
}

/* -- Self-checks ------------------------------------------------------------ */

static bool all_symbols(void)
{
    const TorchLib *l = &torch_lib;
    return l->dispatch_words && l->autograd_state && l->default_dtype &&
           l->autocast_dtype && l->autocast_cache && l->deterministic && l->warn_only &&
           l->hooks_state && l->context && l->tf_state && l->modes_len &&
           l->grad_enabled && l->grad_set;
}

/* Each step of the block changes one thing; the words must move, and come back. */
static const char exercise[] =
    "def exercise(read):\n"
    "    plain = read()\n"
    "    C = torch._C\n"
    "    def moved(enter, leave):\n"
    "        old = enter()\n"
    "        try:\n"
    "            now = read()\n"
    "        finally:\n"
    "            leave(old)\n"
    "        return now != plain and read() == plain\n"
    "    def ctx(make):\n"
    "        def enter():\n"
    "            c = make()\n"
    "            c.__enter__()\n"
    "            return c\n"
    "        return enter, lambda c: c.__exit__(None, None, None)\n"
    "    hook = lambda x: x\n"
    "    ok = moved(*ctx(lambda: torch.set_grad_enabled(not torch.is_grad_enabled())))\n"
    "    ok &= moved(*ctx(lambda: torch.inference_mode(not "
    "torch.is_inference_mode_enabled())))\n"
    "    other = torch.float64 if torch.get_default_dtype() != torch.float64 else "
    "torch.float32\n"
    "    old = torch.get_default_dtype()\n"
    "    ok &= moved(lambda: C._set_default_dtype(other), lambda _: "
    "C._set_default_dtype(old))\n"
    "    ok &= moved(*ctx(lambda: torch._C.DisableTorchFunction()))\n"
    "    ok &= moved(lambda: C._push_on_torch_function_stack(hook),\n"
    "                lambda _: C._pop_torch_function_stack())\n"
    "    ok &= moved(lambda: C._autograd._push_saved_tensors_default_hooks(hook, hook),\n"
    "                lambda _: C._autograd._pop_saved_tensors_default_hooks())\n"
    "    ok &= moved(*ctx(lambda: "
    "torch.autograd.graph.disable_saved_tensors_hooks('')))\n"
    "    det = C._get_deterministic_algorithms()\n"
    "    ok &= moved(lambda: C._set_deterministic_algorithms(not det),\n"
    "                lambda _: C._set_deterministic_algorithms(det))\n"
    "    on = C.is_autocast_enabled('cpu')\n"
    "    ok &= moved(lambda: C.set_autocast_enabled('cpu', not on),\n"
    "                lambda _: C.set_autocast_enabled('cpu', on))\n"
    "    with torch.autocast('cpu', torch.float16):\n"
    "        half = read()\n"
    "    with torch.autocast('cpu', torch.bfloat16):\n"
    "        ok &= read() != half\n"
    "    return ok\n";

static PyObject *read_bytes(PyObject *self, PyObject *unused)
{
    Ambient a;
    if (!fast_read(&a))
        return PyBytes_FromString("");
    return PyBytes_FromStringAndSize((char *)a.w, sizeof a.w);
}

static bool self_check(void)
{
    static PyMethodDef def = { "read", read_bytes, METH_NOARGS, NULL };
    PyObject *ok = torch_probe(exercise, "exercise", &def);
    Py_XDECREF(ok);
    return ok == Py_True;
}

static const char bad_keys_block[] =
    "K = torch._C.DispatchKey\n"
    "bad = 0\n"
    "for n in dir(K):\n"
    "    if n.startswith(('Python', 'FuncTorch', 'Functionalize', 'PreDispatch')):\n"
    "        bad |= torch._C.DispatchKeySet(getattr(K, n)).raw_repr()\n";

void ambient_init(void)
{
    level_name = PyUnicode_InternFromString("_current_level");
    do {
        PyObject *bad = torch_run(bad_keys_block, "bad");
        bad_keys = bad ? PyLong_AsUnsignedLongLong(bad) : ~UINT64_C(0);
        Py_XDECREF(bad);
    } while (torch_interrupted());
    ambient_fast = all_symbols() && settings_find() && self_check();
    try_hiding();
    guard_ambient_check = check;
}
