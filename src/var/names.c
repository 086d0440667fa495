/*
 * var/names.c -- interned strings.
 */
#include "var/names.h"

#define NAME(id) PyObject *str_##id;
#include "var/names.def"
#undef NAME

int names_init(void)
{
#define NAME(id)                                                                         \
    if ((str_##id = PyUnicode_InternFromString(#id)) == NULL)                            \
        return -1;
#include "var/names.def"
#undef NAME
    return 0;
}
