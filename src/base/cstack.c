/*
 * base/cstack.c -- how much of the C stack is left.
 *
 * Takes: the thread's stack bounds from the system. Holds: `floor` leaves room for whatever
 * the next call may do in C.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/cstack.h"

#include <pthread.h>
#include <stddef.h>

enum { SPARE = 512 * 1024 };

_Thread_local char *cstack_floor;

char *cstack_find_floor(void)
{
    cstack_floor = (char *)1; /* below any stack */
#ifdef __linux__
    pthread_attr_t attr;
    void *low;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        return cstack_floor;
    if (pthread_attr_getstack(&attr, &low, &size) == 0)
        cstack_floor = (char *)low + (size / 4 < SPARE ? size / 4 : SPARE);
    pthread_attr_destroy(&attr);
#endif
    return cstack_floor;
}
