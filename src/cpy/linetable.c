/*
 * cpy/linetable.c -- reads and writes line tables; code_line and code_locs.
 *
 * Takes: a code object's table, or positions to write. Gives: positions an instruction,
 * or the table. First byte of an entry: 0x80 | kind << 3 | units - 1. Later numbers are
 * runs of 6-bit groups, lowest first, 0x40: more follow; signed ones keep the sign in the
 * low bit.
 */
#include "cpy/codec.h"

/* Kinds 0 to 9 are short forms, which hold the high bits of the column; 10 to 12 stay on
 * the line or go one or two down. */
enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NO_LOCATION = 15, MOST_UNITS = 8 };

/* -- Reading ----------------------------------------------------------------- */

LineReader lines_open(PyCodeObject *co)
{
    const uint8_t *s = (const uint8_t *)PyBytes_AS_STRING(co->co_linetable);
    return (LineReader){ s, s + PyBytes_GET_SIZE(co->co_linetable), co->co_firstlineno };
}

static int byte(LineReader *r)
{
    return r->at < r->end ? *r->at++ : 0;
}

static int number(LineReader *r)
{
    uint32_t n = 0, shift = 0, b;
    do {
        b = (uint32_t)byte(r);
        n |= (b & 0x3f) << (shift & 31);
        shift += 6;
    } while (b & 0x40);
    return (int)n;
}

static int signed_number(LineReader *r)
{
    unsigned n = (unsigned)number(r);
    return n & 1 ? -(int)(n >> 1) : (int)(n >> 1);
}

static void read_long(LineReader *r, Loc *out)
{
    r->line += signed_number(r);
    int end_line = r->line + number(r);
    int col = number(r) - 1, end_col = number(r) - 1;
    *out = (Loc){ r->line, end_line, col, end_col };
}

int lines_next(LineReader *r, Loc *out)
{
    if (r->at >= r->end)
        return 0;
    int first = byte(r), kind = first >> 3 & 15, units = (first & 7) + 1;
    if (kind == NO_LOCATION) {
        *out = (Loc){ -1, -1, -1, -1 };
    } else if (kind == LONG) {
        read_long(r, out);
    } else if (kind == NO_COLUMNS) {
        r->line += signed_number(r);
        *out = (Loc){ r->line, r->line, -1, -1 };
    } else if (kind >= ONE_LINE) {
        r->line += kind - ONE_LINE;
        int col = byte(r), end_col = byte(r);
        *out = (Loc){ r->line, r->line, col, end_col };
    } else {
        int b = byte(r), col = kind << 3 | b >> 4;
        *out = (Loc){ r->line, r->line, col, col + (b & 15) };
    }
    return units;
}

void code_locs(const Code *c, Loc *out)
{
    LineReader r = lines_open(c->co);
    Loc loc = { -1, -1, -1, -1 };
    int behind = 0;
    for (int i = 0; i < c->n; i++) {
        while (behind <= c->ins[i].at) {
            int units = lines_next(&r, &loc);
            behind += units ? units : c->nunits + 1;
            if (units == 0)
                loc = (Loc){ -1, -1, -1, -1 };
        }
        out[i] = loc;
    }
}

static int32_t *read_lines(const Code *c)
{
    Loc *locs = mem_alloc((size_t)c->n * sizeof *locs);
    int32_t *line = mem_alloc((size_t)c->n * sizeof *line);
    if (locs && line) {
        code_locs(c, locs);
        for (int i = 0; i < c->n; i++)
            line[i] = locs[i].line;
    }
    mem_free(locs);
    return line;
}

int code_line(const Code *c, int index)
{
    if (c->lazy->line == NULL)
        c->lazy->line = read_lines(c);
    if (c->lazy->line == NULL) {
        PyErr_Clear();
        return -1;
    }
    return index >= 0 && index < c->n ? c->lazy->line[index] : -1;
}

int code_near_line(const Code *c, int index)
{
    int line = -1;
    for (; index >= 0 && line < 0; index--)
        line = code_line(c, index);
    return line >= 0 ? line : c->co->co_firstlineno;
}

/* -- Writing ----------------------------------------------------------------- */

static void put_number(Bytes *b, unsigned n)
{
    for (; n >= 0x40; n >>= 6)
        bytes_put(b, 0x40 | (n & 0x3f));
    bytes_put(b, (int)n);
}

static void put_signed(Bytes *b, int n)
{
    put_number(b, n < 0 ? (unsigned)-n << 1 | 1 : (unsigned)n << 1);
}

static void put_first(Bytes *b, int kind, int units)
{
    bytes_put(b, 0x80 | kind << 3 | (units - 1));
}

static void put_long(LineWriter *w, const Loc *loc, int units)
{
    put_first(&w->out, LONG, units);
    put_signed(&w->out, loc->line - w->line);
    put_number(&w->out, (unsigned)(loc->end_line - loc->line));
    put_number(&w->out, (unsigned)(loc->col + 1));
    put_number(&w->out, (unsigned)(loc->end_col + 1));
}

/* True if a form with plain bytes for the columns does. */
static bool put_columns(LineWriter *w, const Loc *loc, int units)
{
    int delta = loc->line - w->line, col = loc->col, width = loc->end_col - loc->col;
    if (loc->end_line != loc->line || delta < 0 || delta > 2)
        return false;
    if (delta == 0 && col < 80 && width >= 0 && width < 16) {
        put_first(&w->out, col >> 3, units);
        bytes_put(&w->out, (col & 7) << 4 | width);
        return true;
    }
    if (col >= 128 || loc->end_col >= 128)
        return false;
    put_first(&w->out, ONE_LINE + delta, units);
    bytes_put(&w->out, col);
    bytes_put(&w->out, loc->end_col);
    return true;
}

static void put_entry(LineWriter *w, const Loc *loc, int units)
{
    if (loc->line < 0) {
        put_first(&w->out, NO_LOCATION, units);
        return;
    }
    bool columns = loc->col >= 0 && loc->end_col >= 0;
    if (!columns && (loc->end_line == loc->line || loc->end_line < 0)) {
        put_first(&w->out, NO_COLUMNS, units);
        put_signed(&w->out, loc->line - w->line);
    } else if (!columns || !put_columns(w, loc, units)) {
        put_long(w, loc, units);
    }
    w->line = loc->line;
}

void lines_put(LineWriter *w, const Loc *loc, int units)
{
    for (; units > MOST_UNITS; units -= MOST_UNITS)
        put_entry(w, loc, MOST_UNITS);
    put_entry(w, loc, units);
}
