/* The order of a parameter's elements: file order, used everywhere outside the device, and memory
 * order, which suits the kernels. They differ if the parameter has a split. */
#include "runtime/params/params.h"

#include <string.h>

/* A walk through memory in order: the length of each axis of memory, and its stride in the file in
 * elements. */
typedef struct {
    int64_t count[4], stride[4];
} Walk;

static Walk walk_of(const RtParam *param, int ranks) {
    int64_t file_stride[4], count[4], stride = 1;
    for (int i = 3; i >= 0; i--) {
        count[i] = param->split[i] / (i == param->shard_axis ? ranks : 1);
        file_stride[i] = stride;
        stride *= count[i];
    }
    Walk walk;
    for (int i = 0; i < 4; i++) {
        walk.count[i] = count[param->order[i]];
        walk.stride[i] = file_stride[param->order[i]];
    }
    return walk;
}

RtParam param_as_memory(const RtParam *param) {
    RtParam turned = *param;
    for (int i = 0; param->split[0] && i < param->rank; i++) {
        turned.shape[i] = param->shape[param->order[i]];
        if (param->order[i] == param->shard_axis)
            turned.shard_axis = i;
    }
    turned.split[0] = 0;
    return turned;
}

/* Rows are runs along the sharded axis, so that a rank's part is a range of columns. */
RtParam param_as_numbers(const RtParam *param, RtDtype dtype, int64_t count) {
    RtParam memory = *param, numbers = *param;
    int64_t runs = 1;
    if (param->shard) {
        memory = param_as_memory(param);
        runs = memory.shard_runs ? memory.shard_runs : 1;
        for (int i = 0; i < memory.shard_axis; i++)
            runs *= memory.shape[i];
    }
    numbers.rank = 2;
    numbers.shape[0] = runs;
    numbers.shape[1] = count / runs;
    numbers.shard_axis = 1;
    numbers.shard_runs = 0;
    numbers.split[0] = 0;
    numbers.master_dtype = dtype;
    return numbers;
}

/* Traverses memory sequentially. */
static void permute(const RtParam *param, int ranks, size_t size, unsigned char *memory,
                    unsigned char *file, bool to_file) {
    const Walk w = walk_of(param, ranks);
    for (int64_t a = 0; a < w.count[0]; a++)
        for (int64_t b = 0; b < w.count[1]; b++)
            for (int64_t c = 0; c < w.count[2]; c++)
                for (int64_t d = 0; d < w.count[3]; d++, memory += size) {
                    int64_t place =
                        a * w.stride[0] + b * w.stride[1] + c * w.stride[2] + d * w.stride[3];
                    unsigned char *at = file + (size_t)place * size;
                    memcpy(to_file ? at : memory, to_file ? memory : at, size);
                }
}

void param_to_file_order(const RtParam *param, int ranks, size_t size, const void *memory,
                         void *file) {
    if (param->split[0])
        permute(param, ranks, size, (unsigned char *)memory, file, true);
    else
        memcpy(file, memory, (size_t)(param_elements(param) / ranks) * size);
}

void param_to_memory_order(const RtParam *param, int ranks, size_t size, const void *file,
                           void *memory) {
    if (param->split[0])
        permute(param, ranks, size, memory, (unsigned char *)file, false);
    else
        memcpy(memory, file, (size_t)(param_elements(param) / ranks) * size);
}
