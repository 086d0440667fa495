/*
 * base/switches.h -- the engine's settings.
 */
#ifndef JEDLIK_BASE_SWITCHES_H
#define JEDLIK_BASE_SWITCHES_H

#include "base/status.h"

typedef struct Switches {
#define SWITCH(name, value) long name;
#include "base/switches.def"
#undef SWITCH
} Switches;

extern Switches switches;
void switches_init(void);                            /* from the environment */
int switches_set(const char *name, PyObject *value); /* 0, or -1 with an exception set */

#endif
