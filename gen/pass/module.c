/* Passes that share out parameters, or sums of gradients, over ranks handle them module by module
 * (train_state.c, shard_frozen.c, shard_codes.c, overlap_sums.c). Names are those of the model's
 * file, so a module is usually a layer. */
#include "pass/module.h"

#include <string.h>

#include "base/dotted.h"

size_t module_length(const char *name) {
    const char *number = first_number(name), *dot = strrchr(name, '.');
    if (number)
        return (size_t)(number - name) + part_length(number);
    return dot ? (size_t)(dot - name) : strlen(name);
}

bool same_module(const char *a, const char *b) {
    size_t length = module_length(a);
    return length == module_length(b) && memcmp(a, b, length) == 0;
}
