/* Parameters: tensors of STATE by name, which files know too. */
#ifndef GPUOPT_PARAMS_H
#define GPUOPT_PARAMS_H

#include "runtime/base/rt.h"
#include "runtime/files/safetensors.h"

int64_t param_elements(const RtParam *param); /* of the whole tensor, whoever holds it */
/* Elements in a row of its weight, as memory holds it. */
int64_t param_cols(const Rt *rt, const RtParam *param);
/* What is saved of a parameter: its master where there is one, else its weight; the whole tensor,
 * dense, in the file's order, in param_saved_dtype(). Where ranks hold parts of it, reading is for all
 * ranks together, and rank 0 alone has what was read. */
RtDtype param_saved_dtype(const RtParam *param);
size_t param_saved_bytes(const RtParam *param);
void param_read(Rt *rt, const RtParam *param, void *host);
/* Writes master (where there is one) and weight. */
void param_write(Rt *rt, const RtParam *param, const void *host);
/* The same of its master, gradient or a moment at `offset`: dense, in master_dtype. */
void param_read_part(Rt *rt, const RtParam *param, size_t offset, void *host);
/* The same of what ranks have pieces of as they have of masters, this rank's at `piece`. */
void param_read_pieces(Rt *rt, const RtParam *param, RtPtr piece, void *host);
void param_write_part(Rt *rt, const RtParam *param, size_t offset, const void *host);

void params_init(Rt *rt);   /* counters, tables and weights of a fresh run, but what load fetches */
void params_open(Rt *rt);   /* what parameters are read from, for params_init and convert */
void params_done(Rt *rt);   /* after these and load: nothing more is read from files */
const RtParam *param_at(const Rt *rt, RtPtr at); /* whose weight is there */
void params_tables(Rt *rt); /* seed, learning rates and bias corrections only: after a resume */
double rt_learning_rate(const RtTraining *training, int64_t step);

/* ---- what the files of this room share --------------------------------------------------------- */

/* Host copies are the whole tensor, dense, in the file's order, in param_saved_dtype(). */

/* All elements, of `size` bytes each, from one order to the other; the two do not overlap. They are
 * those of the whole tensor, or of the part that one of so many ranks has. */
void param_to_file_order(const RtParam *param, int ranks, size_t size, const void *memory,
                         void *file);
void param_to_memory_order(const RtParam *param, int ranks, size_t size, const void *file,
                           void *memory);

/* As if files had it in the order of memory, whose axes are all the file's. */
RtParam param_as_memory(const RtParam *param);
/* As if it were `count` numbers, as many for each element as for any other and in the order of memory;
 * master_dtype is then their type, and piece_first and what follows count them. */
RtParam param_as_numbers(const RtParam *param, RtDtype dtype, int64_t count);

/* Of a parameter with `shard`: how many ranks share it out, and how many elements each holds. */
int shard_ranks(const Rt *rt, const RtParam *param);
int64_t shard_elements(const Rt *rt, const RtParam *param);
/* This rank's part of the whole; on rank 0 the whole of all parts, all ranks together. The whole takes
 * `bytes`: its elements, or as many for each as for any other, such as scales of blocks. */
void shard_take(const Rt *rt, const RtParam *param, size_t bytes, const void *whole, void *part);
void shard_gather(Rt *rt, const RtParam *param, size_t bytes, const void *part, void *whole);
/* Elements in a row of the whole weight, as the memory of one rank would hold it. */
size_t shard_whole_cols(const Rt *rt, const RtParam *param);
/* On rank 0 the first of these, of the first rows that ranks hold; all ranks together. */
void shard_first_row(Rt *rt, const RtParam *param, size_t size, const void *mine, void *row);

/* Where element `at` of this rank's part lies in the whole tensor; and from there on, so many lie one
 * behind the other in both. */
int64_t shard_place(const Rt *rt, const RtParam *param, int64_t at, int64_t *together);

/* Elements [first, first + count) of what this rank holds of a tensor, as memory orders them. */
typedef struct {
    int64_t first, count;
    void *host;
} ParamBlock;

/* A master or moment of a parameter with `pieces`, of which this rank's piece lies there, as memory
 * holds it. Reading is for all ranks together: rank 0 gets the whole of it, others their piece. */
void pieces_read(Rt *rt, const RtParam *param, RtPtr piece, void *host);
void pieces_write(Rt *rt, const RtParam *param, size_t offset, ParamBlock block);
/* Of its elements [first, end) the rank has the piece. */
void pieces_range(const Rt *rt, const RtParam *param, int64_t *first, int64_t *end);
/* Of a frozen one. */
void pieces_read_first_row(Rt *rt, const RtParam *param, void *row);

/* By the parameter's own rule, its elements [first, first + count). */
void initial_values(const RtParam *param, int64_t seed, int64_t first, int64_t count, void *host);

/* What takes a block, in param_saved_dtype(), and may write over it. */
typedef void BlockWriter(Rt *rt, const RtParam *param, ParamBlock block, RtPtr to);
/* Elements [first, end) of what this rank holds, as the files of the run have them or by that rule: in
 * blocks of whole rows, one behind the other, which may begin before `first` and end behind `end`.
 * Nothing else is read, but of columns their rows. One whose order in memory is not its file's is one
 * block. */
void param_first_values(Rt *rt, const RtParam *param, int64_t first, int64_t end,
                        BlockWriter *write, RtPtr to);
/* The first row alone, `bytes` of it. */
void *param_first_row(const Rt *rt, const RtParam *param, size_t *bytes);

/* Files of a Hugging Face model folder, or of a PEFT adapter's. The configuration beside the
 * tensors is compared with the program's own (as text; NULL: nothing to compare). */
StFile *weights_open_model(const char *dir, const char *config_json);
StFile *weights_open_adapter(const char *dir, const char *adapter_json);
/* The name as the file has it: a model that was saved without its head has not the prefix either
 * ("transformer.", "model.") that its names have with one. */
const char *weights_name(const StFile *file, const char *name);
/* The tensor of the parameter's name. A missing tensor or another shape is an error that names folder,
 * tensor and both shapes. */
const StTensor *weights_find(const StFile *file, const char *dir, const RtParam *param);
/* Some of its elements, from the file's type to param_saved_dtype(); and whether these are the same. */
void weights_convert(const StTensor *tensor, const void *elements, int64_t count,
                     const RtParam *param, void *host);
bool weights_are_as_saved(const StTensor *tensor, const RtParam *param);
/* The first row of the file's tensor, converted. */
void weights_read_first_row(const StFile *file, const char *dir, const RtParam *param, void *host);

#endif
