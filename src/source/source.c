/*
 * source/source.c -- the table of sources and their text.
 *
 * Walks along `base` are loops: a linked list in the user's program makes a chain of sources
 * as long as the list.
 */
#include "source/source.h"
#include "base/same.h"

enum { FIRST_BUCKETS = 256 };

static const char *const texts[] = {
#define SRC(name, text) text,
#include "source/sources.def"
#undef SRC
};

/* -- Interning -------------------------------------------------------------- */

int sources_init(Sources *t, Arena *arena)
{
    *t = (Sources){ .arena = arena, .nbuckets = FIRST_BUCKETS };
    t->bucket = arena_alloc(arena, t->nbuckets * sizeof *t->bucket);
    return t->bucket ? 0 : -1;
}

static uintptr_t mix(uintptr_t h, uintptr_t x)
{
    return (h ^ x) * UINT64_C(0x9E3779B97F4A7C15) >> 7;
}

static uintptr_t hash_of(SrcKind kind, const Source *base, PyObject *key, Py_ssize_t index)
{
    uintptr_t h = mix(kind, (uintptr_t)base >> 4);
    uintptr_t k = key == NULL         ? 0
                  : kind == SRC_CONST ? (uintptr_t)key >> 4
                                      : const_hash(key);
    return mix(mix(h, k), (uintptr_t)index);
}

static bool grow(Sources *t)
{
    size_t n = t->nbuckets * 2;
    Source **bucket = arena_alloc(t->arena, n * sizeof *bucket);
    if (bucket == NULL)
        return false;
    for (size_t i = 0; i < t->nbuckets; i++)
        for (Source *s = t->bucket[i], *next; s; s = next) {
            next = s->chain;
            size_t at = hash_of(s->kind, s->base, s->key, s->index) & (n - 1);
            s->chain = bucket[at];
            bucket[at] = s;
        }
    t->bucket = bucket;
    t->nbuckets = n;
    return true;
}

/* CONST names an object, the others a place: equal objects are not one. */
static bool same_key(SrcKind kind, PyObject *a, PyObject *b)
{
    return a == b || (kind != SRC_CONST && a && b && const_same(a, b));
}

/* The key as the table keeps it: names interned, all owned by the arena. */
static PyObject *keep_key(Arena *a, SrcKind kind, PyObject *key)
{
    Py_INCREF(key);
    if (PyUnicode_CheckExact(key) && kind != SRC_CONST)
        PyUnicode_InternInPlace(&key);
    return arena_hold(a, key);
}

Source *source_get(Sources *t, SrcKind kind, Source *base, PyObject *key, Py_ssize_t index)
{
    uintptr_t hash = hash_of(kind, base, key, index);
    for (Source *s = t->bucket[hash & (t->nbuckets - 1)]; s; s = s->chain)
        if (s->kind == kind && s->base == base && s->index == index &&
            same_key(kind, s->key, key))
            return s;
    if (t->n >= t->nbuckets && !grow(t))
        return NULL;
    Source *s = arena_alloc(t->arena, sizeof *s);
    if (s == NULL || (key && (key = keep_key(t->arena, kind, key)) == NULL))
        return NULL;
    size_t at = hash & (t->nbuckets - 1);
    *s = (Source){ .kind = kind,
                   .id = (uint32_t)t->n++,
                   .base = base,
                   .key = key,
                   .index = index,
                   .chain = t->bucket[at] };
    t->bucket[at] = s;
    return s;
}

Source *source_at(Sources *t, Source *base, struct Expr *index)
{
    return source_get(t, SRC_AT, base, NULL, (Py_ssize_t)index);
}

bool source_makes_new(SrcKind k)
{
    return k == SRC_NEXTITEM || k == SRC_GETSET || k == SRC_GRAD;
}

bool source_keeps(const Source *s)
{
    for (const Source *b = s; b; b = b->base)
        if (source_makes_new(b->kind))
            return false;
    return s->kind != SRC_SLOT;
}

/* -- Text ------------------------------------------------------------------- */

void (*source_print_expr)(Text *t, const struct Expr *e, PyObject *slot_names);

static void put_key(Text *t, PyObject *key, bool bare)
{
    const char *s = bare && PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : NULL;
    if (s == NULL)
        PyErr_Clear();
    if (s)
        text_put(t, "%s", s);
    else
        text_repr(t, key);
}

/* One stretch of a row's text, up to `end`, the base's place excepted. */
static void put_part(Text *t, const char *at, const char *end, PyObject *key,
                     Py_ssize_t index)
{
    for (char before = 0; at < end; before = *at++)
        if (*at != '%')
            text_put(t, "%c", *at);
        else if (*++at == 'i')
            text_put(t, "%zd", index);
        else if (key)
            put_key(t, key, before == '.');
}

static const char *base_place(SrcKind kind)
{
    return strstr(texts[kind], "%b");
}

void source_print_head(Text *t, SrcKind kind, PyObject *key, Py_ssize_t index)
{
    put_part(t, texts[kind], base_place(kind), key, index);
}

void source_print_tail(Text *t, SrcKind kind, PyObject *key, Py_ssize_t index)
{
    if (kind == SRC_NEXTITEM && index == 0)
        text_put(t, ")");
    else {
        const char *at = base_place(kind) + 2;
        put_part(t, at, at + strlen(at), key, index);
    }
}

void source_print_root(Text *t, SrcKind kind, PyObject *key, Py_ssize_t index,
                       PyObject *slot_names)
{
    PyObject *name = NULL;
    if (kind == SRC_SLOT && slot_names && index < PyTuple_GET_SIZE(slot_names))
        name = PyTuple_GET_ITEM(slot_names, index);
    if (name && PyUnicode_Check(name)) {
        text_put(t, "L[");
        text_repr(t, name);
        text_put(t, "]");
        return;
    }
    put_part(t, texts[kind], texts[kind] + strlen(texts[kind]), key, index);
}

void source_print(Text *t, const Source *s, PyObject *slot_names)
{
    size_t n = 0;
    for (const Source *b = s; b->base; b = b->base)
        n++;
    const Source **path = mem_alloc(n * sizeof *path);
    if (path == NULL) {
        PyErr_Clear();
        t->failed = true;
        return;
    }
    n = 0;
    for (; s->base; s = s->base) {
        source_print_head(t, s->kind, s->key, s->index);
        path[n++] = s;
    }
    source_print_root(t, s->kind, s->key, s->index, slot_names);
    while (n-- > 0)
        if (path[n]->kind == SRC_AT) {
            text_put(t, "[");
            source_print_expr(t, source_expr(path[n]), slot_names);
            text_put(t, "]");
        } else
            source_print_tail(t, path[n]->kind, path[n]->key, path[n]->index);
    mem_free(path);
}
