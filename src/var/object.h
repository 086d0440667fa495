/*
 * var/object.h -- the slots of instances: the class's own special methods, then what it has from its C base.
 */
#ifndef JEDLIK_VAR_OBJECT_H
#define JEDLIK_VAR_OBJECT_H

#include "var/var.h"

/* The built-in part of an instance, or NULL. */
Var *object_part(const Var *v);
/* An error that the built-in part has raised in the place of the object: it may show the part, or name its class, where CPython names the
 * object's. A break then. */
Status object_part_raised(Tx *tx, const Var *self, Status st);

/* Has the built-in part a text in which the name of the class is not? */
bool object_nameless(const Var *content);

/* Does the C operator of a number's type take another number? True of what are not two numbers (ops.c). */
bool number_takes(const Var *number, const Var *other, int op);

/* Rows of the kinds that are instances of classes: objects, exceptions. */
#define OBJECT_SLOTS                                                                     \
    .call = object_call, .iter = object_iter, .next = object_next, .len = object_len,    \
    .getitem = object_getitem, .setitem = object_setitem, .contains = object_contains,   \
    .truth = object_truth, .compare = object_compare, .binary = object_binary,           \
    .unary = object_unary, .hash = object_hash, .repr = object_repr

#define SLOT(name, signature) Status object_##name signature;
#include "var/slots.def"
#undef SLOT

#endif
