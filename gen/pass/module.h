/* Which weights are of one module of the model, by their names. */
#ifndef PASS_MODULE_H
#define PASS_MODULE_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the name up to and with its first number, as in model.layers.3; without the last part
 * where it has none. */
size_t module_length(const char *weight);
bool same_module(const char *a, const char *b);

#endif
