/* Tensors on their way into files. */
#ifndef GPUOPT_OUT_TENSORS_H
#define GPUOPT_OUT_TENSORS_H

#include "runtime/base/rt.h"
#include "runtime/files/safetensors.h"

/* A tensor to be saved. Its values come from rank `owner` where that is not 0 (gather.h); else from
 * `host` where that is given; else from `param`, as param_read() gives them or, unless `offset` is
 * RT_NOWHERE, param_read_part(); else from STATE at `offset`, dense. */
typedef struct {
    char *name;
    const RtParam *param;
    RtParam *made; /* what `param` is, where it was made for the tensor; or NULL */
    void *host;
    size_t offset;
    int owner;
    bool twice; /* another one of the name came before: it is not written */
    RtDtype dtype;
    int rank;
    int64_t shape[4];
} OutTensor;

size_t out_tensor_bytes(const OutTensor *tensor);
StDtype out_tensor_dtype(const OutTensor *tensor); /* as safetensors names it */

/* Its values are those of a parameter like that, as param_read_part() gives them. */
void out_tensor_as(OutTensor *tensor, size_t offset, RtParam as);
/* Its name and `made`. */
void out_tensor_free(OutTensor *tensor);

/* In memory that the caller frees. */
void *tensor_values(Rt *rt, const OutTensor *tensor);

/* One safetensors file of all of them, wider types first, as the format wants. */
bool tensors_write(Rt *rt, const char *path, const OutTensor *tensors, int count, char *error,
                   size_t error_size);
/* The order of a file, wider types first, as the format wants: the index behind `i`, -1 behind
 * the last. Begin with -1, and *width 8. */
int tensors_next(const OutTensor *tensors, int count, size_t *width, int i);
/* What the other ranks do meanwhile: give the first one their parts. */
void tensors_share(Rt *rt, const OutTensor *tensors, int count);

#endif
