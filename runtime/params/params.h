/* Parameters: tensors in STATE under the names that files use. */
#ifndef GPUOPT_PARAMS_H
#define GPUOPT_PARAMS_H

#include "runtime/base/rt.h"
#include "runtime/files/safetensors.h"

int64_t param_elements(const RtParam *param); /* of the whole tensor, over all ranks */
/* Elements of all tensors but buffers, each counted once however many ranks hold it or a part of it.
 * Rank 0's are those of the whole model; all ranks must call it. */
typedef struct {
    int64_t total, trained;
} ParamCounts;
ParamCounts params_count(Rt *rt);
/* Elements in a row of this rank's weight in memory. */
int64_t param_cols(const Rt *rt, const RtParam *param);
/* The saved value of a parameter is its master if there is one, else its weight: the whole tensor,
 * dense, in file order, in param_saved_dtype(). If ranks hold parts of it, all of them must call
 * the reading functions together, and only the writer of their stage (mesh_writer) gets the
 * values. */
RtDtype param_saved_dtype(const RtParam *param);
size_t param_saved_bytes(const RtParam *param);
void param_read(Rt *rt, const RtParam *param, void *host);
/* Writes the weight and, if there is one, the master. */
void param_write(Rt *rt, const RtParam *param, const void *host);
/* The same for the master, gradient or moment at `offset`: dense, in master_dtype. */
void param_read_part(Rt *rt, const RtParam *param, size_t offset, void *host);
/* The same for a tensor that ranks hold in pieces like those of masters, this rank's at `piece`. */
void param_read_pieces(Rt *rt, const RtParam *param, RtPtr piece, void *host);
/* The same for a tensor elsewhere in memory. */
void param_read_at(Rt *rt, const RtParam *param, RtPtr at, void *host);
void param_write_part(Rt *rt, const RtParam *param, size_t offset, const void *host);

void params_init(Rt *rt);   /* counters, tables and weights of a fresh run, except fetched ones */
void params_open(Rt *rt);   /* opens the files of parameters, for params_init() and convert */
void params_done(Rt *rt);   /* closes these files, after the entry (load, convert or merge) */
/* Refuses files with more than the program computes; all ranks must call it. Only before training:
 * after it, rank 0 may be replacing a file that other ranks have opened. */
void params_refuse_more(Rt *rt);
const RtParam *param_at(const Rt *rt, RtPtr at); /* the parameter whose weight is there */
void params_tables(Rt *rt); /* seed, learning rates and bias corrections only: after a resume */
double rt_learning_rate(const RtTraining *training, int64_t step);

/* ---- orders, parts, pieces and files ---------------------------------------------------------- */

/* Host copies are the whole tensor, dense, in file order, in param_saved_dtype(). */

/* Copy all elements, of `size` bytes each, from one order to the other; the two must not overlap.
 * The elements are those of the part that one of `ranks` ranks holds (1: of the whole tensor). */
void param_to_file_order(const RtParam *param, int ranks, size_t size, const void *memory,
                         void *file);
void param_to_memory_order(const RtParam *param, int ranks, size_t size, const void *file,
                           void *memory);

/* Returns the parameter as if files had it in memory order; that must be a permutation of its
 * axes. */
RtParam param_as_memory(const RtParam *param);
/* Returns the parameter as if it were `count` numbers in memory order, spread evenly over the
 * elements. Their type is master_dtype; piece_first and the members after it must count them
 * too. */
RtParam param_as_numbers(const RtParam *param, RtDtype dtype, int64_t count);

/* For a parameter with `shard`: the number of ranks that divide it, and the elements that each
 * holds. */
int shard_ranks(const Rt *rt, const RtParam *param);
int64_t shard_elements(const Rt *rt, const RtParam *param);
/* shard_take() copies this rank's part out of the whole; shard_gather() assembles the whole on the
 * stage's writer and must be called by all ranks. `bytes` is the size of the whole: its elements,
 * or numbers spread evenly over them, such as scales of blocks. */
