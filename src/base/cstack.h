/*
 * base/cstack.h -- how much of the C stack is left.
 */
#ifndef JEDLIK_BASE_CSTACK_H
#define JEDLIK_BASE_CSTACK_H

#include <stdbool.h>

extern _Thread_local char *cstack_floor; /* NULL: not looked up in this thread yet */
char *cstack_find_floor(void);

/* True if a call had better raise RecursionError: calls of compiled functions use the C stack,
 * where plain calls of Python functions on 3.11 do not. */
static inline bool cstack_low(void)
{
    char *floor = cstack_floor;
    if (__builtin_expect(floor == (char *)0, 0))
        floor = cstack_find_floor();
    return (char *)__builtin_frame_address(0) < floor;
}

#endif
