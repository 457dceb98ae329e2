/* Tells from the names of weights which module of the model they belong to. */
#ifndef PASS_MODULE_H
#define PASS_MODULE_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the module's name: the weight's name up to and including its first number, as in
 * model.layers.3, or without its last part if there is no number. */
size_t module_length(const char *weight);
bool same_module(const char *a, const char *b);

#endif
