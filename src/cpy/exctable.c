/*
 * cpy/exctable.c -- reads and writes exception tables, and the byte string writers share.
 *
 * Takes and gives: ranges in code units, sorted. A number is a run of 6-bit groups,
 * highest first, 0x40: more follow; the first byte of an entry has 0x80.
 */
#include "cpy/codec.h"

/* -- Byte strings ------------------------------------------------------------ */

void bytes_put(Bytes *b, int byte)
{
    if (b->failed)
        return;
    if (b->n == b->cap) {
        size_t cap = b->cap ? b->cap * 2 : 256;
        uint8_t *s = mem_resize(b->s, cap);
        b->failed = s == NULL;
        if (b->failed)
            return;
        b->s = s;
        b->cap = cap;
    }
    b->s[b->n++] = (uint8_t)byte;
}

PyObject *bytes_take(Bytes *b)
{
    PyObject *o = NULL;
    if (!b->failed)
        o = PyBytes_FromStringAndSize((const char *)b->s, (Py_ssize_t)b->n);
    mem_free(b->s);
    memset(b, 0, sizeof *b);
    return o;
}

/* -- Exception table --------------------------------------------------------- */

ExcReader exc_open(PyObject *table)
{
    const uint8_t *s = (const uint8_t *)PyBytes_AS_STRING(table);
    return (ExcReader){ s, s + PyBytes_GET_SIZE(table) };
}

static bool number(ExcReader *r, int *out)
{
    int64_t n = 0;
    uint8_t byte = 0x40;
    while (byte & 0x40) {
        if (r->at == r->end || n > INT32_MAX >> 6)
            return false;
        byte = *r->at++;
        n = n << 6 | (byte & 0x3f);
    }
    *out = (int)n;
    return true;
}

int exc_next(ExcReader *r, ExcRange *out)
{
    if (r->at == r->end)
        return 0;
    int depth;
    if (!number(r, &out->start) || !number(r, &out->length) || !number(r, &out->target) ||
        !number(r, &depth))
        return -1;
    out->depth = depth >> 1;
    out->lasti = depth & 1;
    return 1;
}

static void put_number(Bytes *b, int n, int mark)
{
    for (int shift = 24; shift > 0; shift -= 6)
        if (n >> shift) {
            bytes_put(b, mark | 0x40 | (n >> shift & 0x3f));
            mark = 0;
        }
    bytes_put(b, mark | (n & 0x3f));
}

void exc_put(Bytes *b, const ExcRange *e)
{
    put_number(b, e->start, 0x80);
    put_number(b, e->length, 0);
    put_number(b, e->target, 0);
    put_number(b, e->depth << 1 | e->lasti, 0);
}
