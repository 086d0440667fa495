/*
 * var/datatext.c -- text that shows a tensor's data: f"{loss}".
 *
 * A string whose content is not known until the graph has run. It may be handed on, most often to a check that does not look at it;
 * whoever looks at it, and whoever needs it after the graph, has it made for real, by a break where it came to be.
 */
#include "trace/tx.h"

const VarKind kind_datatext = {
    .name = "text of a tensor",
    .id = KIND_datatext,
};
