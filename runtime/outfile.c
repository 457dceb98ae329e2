/* Whole files or none: written beside, synced, renamed. */
#include "runtime/outfile.h"
#include "runtime/gather.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void join_path(char *path, const char *dir, const char *name) {
    if (snprintf(path, RT_MAX_PATH, "%s/%s", dir, name) >= RT_MAX_PATH)
        rt_fail("%s/%s: the path is too long", dir, name);
}

bool outfile_open(OutFile *file, const char *dir, const char *name, char *error,
                  size_t error_size) {
    char temporary[256];
    snprintf(temporary, sizeof temporary, ".%s.tmp", name);
    join_path(file->path, dir, name);
    join_path(file->temporary, dir, temporary);
    file->stream = fopen(file->temporary, "w");
    if (!file->stream)
        snprintf(error, error_size, "%s: cannot be written: %s", file->path, strerror(errno));
    return file->stream != NULL;
}

bool outfile_finish(OutFile *file, char *error, size_t error_size) {
    bool ok =
        fflush(file->stream) == 0 && !ferror(file->stream) && fsync(fileno(file->stream)) == 0;
    int reason = errno;
    if (fclose(file->stream) && ok) {
        ok = false;
        reason = errno;
    }
    if (ok && rename(file->temporary, file->path)) {
        ok = false;
        reason = errno;
    }
    if (!ok) {
        unlink(file->temporary);
        snprintf(error, error_size, "%s: cannot be written: %s", file->path, strerror(reason));
    }
    return ok;
}

bool outfile_write(const char *dir, const char *name, const char *text, char *error,
                   size_t error_size) {
    OutFile file;
    if (!outfile_open(&file, dir, name, error, error_size))
        return false;
    fputs(text, file.stream);
    return outfile_finish(&file, error, error_size);
}

void folder_sync(const char *dir) {
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

/* ---- tensors --------------------------------------------------------------------------------- */

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

void *tensor_values(Rt *rt, const OutTensor *tensor) {
    size_t bytes = out_tensor_bytes(tensor);
    void *values = rt_alloc(bytes);
    if (tensor->owner > 0)
        tensor_receive(rt, tensor, values);
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

bool tensors_write(Rt *rt, const char *path, const OutTensor *tensors, int count, char *error,
                   size_t error_size) {
    StWriter *writer = st_create(path);
    bool ok = st_set_metadata(writer, "format", "pt");
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
    for (int i = -1; (i = tensors_next(tensors, count, &width, i)) >= 0;)
        if (tensors[i].param && (tensors[i].param->shard || tensors[i].param->pieces))
            free(tensor_values(rt, &tensors[i]));
}
