/*
 * emit/rebuild.h -- the recipes, by family, and what they share.
 */
#ifndef JEDLIK_EMIT_REBUILD_H
#define JEDLIK_EMIT_REBUILD_H

#include "emit/plan.h"

/* RECIPE(kind, build, fill, late) */
#define RECIPES(RECIPE)                                                                  \
    /* rebuild.c: containers and tensors */                                              \
    RECIPE(tensor, tensor, tensor_fill, tensor_late)                                     \
    RECIPE(tuple, tuple, NULL, NULL)                                                     \
    RECIPE(list, list, list_fill, NULL)                                                  \
    RECIPE(dict, dict, dict_fill, dict_late)                                             \
    RECIPE(set, set, set_fill, NULL)                                                     \
    RECIPE(slice, slice, NULL, NULL)                                                     \
    RECIPE(dictview, dictview, NULL, NULL)                                               \
    RECIPE(proxy, proxy, NULL, NULL)                                                     \
    /* rebuild_object.c: instances, functions, exceptions */                             \
    RECIPE(object, object, object_fill, object_late)                                     \
    RECIPE(cell, cell, cell_fill, NULL)                                                  \
    RECIPE(func, func, func_fill, func_late)                                             \
    RECIPE(method, method, NULL, NULL)                                                   \
    RECIPE(builtin, builtin, NULL, NULL)                                                 \
    RECIPE(super, super, NULL, NULL)                                                     \
    RECIPE(partial, partial, NULL, NULL)                                                 \
    RECIPE(exc, exc, exc_fill, exc_late)                                                 \
    /* rebuild_class.c */                                                                \
    RECIPE(class, class, class_fill, class_late)                                         \
    RECIPE(descr, descr, NULL, NULL)                                                     \
    RECIPE(token, token, NULL, NULL)                                                     \
    RECIPE(lock, lock, NULL, NULL)                                                       \
    RECIPE(getter, getter, NULL, NULL)                                                   \
    RECIPE(bytearray, bytearray, NULL, NULL)                                             \
    RECIPE(weakref, weak, NULL, NULL)                                                    \
    RECIPE(weakproxy, weak, NULL, NULL)                                                  \
    /* rebuild_iter.c: iterators and generators */                                       \
    RECIPE(iter, iter, NULL, NULL)                                                       \
    RECIPE(wrapiter, wrapiter, NULL, NULL)                                               \
    RECIPE(gen, gen, NULL, NULL)

Status build_tensor(Emit *e, Item *it), build_tensor_fill(Emit *e, Item *it);
Status build_tuple(Emit *e, Item *it);
Status build_list(Emit *e, Item *it), build_list_fill(Emit *e, Item *it);
Status build_dict(Emit *e, Item *it), build_dict_fill(Emit *e, Item *it);
Status build_set(Emit *e, Item *it), build_set_fill(Emit *e, Item *it),
    build_set_content(Emit *e, Item *it);
Status build_slice(Emit *e, Item *it);
Status build_dictview(Emit *e, Item *it);
Status build_proxy(Emit *e, Item *it);
Status build_object(Emit *e, Item *it), build_object_fill(Emit *e, Item *it);
Status build_cell(Emit *e, Item *it), build_cell_fill(Emit *e, Item *it);
Status build_func(Emit *e, Item *it), build_func_fill(Emit *e, Item *it);
Status build_method(Emit *e, Item *it);
Status build_builtin(Emit *e, Item *it);
Status build_super(Emit *e, Item *it);
Status build_partial(Emit *e, Item *it);
Status build_exc(Emit *e, Item *it), build_exc_fill(Emit *e, Item *it);
Status build_class(Emit *e, Item *it), build_class_fill(Emit *e, Item *it);
Status build_descr(Emit *e, Item *it);
Status build_token(Emit *e, Item *it);
Status build_lock(Emit *e, Item *it);
Status build_getter(Emit *e, Item *it);
Status build_weak(Emit *e, Item *it), build_bytearray(Emit *e, Item *it);
Status build_iter(Emit *e, Item *it);
Status build_wrapiter(Emit *e, Item *it);
Status build_gen(Emit *e, Item *it);
bool build_tensor_late(Var *v), build_dict_late(Var *v), build_object_late(Var *v),
    build_func_late(Var *v), build_class_late(Var *v), build_exc_late(Var *v);

/* The shell that is being filled, from its slot. */
static inline void put_self(Emit *e, const Item *it)
{
    put(e, OP_LOAD_FAST, it->slot);
}
/* Each of v[0..n). */
Status put_all(Emit *e, Var **v, Py_ssize_t n);
/* The instance dictionary written in the trace onto the shell in `it`. */
Status put_attrs(Emit *e, const Item *it, const KeyMap *attrs, const KeyMap *members);
/* callable(v[0..n)) for a callable of the outside world. */
Status put_new(Emit *e, PyTypeObject *type, Var **v, int n);
/* A tuple of the keys of the maps, as a constant: borrowed from the trace. */
Status names_of(Emit *e, const KeyMap *attrs, const KeyMap *members, PyObject **out);
bool is_plain(const Var *v, PyTypeObject *t); /* exactly of this built-in type */

#endif
