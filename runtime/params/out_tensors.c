/* Reads the values of tensors to be saved one after the other, so that the host holds only one at a
 * time. */
#include "runtime/params/out_tensors.h"
#include "runtime/comm/comm.h"
#include "runtime/device/device.h"
#include "runtime/params/params.h"

#include <stdlib.h>
#include <string.h>

size_t out_tensor_bytes(const OutTensor *tensor) {
    size_t bytes = rt_dtype_bytes(tensor->dtype);
    for (int i = 0; i < tensor->rank; i++)
        bytes *= (size_t)tensor->shape[i];
    return bytes;
}

StDtype out_tensor_dtype(const OutTensor *tensor) {
    const char *name = rt_dtype_name(tensor->dtype);
    for (int i = 0; i < ST_DTYPE_COUNT; i++)
        if (strcmp(st_dtype_name((StDtype)i), name) == 0)
            return (StDtype)i;
    rt_internal("no safetensors type for %s", name);
}

void out_tensor_as(OutTensor *tensor, size_t offset, RtParam as) {
    tensor->made = rt_alloc(sizeof *tensor->made);
    *tensor->made = as;
    tensor->param = tensor->made;
    tensor->offset = offset;
}

void out_tensor_free(OutTensor *tensor) {
    free(tensor->name);
    free(tensor->made);
}

void *tensor_values(Rt *rt, const OutTensor *tensor) {
    size_t bytes = out_tensor_bytes(tensor);
    void *values = rt_alloc(bytes);
    if (tensor->owner > 0)
        comm_receive(rt, tensor->owner, values, (int64_t)bytes, "the gathering of tensors");
    else if (tensor->host)
        memcpy(values, tensor->host, bytes);
    else if (tensor->param && tensor->offset == RT_NOWHERE)
        param_read(rt, tensor->param, values);
    else if (tensor->param)
        param_read_part(rt, tensor->param, tensor->offset, values);
    else
        rt_read_state(rt, tensor->offset, bytes, values);
    return values;
}

static bool tensor_write(Rt *rt, StWriter *writer, const OutTensor *tensor) {
    void *values = tensor_values(rt, tensor);
    bool ok = tensor->twice || st_write(writer, values, out_tensor_bytes(tensor));
    free(values);
    return ok;
}

int tensors_next(const OutTensor *tensors, int count, size_t *width, int i) {
    for (; *width > 0; *width /= 2, i = -1)
        for (i++; i < count; i++)
            if (rt_dtype_bytes(tensors[i].dtype) == *width)
                return i;
    return -1;
}

bool tensors_write(Rt *rt, const char *path, const char *format, const OutTensor *tensors,
                   int count, char *error, size_t error_size) {
    StWriter *writer = st_create(path);
    bool ok = st_set_metadata(writer, "format", format);
    size_t width = 8;
    for (int i = -1; ok && (i = tensors_next(tensors, count, &width, i)) >= 0;)
        if (!tensors[i].twice)
            ok = st_declare(writer, tensors[i].name, out_tensor_dtype(&tensors[i]), tensors[i].rank,
                            tensors[i].shape);
    width = 8;
    for (int i = -1; ok && (i = tensors_next(tensors, count, &width, i)) >= 0;)
        ok = tensor_write(rt, writer, &tensors[i]);
    return st_finish(writer, error, error_size);
}

void tensors_share(Rt *rt, const OutTensor *tensors, int count) {
    size_t width = 8;
    for (int i = -1; (i = tensors_next(tensors, count, &width, i)) >= 0;) {
        const RtParam *param = tensors[i].param;
        if (param && (param->shard || param->pieces))
            free(tensor_values(rt, &tensors[i]));
    }
}
