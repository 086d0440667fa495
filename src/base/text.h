/*
 * base/text.h -- a growing text buffer for dumps and reports.
 */
#ifndef JEDLIK_BASE_TEXT_H
#define JEDLIK_BASE_TEXT_H

#include "base/status.h"

typedef struct Text {
    char *s;
    size_t n, cap;
    bool failed; /* memory ran out; text_take reports it */
} Text;

void text_put(Text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_repr(Text *t,
               PyObject *obj); /* repr of an exact built-in constant, else <type> */
PyObject *text_take(Text *t);  /* a str; frees the buffer */
void text_free(Text *t);

#endif
