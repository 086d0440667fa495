/*
 * var/names.h -- interned strings, made once.
 */
#ifndef JEDLIK_VAR_NAMES_H
#define JEDLIK_VAR_NAMES_H

#include "base/status.h"

#define NAME(id) extern PyObject *str_##id;
#include "var/names.def"
#undef NAME

int names_init(void);

#endif
