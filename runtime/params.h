/* What params.c, param_order.c, param_shard.c, initial.c and weights.c share: where a
 * parameter's first values come from. Host copies are the whole tensor, dense, in the file's
 * order, in param_saved_dtype(). */
#ifndef GPUOPT_PARAMS_H
#define GPUOPT_PARAMS_H

#include "runtime/rt.h"
#include "runtime/safetensors.h"

/* All elements, of `size` bytes each, from one order to the other; the two do not overlap. */
void param_to_file_order(const RtParam *param, size_t size, const void *memory, void *file);
void param_to_memory_order(const RtParam *param, size_t size, const void *file, void *memory);

/* Of a parameter with `shard`: how many ranks share it out, and how many elements each holds. */
int shard_ranks(const Rt *rt, const RtParam *param);
int64_t shard_elements(const Rt *rt, const RtParam *param);
/* This rank's part of the whole; on rank 0 the whole of all parts, all ranks together. Elements are of
 * `size` bytes. */
void shard_take(const Rt *rt, const RtParam *param, size_t size, const void *whole, void *part);
void shard_gather(Rt *rt, const RtParam *param, size_t size, const void *part, void *whole);
/* On rank 0 the whole tensor's first row, of the first rows that ranks hold; all ranks together. */
void shard_first_row(Rt *rt, const RtParam *param, size_t size, const void *mine, void *row);

/* A master or moment of a parameter with `pieces`, of which this rank's piece lies there, as memory
 * holds it. Reading is for all ranks together: rank 0 gets the whole of it, others their piece. */
void pieces_read(Rt *rt, const RtParam *param, RtPtr piece, void *host);
void pieces_write(Rt *rt, const RtParam *param, size_t offset, const void *host);
/* Of a frozen one. */
void pieces_read_first_row(Rt *rt, const RtParam *param, void *row);

/* By the parameter's own rule. */
void initial_values(const RtParam *param, int64_t seed, void *host);

/* As the files of the run have them, or by that rule; the caller frees them. */
void *param_first_values(const Rt *rt, const RtParam *param);

/* Files of a Hugging Face model folder, or of a PEFT adapter's. The configuration beside the
 * tensors is compared with the program's own (as text; NULL: nothing to compare). */
StFile *weights_open_model(const char *dir, const char *config_json);
StFile *weights_open_adapter(const char *dir, const char *adapter_json);
/* The tensor of the parameter's name, converted. A missing tensor or another shape is an error that
 * names folder, tensor and both shapes. */
void weights_read(const StFile *file, const char *dir, const RtParam *param, void *host);
/* The same of the first row of the file's tensor. */
void weights_read_first_row(const StFile *file, const char *dir, const RtParam *param, void *host);

#endif
