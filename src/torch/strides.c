/*
 * torch/strides.c -- the strides that torch gives the result of an elementwise operation.
 *
 * Takes: the operands' metadata and the result's sizes. Gives: the result's strides. Holds: the rules of TensorIterator for an
 * output that it allocates itself; what they do not cover is "no".
 */
#include "torch/rules.h"

bool strides_contiguous(const TensorMeta *m)
{
    int64_t want = 1;
    for (int i = m->ndim - 1; i >= 0; i--) {
        if (m->sizes[i] != 1 && m->strides[i] != want)
            return m->numel == 0;
        want *= m->sizes[i];
    }
    return true;
}

void strides_fill(TensorMeta *out)
{
    int64_t step = 1;
    out->numel = 1;
    for (int i = out->ndim - 1; i >= 0; i--) {
        out->strides[i] = step;
        step *= out->sizes[i] > 1 ? out->sizes[i] : 1;
        out->numel *= out->sizes[i];
    }
}

static bool same_sizes(const TensorMeta *a, const TensorMeta *b)
{
    return a->ndim == b->ndim && memcmp(a->sizes, b->sizes, 8 * (size_t)a->ndim) == 0;
}

/* Contiguous with the dimensions taken in this order, innermost first; those of size 1 do not count. */
static bool packed(const TensorMeta *m, const int *inner)
{
    int64_t want = 1;
    for (int i = 0; i < m->ndim; i++) {
        int d = inner[i];
        if (m->sizes[d] != 1 && m->strides[d] != want)
            return false;
        want *= m->sizes[d];
    }
    return true;
}

static bool channels_last(const TensorMeta *m)
{
    static const int four[] = { 1, 3, 2, 0 }, five[] = { 1, 4, 3, 2, 0 };
    return (m->ndim == 4 && packed(m, four)) || (m->ndim == 5 && packed(m, five));
}

/* No gaps and no overlap, in whatever order of dimensions. */
static bool dense(const TensorMeta *m)
{
    int inner[META_MAX_DIM];
    for (int i = 0; i < m->ndim; i++) {
        int j = i;
        for (; j > 0 && m->sizes[i] != 1 && (m->sizes[inner[j - 1]] == 1 || m->strides[inner[j - 1]] > m->strides[i]); j--)
            inner[j] = inner[j - 1];
        inner[j] = i;
    }
    return packed(m, inner);
}

typedef enum { WAY_PLAIN, WAY_COPY, WAY_SORT, WAY_UNKNOWN } Way;

/* Operands of one size have ways of their own; all others are sorted. */
static Way way_of(const TensorMeta *in, int n, const TensorMeta *out)
{
    bool plain = true, last = true, equal = true;
    for (int i = 0; i < n; i++) {
        if (!same_sizes(&in[i], out))
            return WAY_SORT;
        plain &= strides_contiguous(&in[i]);
        last &= channels_last(&in[i]);
        equal &= dense(&in[i]) && memcmp(in[i].strides, in[0].strides, 8 * (size_t)out->ndim) == 0;
    }
    return plain ? WAY_PLAIN : last ? WAY_UNKNOWN : equal ? WAY_COPY : WAY_SORT;
}

/* Steps of an operand along the result's dimensions: 0 where it is broadcast. */
static int64_t step_along(const TensorMeta *in, const TensorMeta *out, int dim)
{
    int own = dim - (out->ndim - in->ndim);
    if (own < 0 || (in->sizes[own] == 1 && out->sizes[dim] != 1))
        return 0;
    return in->strides[own];
}

/* > 0: a belongs outside of b, which is now inside of it; < 0: they stand right; 0: no operand tells. */
static int order(const TensorMeta *in, int n, const TensorMeta *out, int a, int b)
{
    for (int i = 0; i < n; i++) {
        int64_t x = step_along(&in[i], out, a), y = step_along(&in[i], out, b);
        if (x == 0 || y == 0)
            continue;
        if (x != y)
            return x < y ? -1 : 1;
        if (out->sizes[a] > out->sizes[b])
            return 1;
    }
    return 0;
}

/* Sorts the result's dimensions, innermost first; order() is no total order, so that the way of sorting matters. */
static void sort(const TensorMeta *in, int n, const TensorMeta *out, int *inner)
{
    for (int i = 0; i < out->ndim; i++)
        inner[i] = out->ndim - 1 - i;
    for (int i = 1; i < out->ndim; i++)
        for (int at = i, j = i - 1; j >= 0; j--) {
            int way = order(in, n, out, inner[j], inner[at]);
            if (way < 0)
                break;
            if (way > 0) {
                int t = inner[j];
                inner[j] = inner[at];
                inner[at] = t;
                at = j;
            }
        }
}

static void fill_sorted(const TensorMeta *in, int n, TensorMeta *out)
{
    int inner[META_MAX_DIM];
    bool plain = true;
    int64_t step = 1;
    sort(in, n, out, inner);
    for (int i = 0; i < out->ndim; i++)
        plain &= inner[i] == out->ndim - 1 - i;
    for (int i = 0; i < out->ndim && !plain; i++) {
        out->strides[inner[i]] = step;
        step *= out->sizes[inner[i]];
    }
}

bool strides_elementwise(const TensorMeta *in, int n, TensorMeta *out)
{
    strides_fill(out);
    if (out->numel == 0)
        return false;
    switch (way_of(in, n, out)) {
    case WAY_PLAIN:
        return true;
    case WAY_COPY:
        memcpy(out->strides, in[0].strides, 8 * (size_t)out->ndim);
        return true;
    case WAY_SORT:
        fill_sorted(in, n, out);
        return true;
    default:
        return false;
    }
}
