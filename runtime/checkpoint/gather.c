/* Ranks send descriptions first, then values in the order of the file (wider types first), so that
 * no rank holds more than one tensor at a time. */
#include "runtime/checkpoint/gather.h"
#include "runtime/comm/comm.h"
#include "runtime/comm/mesh.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 256 };

static const char what[] = "the gathering of tensors";

typedef struct {
    char name[NAME_SIZE];
    int64_t shape[4];
    int32_t dtype, rank;
} Description;

static Description describe(const OutTensor *tensor) {
    Description d = {.dtype = (int32_t)tensor->dtype, .rank = tensor->rank};
    if (strlen(tensor->name) >= sizeof d.name)
        rt_internal("the name %s is too long to be sent", tensor->name);
    memcpy(d.name, tensor->name, strlen(tensor->name) + 1);
    memcpy(d.shape, tensor->shape, sizeof d.shape);
    return d;
}

static void hand_over(Rt *rt, const OutTensor *tensors, int count) {
    comm_send(rt, 0, &count, sizeof count, what);
    for (int i = 0; i < count; i++) {
        Description d = describe(&tensors[i]);
        comm_send(rt, 0, &d, sizeof d, what);
    }
    size_t width = 8;
    for (int i = -1; (i = tensors_next(tensors, count, &width, i)) >= 0;) {
        void *values = tensor_values(rt, &tensors[i]);
        comm_send(rt, 0, values, (int64_t)out_tensor_bytes(&tensors[i]), what);
        free(values);
    }
}

static bool is_there(const OutTensor *tensors, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(tensors[i].name, name) == 0)
            return true;
    return false;
}

static void append_from(Rt *rt, int rank, OutTensor **tensors, int *count) {
    int more = 0;
    comm_receive(rt, rank, &more, sizeof more, what);
    OutTensor *all = rt_alloc((size_t)(*count + more) * sizeof *all);
    memcpy(all, *tensors, (size_t)*count * sizeof *all);
    for (int i = 0; i < more; i++) {
        Description d;
        comm_receive(rt, rank, &d, sizeof d, what);
        OutTensor *tensor = &all[*count + i];
        *tensor = (OutTensor){.name = strdup(d.name),
                              .owner = rank,
                              .twice = is_there(all, *count, d.name),
                              .dtype = (RtDtype)d.dtype,
                              .rank = d.rank};
        memcpy(tensor->shape, d.shape, sizeof d.shape);
    }
    free(*tensors);
    *tensors = all;
    *count += more;
}

bool tensors_gather(Rt *rt, OutTensor **tensors, int *count) {
    const RtProgram *program = rt->program;
    if (mesh_writer(program, rt->rank) != rt->rank) {
        tensors_share(rt, *tensors, *count);
        return true;
    }
    if (rt->rank > 0) {
        hand_over(rt, *tensors, *count);
        return true;
    }
    for (int rank = 1; rank < rt->ranks; rank++)
        if (mesh_writer(program, rank) == rank)
            append_from(rt, rank, tensors, count);
    return false;
}
