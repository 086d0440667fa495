/*
 * trace/torchcall.h -- calls that become graph nodes: torch_call is declared in trace/tx.h.
 */
#ifndef JEDLIK_TRACE_TORCHCALL_H
#define JEDLIK_TRACE_TORCHCALL_H
#include "trace/tx.h"
#endif
