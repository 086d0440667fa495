/*
 * var/type.h -- class attributes as values.
 */
#ifndef JEDLIK_VAR_TYPE_H
#define JEDLIK_VAR_TYPE_H
#include "var/var.h"
/* The raw class attribute `value`, found under `name` along the MRO of v's type (the lookup is guarded). */
Status type_value(Tx *tx, Var *v, PyObject *name, PyObject *value, Var **out);
/* A number that the class of v, or the class v itself (`on_class`), counts in: read anew on each call, so that nothing is pinned.
 * *out NULL: there is none, and nothing was asked. */
Status type_counter(Tx *tx, Var *v, bool on_class, PyObject *name, Var **out);
/* Binds a class attribute to v as its __get__ would (owner: type(v), or v itself for classes). */
Status attr_bind(Tx *tx, Var *v, PyTypeObject *owner, PyObject *name, PyObject *descr,
                 Var *dv, Var **out);
/* The same for a special method that was found in the class of v: what a call gets beside the arguments is in it. */
Status attr_bind_special(Tx *tx, Var *v, Var *f, Var **out);
/* And for a value that the trace has stored into the class `cls` itself. */
Status attr_bind_class(Tx *tx, Var *cls, PyObject *name, Var *value, Var **out);
bool attr_is_data(PyObject *descr);
/* Does a class attribute come before the instance's own? */
Status attr_overrides(Tx *tx, PyObject *descr, bool *yes);
/* As slot_tp_getattr_hook: what comes of a lookup that gave `st`, with the class's __getattr__. */
Status attr_hook(Tx *tx, Var *v, PyObject *name, Status st, Var **out);
/* type.__getattribute__(cls, name) */
Status class_load(Tx *tx, Var *cls, PyObject *name, Var **out);
/* A module's attribute as object.__getattribute__ and as ModuleType.__getattribute__ give it. */
Status module_find(Tx *tx, Var *module, PyObject *name, Var **out);
Status module_load(Tx *tx, Var *module, PyObject *name, Var **out);
/* type.__setattr__(cls, name, value); NULL deletes. */
Status class_store(Tx *tx, Var *cls, PyObject *name, Var *value);
/* a | b of classes, None and unions: made for real. */
Status class_union(Tx *tx, Var *a, Var *b, Var **out);

#endif
