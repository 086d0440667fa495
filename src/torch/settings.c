/*
 * torch/settings.c -- torch's process-wide settings as one word: precision, choice of attention kernels, threads.
 *
 * Takes: torch's Context, in whose memory the settings lie. Gives: a word that differs if one of them differs. Holds: the
 * places are found once, by changing each setting and looking at what moves.
 */
#include "torch/lib.h"

enum { REGION = 2048, MAX_WORDS = 24 };

static struct {
    int at;
    uint64_t mask, factor;
} words[MAX_WORDS];
static int nwords;

static const char *context(void)
{
    static const char *c;
    if (c == NULL)
        c = torch_lib.context();
    return c;
}

/* Mixed by multiplication with numbers of their own: settings that change together do not cancel each other. */
uint64_t settings_word(void)
{
    const char *c = context();
    uint64_t w = (uint64_t)(unsigned)torch_lib.num_threads();
    for (int i = 0; i < nwords; i++)
        w += (FIELD(uint64_t, c, words[i].at) & words[i].mask) * words[i].factor;
    return w;
}

/* Each row changes one setting and puts it back. What this torch does not have is left out. */
static const char find[] =
    "def find(read):\n"
    "    C, moved = torch._C, bytearray(len(read()))\n"
    "    def flip(name):\n"
    "        get, put = getattr(C, '_get_' + name, None), getattr(C, '_set_' + name, "
    "None)\n"
    "        return (get, put) if get and put else None\n"
    "    rows = [(flip(n), None) for n in ('cublas_allow_tf32', 'cudnn_allow_tf32',\n"
    "        'cublas_allow_fp16_reduced_precision_reduction', 'mkldnn_enabled',\n"
    "        'cublas_allow_bf16_reduced_precision_reduction', 'cudnn_enabled',\n"
    "        'cudnn_benchmark', 'cudnn_deterministic',\n"
    "        'deterministic_fill_uninitialized_memory')]\n"
    "    rows += [((getattr(C, '_get_%s_enabled' % n, None),\n"
    "               getattr(C, '_set_sdp_use_' + n.replace('_sdp', ''), None)), None)\n"
    "             for n in ('flash_sdp', 'mem_efficient_sdp', 'math_sdp', 'cudnn_sdp',\n"
    "                       'overrideable_sdp')]\n"
    "    precision = C._get_float32_matmul_precision, C._set_float32_matmul_precision\n"
    "    rows += [(precision, v) for v in ('highest', 'high', 'medium')]\n"
    "    for pair, other in rows:\n"
    "        if not pair or None in pair:\n"
    "            continue\n"
    "        get, put = pair\n"
    "        old, before = get(), read()\n"
    "        old = old if isinstance(old, tuple) else (old,)\n"
    "        try:\n"
    "            put(not old[0] if other is None else other, *old[1:])\n"
    "            now = read()\n"
    "        except (RuntimeError, TypeError):\n"
    "            continue\n"
    "        finally:\n"
    "            put(*old)\n"
    "        if read() != before:\n"
    "            return None\n"
    "        for i, (a, b) in enumerate(zip(before, now)):\n"
    "            moved[i] |= 255 * (a != b)\n"
    "    return bytes(moved)\n";

static PyObject *read_region(PyObject *self, PyObject *unused)
{
    return PyBytes_FromStringAndSize(context(), REGION);
}

static bool take(PyObject *moved)
{
    if (moved == NULL || !PyBytes_Check(moved) || PyBytes_GET_SIZE(moved) != REGION)
        return false;
    uint64_t factor = UINT64_C(0xda942042e4dd58b5);
    for (int at = 0; at < REGION; at += 8) {
        uint64_t mask = FIELD(uint64_t, PyBytes_AS_STRING(moved), at);
        if (mask == 0)
            continue;
        if (nwords == MAX_WORDS)
            return false;
        words[nwords].at = at;
        words[nwords].mask = mask;
        words[nwords].factor = (factor *= UINT64_C(0x9e3779b97f4a7c15));
        nwords++;
    }
    return nwords > 0;
}

bool settings_find(void)
{
    static PyMethodDef def = { "read", read_region, METH_NOARGS, NULL };
    if (!torch_lib.context || !torch_lib.num_threads)
        return false;
    bool always = torch_lib.warn_get && torch_lib.warn_get();
    if (torch_lib.warn_set)
        torch_lib.warn_set(true); /* once-only warnings are not spent here */
    PyObject *read = PyCFunction_New(&def, NULL), *run = torch_run(find, "find");
    PyObject *moved = read && run ? PyObject_CallOneArg(run, read) : NULL;
    bool ok = take(moved);
    PyErr_Clear();
    if (torch_lib.warn_set)
        torch_lib.warn_set(always);
    Py_XDECREF(moved);
    Py_XDECREF(run);
    Py_XDECREF(read);
    return ok;
}
