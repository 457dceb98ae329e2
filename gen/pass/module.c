#include "pass/module.h"

#include <ctype.h>
#include <string.h>

size_t module_length(const char *name) {
    const char *last = strrchr(name, '.');
    for (size_t at = 0; name[at]; at += name[at] == '.') {
        bool number = isdigit((unsigned char)name[at]);
        at += strcspn(name + at, ".");
        if (number)
            return at;
    }
    return last ? (size_t)(last - name) : strlen(name);
}

bool same_module(const char *a, const char *b) {
    size_t length = module_length(a);
    return length == module_length(b) && memcmp(a, b, length) == 0;
}
