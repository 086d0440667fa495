/*
 * var/proxy.h -- read-only views of dicts as values.
 */
#ifndef JEDLIK_VAR_PROXY_H
#define JEDLIK_VAR_PROXY_H
#include "var/var.h"
Status proxy_new(Tx *tx, Var *mapping, Var **out); /* mapping: a DictVar */
#endif
