/*
 * torch/lib.h -- what torch_attach found: functions of torch's libraries and field offsets. For this folder only.
 *
 * A function that is missing is NULL; `layout.ok` false means that tensors are read through Python attributes.
 */
#ifndef JEDLIK_TORCH_LIB_H
#define JEDLIK_TORCH_LIB_H

#include "torch/torch.h"

typedef struct DispatchWords {
    uint64_t included, excluded;
} DispatchWords;

/* Columns: library, field, C type, mangled name. */
#define TORCH_SYMBOLS(X)                                                                  \
    X(C10, requires_grad, bool (*)(const void *),                                         \
      "_ZNK3c1010TensorImpl13requires_gradEv")                                            \
    X(C10, autograd_state, const char *(*)(void),                                         \
      "_ZN3c1013AutogradState13get_tls_stateEv")                                          \
    X(C10, default_dtype, int8_t (*)(void), "_ZN3c1031get_default_dtype_as_scalartypeEv") \
    X(C10, dispatch_words, DispatchWords *, "_ZN3c104impl26raw_local_dispatch_key_setE")  \
    X(C10, modes_len, int64_t (*)(void),                                                  \
      "_ZN3c104impl20TorchDispatchModeTLS9stack_lenEv")                                   \
    X(C10, grad_enabled, bool (*)(void), "_ZN3c108GradMode10is_enabledEv")                \
    X(C10, grad_set, void (*)(bool), "_ZN3c108GradMode11set_enabledEb")                   \
    X(C10, warn_set, void (*)(bool), "_ZN3c1012WarningUtils14set_warnAlwaysEb")           \
    X(C10, warn_get, bool (*)(void), "_ZN3c1012WarningUtils14get_warnAlwaysEv")           \
    X(CPU, tf_state, const char *(*)(void),                                               \
      "_ZN2at4impl22PythonTorchFunctionTLS9get_stateEv")                                  \
    X(CPU, autocast_dtype, int8_t (*)(int8_t),                                            \
      "_ZN2at8autocast18get_autocast_dtypeEN3c1010DeviceTypeE")                           \
    X(CPU, autocast_enabled, bool (*)(int8_t),                                            \
      "_ZN2at8autocast19is_autocast_enabledEN3c1010DeviceTypeE")                          \
    X(CPU, autocast_cache, bool (*)(void),                                                \
      "_ZN2at8autocast25is_autocast_cache_enabledEv")                                     \
    X(CPU, hooks_state, const char *(*)(void),                                            \
      "_ZN2at23SavedTensorDefaultHooks13get_tls_stateEv")                                 \
    X(CPU, context, void *(*)(void), "_ZN2at13globalContextEv")                           \
    X(CPU, deterministic, bool (*)(const void *),                                         \
      "_ZNK2at7Context23deterministicAlgorithmsEv")                                       \
    X(CPU, warn_only, bool (*)(const void *),                                             \
      "_ZNK2at7Context31deterministicAlgorithmsWarnOnlyEv")                               \
    X(CPU, num_threads, int (*)(void), "_ZN2at15get_num_threadsEv")                       \
    X(CPU, profiling, bool (*)(void), "_ZN5torch8profiler4impl15profilerEnabledEv")       \
    X(CPU, dtype_f32, int32_t (*)(void), "aoti_torch_dtype_float32")                      \
    X(CPU, dtype_f64, int32_t (*)(void), "aoti_torch_dtype_float64")                      \
    X(CPU, dtype_i64, int32_t (*)(void), "aoti_torch_dtype_int64")                        \
    X(CPU, dtype_bool, int32_t (*)(void), "aoti_torch_dtype_bool")                        \
    X(CPU, dtype_bf16, int32_t (*)(void), "aoti_torch_dtype_bfloat16")                    \
    X(CPU, device_meta, int32_t (*)(void), "aoti_torch_device_type_meta")

typedef struct TorchLib {
    void *handle_C10, *handle_CPU;
#define X(lib, field, type, symbol) __typeof__(type) field;
    TORCH_SYMBOLS(X)
#undef X
} TorchLib;

typedef struct TorchLayout {
    bool ok;
    int cdata; /* of TensorImpl* in the Python object; the others are offsets in the TensorImpl */
    int storage, autograd, ndim, sizes, strides, offset, numel, dtype, keys;
    int inline_dims; /* up to so many dims, sizes and strides are inline; else sizes holds a pointer */
    uint64_t bit_keys;     /* lazy conjugation and negation */
    uint64_t allowed_keys; /* functionality bits a plain dense tensor may have */
} TorchLayout;

extern TorchLib torch_lib;
extern TorchLayout torch_layout;

/* Objects of torch's Python side, owned for ever. */
extern struct TorchPy {
    PyObject *torch, *C;       /* modules torch, torch._C */
    PyObject *forward_ad_dict; /* of torch.autograd.forward_ad */
    PyObject *dtypes[64];      /* dtype object by number, or NULL */
    PyObject *strided;         /* torch.strided */
    PyObject *cpu, *meta;      /* torch.device objects */
    PyObject *keys_of;         /* torch._C._dispatch_keys */
    PyObject *empty_strided;
    PyObject *set_version; /* torch._C._autograd._unsafe_set_version_counter, or NULL */
} torch_py;

#define FIELD(type, impl, at) (*(type const *)((char const *)(impl) + (at)))

static inline const char *tensor_impl(PyObject *t)
{
    return FIELD(char *, t, torch_layout.cdata);
}

/* The calling thread's dispatch keys: a thread-local symbol, looked up for this thread. */
const DispatchWords *torch_thread_words(void);

bool layout_find(
    void); /* layout.c: fills torch_layout; false (no exception) if anything is odd */
int classify_init(void); /* classify.c */
void meta_init(void);    /* meta.c: assigns guard_tensor_check */
void ambient_init(void); /* ambient.c */
extern bool ambient_fast;
/* The default device that the program has set, interned; NULL: none. */
PyObject *ambient_device(void);
/* Torch-function modes, the default device among them, are off between the two. */
uint8_t ambient_hide_modes(void);
void ambient_show_modes(uint8_t old);
/* settings.c: false if the settings cannot be read so. */
bool settings_find(void);
uint64_t settings_word(void);

/* What stands at a dotted path below torch ("nn.functional"): new reference; NULL with an exception. */
PyObject *torch_path(const char *dotted);
/* New reference: runs a Python expression or block with `torch` in scope, for attach-time work only. */
PyObject *torch_run(const char *block, const char *result);
/* The same of a function that a block defines, called with one made of `def`: its result, or NULL with no exception set. */
PyObject *torch_probe(const char *block, const char *name, PyMethodDef *def);
/* After an answer that need not come: forgets the exception. True: it was Ctrl-C, so the question is worth asking again; the program hears of it
 * when it goes on. */
bool torch_interrupted(void);

#endif
