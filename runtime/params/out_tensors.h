/* Tensors to be written to files. */
#ifndef GPUOPT_OUT_TENSORS_H
#define GPUOPT_OUT_TENSORS_H

#include "runtime/base/rt.h"
#include "runtime/files/safetensors.h"

/* A tensor to be saved. Its values come from rank `owner` if that is not 0 (gather.h); else from
 * `host` if given; else from `param`, by param_read() if `offset` is RT_NOWHERE and otherwise by
 * param_read_part(); else from STATE at `offset`, dense. */
typedef struct {
    char *name;
    const RtParam *param;
    RtParam *made; /* equals `param` if that was made for this tensor, which owns it; else NULL */
    void *host;
    size_t offset;
    int owner;
    bool twice; /* an earlier tensor has the same name: this one is not written */
    RtDtype dtype;
    int rank;
    int64_t shape[4];
} OutTensor;

size_t out_tensor_bytes(const OutTensor *tensor);
StDtype out_tensor_dtype(const OutTensor *tensor); /* as safetensors names it */

/* Makes the tensor's values those of the parameter `as` at `offset`, read by param_read_part(). */
void out_tensor_as(OutTensor *tensor, size_t offset, RtParam as);
/* Frees the tensor's name and `made`. */
void out_tensor_free(OutTensor *tensor);

/* Returns the values in memory that the caller frees. */
void *tensor_values(Rt *rt, const OutTensor *tensor);

/* Writes all tensors to one safetensors file, wider types first, as safetensors requires. `format`
 * is the entry of its metadata: "pt" for files that others load. */
bool tensors_write(Rt *rt, const char *path, const char *format, const OutTensor *tensors,
                   int count, char *error, size_t error_size);
/* Iterates over the tensors in the order of the file: returns the index after `i`, or -1 at the
 * end. Start with i = -1 and *width = 8. */
int tensors_next(const OutTensor *tensors, int count, size_t *width, int i);
/* Called by the other ranks meanwhile: sends their parts to the writing rank. */
void tensors_share(Rt *rt, const OutTensor *tensors, int count);

#endif
