/*
 * var/namespace.h -- types.SimpleNamespace and its subclasses: objects whose C part is their dictionary.
 */
#ifndef JEDLIK_VAR_NAMESPACE_H
#define JEDLIK_VAR_NAMESPACE_H

#include "var/container.h"

static inline bool is_namespace(const Var *v)
{
    return v->kind == &kind_object && PyType_IsSubtype(v->type, known_type(TY_NAMESPACE));
}

Status namespace_compare(Tx *tx, Var *self, Var *other, int op, Var **out);
Status namespace_repr(Tx *tx, Var *self, Var **out);

#endif
