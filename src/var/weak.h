/*
 * var/weak.h -- weak references made by the trace, and what they hang on: who is alive.
 */
#ifndef JEDLIK_VAR_WEAK_H
#define JEDLIK_VAR_WEAK_H

#include "var/container.h"

/* -- weak.c ------------------------------------------------------------------------ */

/* weakref.ref(of, callback), weakref.proxy(of, callback); callback NULL: none. */
Status weak_new(Tx *tx, Var *of, Var *callback, bool proxy, Var **out);
/* An existing proxy of something that is there. */
Status weak_wrap(Tx *tx, PyObject *proxy, Source *src, Var **out);
/* What a reference or proxy stands for, which is alive; a break if that is not certain. */
Status weak_referent(Tx *tx, Var *self, Var **of);
/* At the end of a trace: nothing with a callback has died on the way. value: what is returned; NULL: the frames are open. */
Status weak_kept(Tx *tx, Var *value);
/* The Var that stands in the map for a key that goes by identity: references to one object are equal. */
Var *weak_key(Tx *tx, const KeyMap *m, Var *key);
/* A break if an existing container may have a key equal to this one, which it goes by identity here. */
Status weak_stranger(Tx *tx, Var *key);

/* -- alive.c ----------------------------------------------------------------------- */

/* Does the program certainly hold it now? */
Status alive(Tx *tx, Var *v, bool *yes);
/* The same for many: all that is held, value included. */
Status alive_mark(Tx *tx, Var *value, PtrMap *seen);
bool alive_in(const PtrMap *seen, Var *v);

#endif
