/*
 * var/object.h -- the slots of instances: the class's own special methods, then what it has from its C base.
 */
#ifndef JEDLIK_VAR_OBJECT_H
#define JEDLIK_VAR_OBJECT_H

#include "var/var.h"

/* The built-in part of an instance, or NULL. */
Var *object_part(const Var *v);

/* Does the C operator of a number's type take another number? True of what are not two numbers (ops.c). */
bool number_takes(const Var *number, const Var *other, int op);

#define SLOT(name, signature) Status object_##name signature;
#include "var/slots.def"
#undef SLOT

#endif
