/* Splits a file of kernels into parts for NVRTC. NVRTC parses one program at a time, which is a
 * small share of the work, and optimises several in parallel. The parts yield the same code as the
 * whole file; --split-compile does not for some kernels. A kernel extends from a line that begins
 * with KERNEL to the next line that is only a closing brace; all other lines are in every part. */
#include "runtime/base/rt.h"
#include "runtime/device/device.h"

#include <string.h>

#define KERNEL "extern \"C\" __global__"

/* Every part compiles the rest of the file again, so a few kernels do not justify another part, nor do
 * more parts than can be compiled at a time. */
enum { KERNELS_A_PART = 8 };

/* Returns the first line at or after `at` that begins a kernel, or NULL. */
static const char *kernel_begin(const char *source, const char *at) {
    const char *found = strstr(at, KERNEL);
    while (found && found > source && found[-1] != '\n')
        found = strstr(found + 1, KERNEL);
    return found;
}

static const char *kernel_end(const char *begin) {
    const char *brace = strstr(begin, "\n}\n");
    return brace ? brace + 2 : begin + strlen(begin);
}

int jit_part_count(const char *source, long processors) {
    const long most = processors < RT_MAX_MODULES ? processors : RT_MAX_MODULES;
    int kernels = 0;
    for (const char *at = source; (at = kernel_begin(source, at)) != NULL; at = kernel_end(at))
        kernels++;
    const int useful = (kernels + KERNELS_A_PART - 1) / KERNELS_A_PART;
    const int parts = useful < most ? useful : (int)most;
    return parts < 1 ? 1 : parts;
}

char *jit_part(const char *source, int part, int count) {
    char *text = rt_alloc(strlen(source) + 1), *to = text;
    const char *from = source, *begin;
    /* Round-robin, because neighbouring kernels are alike and take about the same time. */
    for (int kernel = 0; (begin = kernel_begin(source, from)) != NULL; kernel++) {
        const char *end = kernel_end(begin);
        const char *kept = kernel % count == part ? end : begin;
        memcpy(to, from, (size_t)(kept - from));
        to += kept - from;
        for (const char *c = kept; c < end; c++)
            if (*c == '\n')
                *to++ = '\n';
        from = end;
    }
    memcpy(to, from, strlen(from) + 1);
    return text;
}
