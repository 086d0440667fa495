/*
 * torch/settings.c -- torch's process-wide settings as one word: precision, choice of attention kernels, threads.
 *
 * Takes: torch's Context, in whose memory the settings lie, and the nodes of its map of precisions. Gives: a word that differs if
 * one of them differs. Holds: the places are found once, by changing each setting and looking at what moves.
 */
#define _GNU_SOURCE
#include "torch/lib.h"
#include <sys/uio.h>
#include <unistd.h>

enum { REGION = 2048, MAX_WORDS = 24, MAX_FAR = 16 };

/* Precision of single backends and operations (torch.backends.cuda.matmul.fp32_precision): small numbers in nodes of a map. */
static int32_t *far[MAX_FAR], before[MAX_FAR]; /* where; what stood there when we came */
static int nfar;

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

/* Of the last look: the words as they were, and what they came to. */
static struct {
    uint64_t words[MAX_WORDS];
    int32_t far[MAX_FAR];
    int threads;
    uint64_t mixed;
} last;

static inline uint64_t word_at(const char *c, int i)
{
    return FIELD(uint64_t, c, words[i].at) & words[i].mask;
}

/* Mixed by multiplication with numbers of their own: settings that change together do not cancel each other. */
static __attribute__((noinline)) uint64_t look_again(const char *c, int threads)
{
    uint64_t w = (uint64_t)(unsigned)threads, precisions = 0;
    last.threads = threads;
    for (int i = 0; i < nwords; i++)
        w += (last.words[i] = word_at(c, i)) * words[i].factor;
    for (int i = 0; i < nfar; i++)
        precisions = precisions << 3 ^ (uint64_t)(uint32_t)(last.far[i] = *far[i]);
    return last.mixed = w + precisions * UINT64_C(0xc2b2ae3d27d4eb4f);
}

/* Asked at each call: mostly nothing has changed, and only comparing is done. */
uint64_t settings_word(void)
{
    const char *c = context();
    int threads = torch_lib.num_threads();
    uint64_t differ = (uint64_t)(threads ^ last.threads);
    for (int i = 0; i < nwords; i++)
        differ |= word_at(c, i) ^ last.words[i];
    for (int i = 0; i < nfar; i++)
        differ |= (uint64_t)(*far[i] ^ last.far[i]);
    return __builtin_expect(differ == 0, 1) ? last.mixed : look_again(c, threads);
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

/* peek(): the Context. peek(address, n): bytes there, or None; no address is too wrong for it. */
static PyObject *peek(PyObject *self, PyObject *args)
{
    unsigned long long at;
    char bytes[REGION];
    Py_ssize_t n;
    if (PyTuple_GET_SIZE(args) == 0)
        return PyBytes_FromStringAndSize(context(), REGION);
    if (!PyArg_ParseTuple(args, "Kn", &at, &n) || n > REGION)
        return NULL;
    struct iovec to = { bytes, (size_t)n }, from = { (void *)(uintptr_t)at, (size_t)n };
    if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != n)
        Py_RETURN_NONE;
    return PyBytes_FromStringAndSize(bytes, n);
}

/* The blocks that the Context's pointers lead to are read before and after each change: one place moves, and comes back. Once one node
 * of the map is known, only what looks like it is looked at: two small numbers for backend and operation before the value. */
static const char find_far[] =
    "def find_far(peek):\n"
    "    import struct\n"
    "    C, size = torch._C, 48\n"
    "    get, put = C._get_fp32_precision_getter, C._set_fp32_precision_setter\n"
    "    def pointers(b):\n"
    "        return {p for p in struct.unpack('%dQ' % (len(b) // 8), b) if 1 << 16 < p < "
    "1 << 47}\n"
    "    def around(todo, most):\n"
    "        blocks = set()\n"
    "        while todo and len(blocks) < most:\n"
    "            new = {p: b for p in todo - blocks if (b := peek(p, size))}\n"
    "            blocks |= set(new)\n"
    "            todo = set().union(*(pointers(b[:32]) for b in new.values()))\n"
    "        return blocks\n"
    "    def read():\n"
    "        return {p: struct.unpack('12i', b) for p in blocks if (b := peek(p, "
    "size))}\n"
    "    def node(b, i):\n"
    "        return i > 1 and b[i - 2] in range(3) and b[i - 1] in range(4) and b[i] in "
    "range(8)\n"
    "    def moved(pair, value):\n"
    "        old, seen = get(*pair), []\n"
    "        try:\n"
    "            for v in ('none', value, 'none', value):\n"
    "                put(*pair, v)\n"
    "                seen.append(read())\n"
    "        finally:\n"
    "            put(*pair, old)\n"
    "        a, b, c, d = seen\n"
    "        both = a.keys() & b.keys() & c.keys() & d.keys()\n"
    "        return {(p, i) for p in both if a[p] != b[p] for i in range(12) if a[p][i] "
    "== c[p][i] "
    "!= b[p][i] == d[p][i] and node(a[p], i) and node(b[p], i)}\n"
    "    blocks = around(pointers(peek()), 400)\n"
    "    found, start = [], read()\n"
    "    for pair in [('generic', 'all')] + [(b, o) for b in ('cuda', 'mkldnn') for o in "
    "('all', 'conv', 'rnn', 'matmul')]:\n"
    "        places = moved(pair, 'ieee')\n"
    "        if len({p + 4 * i for p, i in places}) > 1:\n"
    "            places &= moved(pair, 'tf32')\n"
    "        if len({p + 4 * i for p, i in places}) != 1:\n"
    "            return []\n"
    "        p, i = min(places)\n"
    "        if not found:\n"
    "            blocks = {q for q, b in start.items() if node(b, i)} or blocks\n"
    "        found.append((p + 4 * i, start[p][i]))\n"
    "    return found\n";

static void take_far(PyObject *found)
{
    for (Py_ssize_t i = 0; found && PyList_Check(found) && i < PyList_GET_SIZE(found);
         i++) {
        unsigned long long at;
        int value;
        if (nfar < MAX_FAR &&
            PyArg_ParseTuple(PyList_GET_ITEM(found, i), "Ki", &at, &value)) {
            before[nfar] = value;
            far[nfar++] = (int32_t *)(uintptr_t)at;
        }
    }
    PyErr_Clear();
}

/* torch tells what a setting comes to, not what it is, and the older functions write to several: looking for them leaves traces. */
static void restore_precisions(void)
{
    for (int i = 0; i < nfar; i++)
        *far[i] = before[i];
}

bool settings_find(void)
{
    static PyMethodDef def = { "peek", peek, METH_VARARGS, NULL };
    if (!torch_lib.context || !torch_lib.num_threads)
        return false;
    bool always = torch_lib.warn_get && torch_lib.warn_get();
    if (torch_lib.warn_set)
        torch_lib.warn_set(true); /* once-only warnings are not spent here */
    PyObject *found = torch_probe(find_far, "find_far", &def);
    take_far(found);
    PyObject *moved = torch_probe(find, "find", &def);
    bool ok = take(moved);
    restore_precisions();
    if (torch_lib.warn_set)
        torch_lib.warn_set(always);
    Py_XDECREF(moved);
    Py_XDECREF(found);
    return ok;
}
