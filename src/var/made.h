/*
 * var/made.h -- classes made by the trace.
 */
#ifndef JEDLIK_VAR_MADE_H
#define JEDLIK_VAR_MADE_H

#include "var/var.h"

/* The Var of a class that the trace has made, by its model; NULL: the class exists. */
ClassVar *class_made(Tx *tx, PyObject *type);
static inline bool is_made_class(const Var *v)
{
    return v->kind == &kind_class && AS(ClassVar, v)->made;
}

/* type.__new__(meta, name, bases, ns, **kwds); *out the class. */
Status class_make(Tx *tx, PyTypeObject *meta, PyObject *name, Var *bases, Var *ns,
                  const Args *kwds, Var **out);
/* MRO lookup on the model of a made class; what its existing bases give is guarded. */
Status made_lookup(Tx *tx, PyTypeObject *t, PyObject *name, PyObject **out);
/* What the class itself has under the name, made or not; borrowed, NULL: nothing. */
Status class_entry(Tx *tx, PyTypeObject *t, PyObject *name, PyObject **out);
/* Attributes that the C getters of `type` give, where those of the model would not do; *out NULL: ask the model. */
Status made_getset(Tx *tx, ClassVar *c, PyObject *name, Var **out);
/* Store (NULL: deletion) into a made class, as type.__setattr__. */
Status made_store(Tx *tx, ClassVar *c, PyObject *name, Var *value);
/* Value in ClassVar.writes of an attribute that is gone. */
extern Var made_deleted;
/* An object that a model holds. */
bool made_inside(Tx *tx, PyObject *o);
/* The classes of a tuple of bases; *out NULL: something else is among them. */
Status made_bases(Tx *tx, Var *bases, PyObject **out);

/* A real object that stands for the value in a model. */
Status made_stand_in(Tx *tx, Var *v, PyObject **out);

/* How many parts its constructor is given. */
static inline int descr_parts(const DescrVar *d)
{
    if (d->v.type == &PyProperty_Type)
        return d->part[3] ? 4 : 3;
    return d->v.type == &PyClassMethod_Type || d->v.type == &PyStaticMethod_Type ? 1 : 2;
}
Status descr_new(Tx *tx, PyTypeObject *t, Var **part, int n, Var **out);
/* classmethod(fn), staticmethod(fn) */
Status descr_wrap(Tx *tx, PyTypeObject *t, Var *fn, Var **out);

#endif