void shard_take(const Rt *rt, const RtParam *param, size_t bytes, const void *whole, void *part);
void shard_gather(Rt *rt, const RtParam *param, size_t bytes, const void *part, void *whole);
/* Elements in a row of the whole weight, if one rank held all of it. */
size_t shard_whole_cols(const Rt *rt, const RtParam *param);
/* Assembles the first such row on the stage's writer, from the first rows that ranks hold (`mine`);
 * must be called by all ranks. */
void shard_first_row(Rt *rt, const RtParam *param, size_t size, const void *mine, void *row);

/* Returns the index in the whole tensor of element `at` of this rank's part, and sets *together to
 * the number of elements from there on that are contiguous in both. */
int64_t shard_place(const Rt *rt, const RtParam *param, int64_t at, int64_t *together);

/* Elements [first, first + count) of this rank's part of a tensor, in memory order. */
typedef struct {
    int64_t first, count;
    void *host;
} ParamBlock;

/* A master or moment of a parameter with `pieces`, in memory order; this rank's piece is at
 * `piece`, or at `offset` in STATE. All ranks read together: the first rank of the writer's group
 * gets the whole, the others only their piece. */
void pieces_read(Rt *rt, const RtParam *param, RtPtr piece, void *host);
void pieces_write(Rt *rt, const RtParam *param, size_t offset, ParamBlock block);
/* Sets [first, end) to the range of elements in this rank's piece. */
void pieces_range(const Rt *rt, const RtParam *param, int64_t *first, int64_t *end);
/* Reads the first row of a frozen weight in pieces. */
void pieces_read_first_row(Rt *rt, const RtParam *param, void *row);

/* Computes elements [first, first + count) by the parameter's initialisation rule. */
void initial_values(const RtParam *param, int64_t seed, int64_t first, int64_t count, void *host);

/* Receives a block in param_saved_dtype(), which it may overwrite. */
typedef void BlockWriter(Rt *rt, const RtParam *param, ParamBlock block, RtPtr to);
/* Passes elements [first, end) of this rank's part to `write`, from the run's files or by that
 * rule, in consecutive blocks of whole rows, which may begin before `first` and end after `end`.
 * Nothing else is read from the files, except that a part of columns needs whole rows. A parameter
 * whose memory order differs from the file's is one block. */
void param_first_values(Rt *rt, const RtParam *param, int64_t first, int64_t end,
                        BlockWriter *write, RtPtr to);
/* Returns only the first row and its size; the caller frees it. */
void *param_first_row(const Rt *rt, const RtParam *param, size_t *bytes);

/* Open a Hugging Face model folder or a PEFT adapter folder. The configuration in the folder is
 * compared with the program's own (as text; NULL: nothing to compare). `spec` trains the model, for the
 * message if it is missing; NULL: none. */
StFile *weights_open_model(const char *dir, const char *spec, const char *config_json);
StFile *weights_open_adapter(const char *dir, const char *adapter_json);
/* These two wait for all ranks. */
/* Refuses tensors of an adapter that no rank reads: without them its results differ. */
void weights_require_all_read(Rt *rt, const StFile *file, const char *dir);
/* Refuses biases of a model that no rank reads, although one reads the weight beside it. */
void weights_refuse_biases(Rt *rt, const StFile *file, const char *dir);
/* Returns the tensor's name as the file has it: files of a model saved without its head also lack
 * the prefix of names ("transformer.", "model."). */
const char *weights_name(const StFile *file, const char *name);
/* Returns the parameter's tensor. A missing tensor or another shape is an error that names folder,
 * tensor and both shapes. */
const StTensor *weights_find(const StFile *file, const char *dir, const RtParam *param);
/* Converts elements from the file's type to param_saved_dtype(). weights_are_as_saved() tells
 * whether the two types are the same. */
void weights_convert(const StTensor *tensor, const void *elements, int64_t count,
                     const RtParam *param, void *host);
bool weights_are_as_saved(const StTensor *tensor, const RtParam *param);
/* Reads the first row of the file's tensor, converted. */
void weights_read_first_row(const StFile *file, const char *dir, const RtParam *param, void *host);

#endif
