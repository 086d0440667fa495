/*
 * builtin/paths.h -- tables of dotted names that become maps by object identity.
 *
 * A name whose module is not in sys.modules waits until it is: nothing is ever imported here. The objects are kept
 * alive, so that an address stands for one object for good.
 */
#ifndef JEDLIK_BUILTIN_PATHS_H
#define JEDLIK_BUILTIN_PATHS_H

#include "base/map.h"

/* One row found for an object; rows of one object in the order of their registration. */
typedef struct PathHit PathHit;
struct PathHit {
    const void *row;
    PathHit *next;
};

typedef struct Waiting Waiting;

typedef struct PathTable {
    Arena arena;
    Journal journal; /* maps want one; emptied after each change */
    PtrMap map;      /* object -> PathHit */
    Waiting *waiting;
    Py_ssize_t nmodules; /* len(sys.modules) when the waiting names were last tried */
} PathTable;

/* "module.attr.attr"; a last component `*`: every C callable in the module or class. 0, or -1 with MemoryError. */
int paths_add(PathTable *t, const char *path, const void *row);
int paths_add_object(PathTable *t, PyObject *obj, const void *row);
/* First row of the object, or NULL. Functions of C modules are known by their definition as well. */
const PathHit *paths_find(PathTable *t, PyObject *obj);

/* Raw class attribute along the MRO, without touching the type's caches. Borrowed or NULL. */
PyObject *paths_class_entry(PyTypeObject *t, const char *name);

#endif
