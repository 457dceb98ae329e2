/* The interface between an emitted program and the runtime.
 *
 * An emitted program.c fills one `RtProgram` (constants only) and ends with
 *
 *     int main(int argc, char **argv) { return rt_main(&program, argc, argv); }
 *
 * The runtime owns the process: command line, device, arenas, data, checkpoints, reports and the
 * training loop. It knows tensors, launches and entry functions, but not the model or the tuning
 * technique that they come from.
 *
 * Units: every offset and size is in bytes unless the comment says elements. Matrices are
 * row-major.
 * Ownership: everything an RtProgram points to is constant and lives as long as the process.
 * Errors: functions that return nothing end the process with one clear line and exit code 1. */
#ifndef GPUOPT_RUNTIME_H
#define GPUOPT_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Rt Rt;
typedef unsigned long long RtPtr; /* a device address; the same type as CUdeviceptr */

typedef enum { RT_F64, RT_F32, RT_F16, RT_BF16, RT_I64, RT_I32, RT_U8, RT_I8 } RtDtype;

/* Where a buffer is. Each arena is one allocation; the plan fixes the offsets in it.
 *   STATE    lasts from step to step: weights, masters, gradients, optimizer state, counters
 *   SCRATCH  activations and workspaces; nothing in it outlives an entry
 *   INPUT    one batch. There are two slots, so that one is filled while the other is read; in a
 *            pipeline, two for each micro-batch of a step
 *   STASH    what the forward pass of a micro-batch keeps for its backward pass; one slot for each
 *            micro-batch in flight */
typedef enum { RT_STATE, RT_SCRATCH, RT_INPUT, RT_STASH, RT_ARENAS } RtArena;

typedef struct {
    RtArena arena;
    size_t offset;
} RtAt;

#define RT_NOWHERE ((size_t)-1)

/* ---- ranks -------------------------------------------------------------------------------- */

/* Ranks, each one process with one device, form a mesh with these axes. They are numbered in
 * row-major order: the last axis varies fastest. */
typedef enum {
    RT_AXIS_PIPELINE,
    RT_AXIS_REPLICATE,
    RT_AXIS_SHARD,
    RT_AXIS_TENSOR,
    RT_AXIS_SAME_KEYS, /* tensor ranks with the same key head; 1 if each has its own */
    RT_AXES
} RtAxis;

/* A set of axes. It gives every rank a group: the ranks that differ from it only along these axes,
 * and the rank itself. */
typedef unsigned RtGroup;
enum {
    RT_PIPELINE = 1 << RT_AXIS_PIPELINE,
    RT_REPLICATE = 1 << RT_AXIS_REPLICATE,
    RT_SHARD = 1 << RT_AXIS_SHARD,
    RT_KEYS = 1 << RT_AXIS_TENSOR, /* ranks with different key heads */
    RT_SAME_KEYS = 1 << RT_AXIS_SAME_KEYS,
    RT_TENSOR = RT_KEYS | RT_SAME_KEYS, /* all ranks that shard a layer */
    RT_DATA = RT_REPLICATE | RT_SHARD,  /* ranks with different batches */
    RT_WORLD = (1 << RT_AXES) - 1,
    RT_ENDS = 1 << RT_AXES, /* not an axis: the first and the last stage of a pipeline */
    RT_GROUPS = 2 * RT_ENDS
};

/* ---- launches ----------------------------------------------------------------------------- */

typedef struct {
    const char *name;      /* the extern "C" name in kernels.cu, used everywhere */
    unsigned threads;      /* threads per block */
    unsigned shared_bytes; /* dynamic shared memory */
} RtKernel;

typedef struct {
    unsigned x, y, z;
} RtGrid;

typedef enum { RT_COMPUTE_F32, RT_COMPUTE_TF32, RT_COMPUTE_F64 } RtCompute;

/* C[m,n] = alpha * op(A)[m,k] * op(B)[k,n] + beta * C, row-major; op transposes if transpose_a or
 * transpose_b is set. With `bias`, a vector of n elements of C's type is added to each row, before
 * the sums are rounded. lda, ldb, ldc: elements between rows as stored. batch_count > 0: a batch of
 * batch_count products, whose matrices are stride_a, stride_b, stride_c elements apart; stride 0:
 * all products use the same matrix. */
typedef struct {
    const char *name;
    int64_t m, n, k;
    bool transpose_a, transpose_b;
    int64_t lda, ldb, ldc;
    int64_t batch_count, stride_a, stride_b, stride_c;
    RtDtype a, b, c;
    RtCompute compute;
    double alpha, beta;
    bool bias;
} RtGemm;

/* The address of a planned offset. */
RtPtr rt_state(const Rt *rt, size_t offset);
RtPtr rt_scratch(const Rt *rt, size_t offset);
RtPtr rt_input(const Rt *rt, size_t offset); /* in the current batch's slot */
RtPtr rt_stash(const Rt *rt, size_t offset); /* in the current micro-batch's slot */

/* Streams. Work on one stream runs in order, and in parallel with other streams. COMMUNICATION:
 * exchanges between ranks that overlap with computation. SIDE: kernels and products that COMPUTE
 * waits for only at the end of an entry, such as weight gradients. COPY: batches on their way to
 * the device. */
typedef enum {
    RT_STREAM_COMPUTE,
    RT_STREAM_COMMUNICATION,
    RT_STREAM_SIDE,
    RT_STREAM_COPY,
    RT_STREAMS
} RtStream;

/* Selects the stream for the calls that follow. An entry begins and ends on the compute stream. */
void rt_on_stream(Rt *rt, RtStream stream);
/* Later work on the selected stream waits for everything that `other` has been given so far. A wait
 * may be placed before a launch that does not need it: later, `other` would have been given more,
 * and the wait would cover that too. */
void rt_wait_stream(Rt *rt, RtStream other);
/* Whether the micro-step being enqueued is the last one of its step. If not, counts `launches`
 * launches as left out; the caller skips them. */
bool rt_ends_step(Rt *rt, int launches);

/* These enqueue on the selected stream. `args` holds one pointer per kernel parameter. */
void rt_launch(Rt *rt, int kernel, RtGrid grid, void *args[]);
void rt_gemm(Rt *rt, int gemm, RtPtr a, RtPtr b, RtPtr c);
void rt_gemm_bias(Rt *rt, int gemm, RtPtr a, RtPtr b, RtPtr c, RtPtr bias);
void rt_zero(Rt *rt, RtPtr to, size_t bytes);
void rt_copy(Rt *rt, RtPtr to, RtPtr from, size_t bytes); /* device to device */
/* Only in load and convert: copies the source values of a parameter to `to`. The parameter is the
 * one whose stored form is in STATE at `kept`. Waits for all work enqueued before. */
void rt_fetch(Rt *rt, RtPtr to, RtPtr kept);

/* Only in convert and merge: takes a dense matrix for the final model's files, as tensor `part` of
 * the linear layer whose weight is at `param`. If ranks shard the weight, the matrix is this rank's
 * part. A weight that is gathered for each use is identified by where its share of the rank's piece
 * begins. Waits for all work enqueued before, and for the other ranks. */
void rt_export(Rt *rt, RtPtr param, const char *part, RtPtr from, RtDtype dtype, int64_t rows,
               int64_t cols);
/* The same for a matrix that every rank has in full although the weight is sharded. */
void rt_export_whole(Rt *rt, RtPtr param, const char *part, RtPtr from, RtDtype dtype, int64_t rows,
                     int64_t cols);

/* Collectives of a group. Its ranks enqueue them in the same order and get the same bits.
 *   all_reduce      in place: the sum over the ranks of each of `count` elements
 *   all_gather      `count` elements of each rank, in the order of the ranks
 *   reduce_scatter  `count` elements of the sums for each rank, in the order of the ranks
 *   broadcast       `count` elements of the first rank */
void rt_all_reduce(Rt *rt, RtGroup group, RtPtr at, int64_t count, RtDtype dtype);
void rt_all_gather(Rt *rt, RtGroup group, RtPtr to, RtPtr from, int64_t count, RtDtype dtype);
void rt_reduce_scatter(Rt *rt, RtGroup group, RtPtr to, RtPtr from, int64_t count, RtDtype dtype);
void rt_broadcast(Rt *rt, RtGroup group, RtPtr at, int64_t count, RtDtype dtype);

/* The exchange that a copy between cards belongs to, for the report. */
typedef enum { RT_FOR_BROADCAST, RT_FOR_GATHER, RT_FOR_REDUCE, RT_PURPOSES } RtPurpose;

/* Copies to `to` on this card the bytes at `from` in STATE of card `card` of this process. */
void rt_peer_copy(Rt *rt, RtPurpose purpose, int card, RtPtr to, RtPtr from, size_t bytes);

/* Does nothing unless this step is dumped. Then appends the rows of a [rows, cols] matrix
 * (row_stride elements apart) to those that earlier calls have copied out under the same `name`.
 * The name "grad" means the run of all gradients, which are copied out one by one under their own
 * names. */
void rt_observe(Rt *rt, const char *name, RtPtr from, RtDtype dtype, int64_t rows, int64_t cols,
                int64_t row_stride);

#define RT_LAUNCH(rt, kernel, grid, ...) rt_launch(rt, kernel, grid, (void *[]){__VA_ARGS__})
#define RT_GRID(...) ((RtGrid){__VA_ARGS__})

/* ---- tensors ------------------------------------------------------------------------------ */

/* LOAD: not initialized here; the entry load computes the value. */
typedef enum {
    RT_INIT_ZEROS,
    RT_INIT_ONES,
    RT_INIT_NORMAL,
    RT_INIT_UNIFORM,
    RT_INIT_LOAD
} RtInit;

struct RtConstant;

enum { RT_MOMENT_BLOCK = 256 };

/* The quantization parameters of a weight stored as 4-bit codes. A byte holds two codes, the first
 * one in its high half. */
typedef struct {
    const char *type;            /* "nf4", "fp4" */
    int64_t block, nested_block; /* codes per absmax; absmax per nested_absmax */
    /* In STATE. absmax: U8 codes, or F32 if there are no nested values. The others are F32. */
    size_t absmax, offset, nested_absmax;
    const struct RtConstant *map, *nested_map; /* the value of each code */
    bool in_file; /* the model's files have this form already; load does not compute it */
} RtPacked;

/* The codes of a whole module, of which each rank of the group holds a piece of `bytes` bytes, at
 * `piece` in STATE. In the module's codes those of this weight begin at codes_first, and its absmax
 * codes at absmax_first; -1 if absmax is not in the pieces. */
typedef struct {
    RtGroup group;
    size_t piece;
    int64_t bytes, codes_first, absmax_first;
} RtCodePieces;

/* One parameter of the model. All its copies are in STATE; the offset of a copy that does not exist
 * is RT_NOWHERE. Rank and shape are those of the file. If split[0] is not 0, memory holds the
 * elements in another order: view the file's tensor as row-major with dimensions `split`; in memory
 * the axes come in the order `order`. `weight` is what the step reads. If it is 16-bit and trained,
 * `master` holds the fp32 values that are saved. Gradient, exp_avg and exp_avg_sq have master_dtype
 * and no row stride; with SGD, exp_avg is the momentum buffer. */
typedef struct {
    const char *name; /* in the Hugging Face or PEFT file that it is read from and written to */
    int rank;
    int64_t shape[4];
    int64_t row_stride; /* elements between rows of `weight`; the row length if dense */
    RtDtype dtype;      /* of weight */
    RtDtype master_dtype;
    size_t weight, master, gradient, exp_avg, exp_avg_sq;
    /* exp_avg and exp_avg_sq are U8 codes, in memory order. Each run of RT_MOMENT_BLOCK codes of
     * the whole tensor has one F32 absmax here, on the rank that has the run: no rank's part or
     * piece ends within a run. */
    bool coded_moments;
    size_t exp_avg_absmax, exp_avg_sq_absmax;
    bool trained, adapter;
    RtInit init;       /* if no file gives a value */
    double init_scale; /* standard deviation, or bound of the uniform distribution */
    const char *base_name; /* of an adapter, its name in the model's files; or NULL */
    const char *no_zero_row; /* if no adapter is given: why no row may be all zeros; or NULL */
    bool buffer;       /* not trained, but written by micro_step */
    bool fetched; /* frozen; `weight` is another form, which load computes: see rt_fetch */
    const RtPacked *packed; /* that form, if it is codes of few bits */
    const RtCodePieces *code_pieces; /* where the codes are, if ranks have pieces; or NULL */
    int64_t split[4];
    int order[4];
    int64_t cols; /* with a split: elements in a row of `weight`; else shape[rank-1] */
    /* The ranks that shard the tensor along an axis of the file's tensor, in the order of their
     * places in the group. If shard_runs is not 0, the axis consists of shard_runs equal runs, each
     * of which is sharded. shard = 0: every rank has the whole tensor. */
    RtGroup shard;
    int shard_axis, shard_runs;
    /* If not 0, each rank of the group has a piece of the masters and moments of all trained
     * tensors. All tensors form one run, which is cut into sections; a piece has an equal part of
     * each section. The offsets above are those of the pieces. The part of this tensor's section
     * has piece_elements elements and begins at element piece_at of the piece; the tensor begins at
     * element piece_first of its section. For a frozen parameter `weight` is the offset of a piece.
     * Pieces of coded moments have only the program's first coded_elements elements; pieces of
     * moments as numbers have the others. */
    RtGroup pieces;
    int64_t piece_first, piece_elements, piece_at;
    bool gradient_in_pieces; /* the gradient too */
    /* If not 0, the gradient is in SCRATCH, and complete where a step calls rt_observe() with the
     * name "grad" for the section-th time. */
    int section;
} RtParam;

/* An I32 in STATE that holds the rank's number in a group, from 0. */
typedef struct {
    RtGroup group;
    size_t offset;
} RtGroupRank;

/* Numbers known at generation time, written to STATE once at the start. */
typedef struct RtConstant {
    const char *name; /* for readers of the table */
    RtDtype dtype;
    int64_t count;
    size_t offset; /* in STATE */
    const double *values;
} RtConstant;

/* One input of a batch, which the loader fills by name. `tokens` is the number of rows of the loss;
 * a place is an index in [0, tokens).
 *   input_ids   I32 [tokens]
 *   labels      I32 [tokens]  the token to predict at each place (already shifted); -100: ignored
 *   positions   I32 [tokens]  restart at 0 where a sample starts; attention never crosses a start
 *   loss_weight F32 or F64 [1]  1 / (target tokens of the whole step, all micro-steps and ranks);
 *               for pairs 1 / (pairs of the whole step)
 *   target_rows   I32 [max_target_tokens]  the places that have a target, in order; then -1
 *   target_places I32 [tokens]  the inverse: index in target_rows, -1 without a target
 *   sequence    I32 [tokens]  for packed or shared pairs: the sequence of each place, -1 if none;
 *               pair k of entry b has the sequences 2 (b packed + k) and 2 (b packed + k) + 1
 *   sample_positions I32 [tokens]  for shared pairs: the position of a place in its part of the row
 *   prefix      I32 [tokens, 2]  for shared pairs: the places of the row that a place sees outside
 *               its own part, as the first one and one past the last
 *   reference_nll F32 or F64 [batch * 2, times `packed`]  for pairs: the negative log-probability
 *               of each sequence under the weights that training began with
 *   first_row   I32 [1]  index of this batch's first token in the step's global batch
 * For images a row is one image (seq_len 1) and labels are its class, -100 for padding:
 *   pixels      U8 [tokens * height * width * channels], channels last; or, if the host decodes,
 *               float [tokens * out_size * out_size * out_channels], in RtImages.planes' order
 *   pictures    U8 [tokens * slot_bytes]  instead of pixels, if the device makes those of JPEG files:
 *               coefficients, or raw images (data_images.h)
 *   indices     I32 [tokens]  the image's index in RtData.dataset, instead of pixels
 *   boxes       I32 [tokens * 5]  top, left, height and width of the part of the image that training
 *               sees, and whether it is mirrored (0 or 1); zeros for held-out images (not read) */
typedef struct {
    const char *name;
    RtDtype dtype;
    int64_t count;
    size_t offset; /* in INPUT */
} RtInput;

/* An output of one launch of an entry, so that a bad value can be reported by name. A launch, here
 * and in RtEntry, is a call of rt_launch, rt_gemm, rt_gemm_bias, rt_zero, rt_copy, rt_fetch, rt_export,
 * rt_export_whole, rt_peer_copy or a collective. Sorted by launch. */
typedef struct {
    int launch; /* index, from 0, among the entry's launches */
    const char *name;
    RtAt at;
    RtDtype dtype;
    int64_t rows, cols, row_stride; /* elements */
} RtOutput;

/* A function that enqueues one whole entry graph. It waits for nothing, unless it calls rt_fetch or
 * rt_export: such an entry is never captured. All its work is done when the compute stream is. */
typedef struct {
    void (*enqueue)(Rt *rt); /* NULL where the program has no such entry */
    const RtOutput *outputs;
    int output_count;
    int launches; /* enqueued, or left out by rt_ends_step */
} RtEntry;

/* ---- stages of a pipeline ------------------------------------------------------------------- */

typedef enum {
    RT_FORWARD,
    RT_BACKWARD,
    RT_RECEIVE_ACTIVATION, /* from the stage before */
    RT_SEND_ACTIVATION,
    RT_RECEIVE_GRADIENT, /* from the next stage */
    RT_SEND_GRADIENT
} RtActionKind;

typedef struct {
    RtActionKind kind;
    int micro_batch;
} RtAction;

/* A dense tensor in STASH. */
typedef struct {
    size_t offset;
    int64_t count; /* 0: this stage has no such neighbour */
    RtDtype dtype;
} RtTransfer;

/* This rank runs stage `stage` of the model; there are as many stages as ranks along
 * RT_AXIS_PIPELINE. Micro-batch m uses slot m % slots of STASH. Consecutive exchanges in the
 * schedule begin together. */
typedef struct {
    int stage, slots;
    const RtAction *schedule; /* of a step, without the update */
    int action_count;
    RtTransfer received, sent, received_gradient, sent_gradient;
} RtPipeline;

/* ---- the training state that host and device share ----------------------------------------- */

/* Offsets in STATE. STATE is zeroed before the host writes to it; bad_step is then set to -1.
 * "real" is F64 in an fp64 program, else F32. The device indexes the tables: lr by `step`, the bias
 * corrections by `applied`. A step with a non-finite gradient norm applies no update: `step`
 * advances, `applied` does not, and `bad_step`, if still -1, becomes the index of the step. */
typedef struct {
    size_t seed;             /* I64 [1] */
    size_t step;             /* I32 [1] steps done */
    size_t applied;          /* I32 [1] updates applied */
    size_t bad_step;         /* I32 [1] */
    size_t lr;               /* real [steps] */
    size_t bias_correction1; /* real [steps]  1 - beta1^(applied+1); this and the next are
                              * RT_NOWHERE if the update does not use them */
    size_t bias_correction2_sqrt; /* real [steps]  sqrt(1 - beta2^(applied+1)) */
    size_t loss;             /* real [steps]  mean over the step's target tokens */
    size_t grad_norm;        /* real [steps]  before clipping */
    size_t step_loss;        /* real [1] of the current step */
    size_t eval_loss; /* real [1] sum over targets since the host zeroed it; evaluation batches
                              * have loss_weight 1 */
} RtCounters;

/* A metric reported with the held-out loss: a sum over targets, zeroed and read in the same way as
 * eval_loss. With each_step, training has it too: the sum over the current step and the history of
 * all steps. */
typedef struct {
    const char *name; /* "top1" */
    size_t offset;    /* real [1] in STATE */
    bool each_step;
    size_t step_sum, history; /* real [1], real [steps] */
} RtMetric;

/* A dynamic loss scale, which the device maintains as torch.amp.GradScaler does. Gradients are
 * those of loss * scale. A step with a non-finite gradient norm applies no update, but is no reason
 * to stop (bad_step stays -1). Offsets in STATE. */
typedef struct {
    size_t scale;          /* real [1] */
    size_t growth_tracker; /* I32 [1] updates since the scale last changed */
    size_t skipped_steps;  /* I32 [1] */
    double init_scale;
} RtLossScale;

/* ---- settings the loop needs ----------------------------------------------------------------- */

typedef enum {
    RT_SCHEDULE_CONSTANT,
    RT_SCHEDULE_LINEAR,
    RT_SCHEDULE_COSINE,
    RT_SCHEDULE_STEP /* multiplied by gamma every step_size steps after the warm-up */
} RtSchedule;

typedef struct {
    const char *plural, *brief, *rate; /* "tokens", "tok", the report's "tokens_per_s" */
} RtUnit;

typedef struct {
    int64_t batch;   /* entries in a micro-step */
    int64_t seq_len; /* places per entry */
    int64_t micro_steps, steps;
    int64_t log_every;   /* steps between progress lines */
    int64_t early_steps; /* the first steps, which run early_micro_step instead of micro_step */
    bool updates_in_backward; /* micro_step updates weights, before update knows the norm */
    int64_t seed;
    double lr, beta1, beta2;
    RtSchedule schedule;  /* after the warm-up, in whose step i the rate is lr (i + 1) / warmup_steps */
    int64_t warmup_steps;
    double min_lr_factor; /* the share of lr to which the rate falls, after the last step */
    int64_t step_size;    /* STEP only, as the next one */
    double gamma;
    int64_t eval_every; /* steps between evaluations; 0: only before and after training */
    RtUnit unit;        /* a batch has batch * seq_len of these */
    bool cuda_graph;    /* capture the step; else enqueue it every time */
    bool overlap;       /* copy batches on a separate stream; else between the steps */
    /* Kernels are launched while the previous kernel on the stream is still finishing; each begins
     * by waiting for that kernel's end (grid_dependency_synchronize). */
    bool programmatic_launch;
} RtTraining;

typedef enum {
    RT_DATA_TEXT,
    RT_DATA_JSONL,
    RT_DATA_TOKENS,
    RT_DATA_SYNTHETIC, /* random images where RtData.images is set, else tokens */
    RT_DATA_IDX,
    RT_DATA_IMAGE_FOLDER
} RtDataFormat;

/* A raw image is bytes [height, width, channels], as IDX files have it; the images of a folder are
 * resized to that. The model sees out_size x out_size x out_channels of (value / 255 - mean) / std,
 * resized bilinearly. A single channel is repeated if the model wants three. */
typedef struct {
    int64_t height, width, channels;
    int64_t out_size, out_channels;
    int64_t classes;
    const double *mean, *std; /* [out_channels] */
    bool decode_on_host;      /* `pixels` is what the model sees; else raw images */
    bool planes;              /* model input is [channels, height, width]; else as raw images */
    bool skip_broken;         /* images that cannot be decoded are skipped; else an error */
    bool decode_scaled;       /* JPEG files at 1/2, 1/4 or 1/8 size, if large enough */
    bool random_resized_crop; /* training sees a random part, with these shares of the area and */
    const double *crop_scale, *crop_ratio; /* [2] ratios of width to height (least, largest) */
    bool crop_pictures;                    /* from the whole picture, antialiased */
    double random_horizontal_flip;         /* probability of mirroring */
    /* Held-out images are resized to eval_height x eval_width, and the model sees the part that
     * begins at eval_top, eval_left. 0: resized to out_size x out_size. */
    int64_t eval_height, eval_width, eval_top, eval_left;
    int64_t slot_bytes; /* of an image in `pictures`; 0: the host makes all pixels */
} RtImages;

/* An entry of a batch is two sequences, the first preferred to the second. A pair is one target.
 * Each sequence has a row of RtTraining.seq_len / 2 places; shared: both lie in one row of
 * RtTraining.seq_len places, which has their common prefix only once. */
typedef struct {
    int64_t packed;     /* pairs that share the two rows (or the one row) at most; 0: not packed */
    bool shared;
    bool drop_overlong; /* pairs that are too long are left out; else their sequences are cut */
    /* If the program has the entry `reference`: its result, and what the result depends on besides
     * data and weights, as lines such as "precision.dtype = "bf16"". */
    size_t made; /* real [batch * 2, times `packed`] in STATE: negative log-probabilities */
    const char *facts;
} RtPairs;

/* The data kept on the device: all samples in their stored form, first those to train on, then
 * those held out in files of their own. */
typedef struct {
    int64_t samples, sample_bytes;
    size_t offset; /* [samples * sample_bytes] in STATE */
} RtDataset;

typedef enum { RT_LAST_ROLLOVER, RT_LAST_DISCARD, RT_LAST_PAD } RtLastBatch; /* data.last_batch */

typedef struct {
    RtDataFormat format;
    const char *const *train; /* files, folders or globs, relative to the working directory */
    int train_count;
    const char *const *validation; /* if none, eval_fraction of train is held out */
    int validation_count;
    double eval_fraction;
    int64_t eval_batches; /* of one evaluation by all ranks, at most */
    int64_t vocab_size;   /* token ids are below it */
    int64_t max_target_tokens; /* per micro-step; 0: no limit */
    int64_t prefetch_batches; /* prepared ahead, besides those in slots */
    int64_t num_workers; /* threads that prepare batches; 0: the loop does it, none ahead */
    bool packing, shuffle, pin_memory;
    RtLastBatch last_batch;
    bool numa_bind;           /* keep threads and host memory on the card's NUMA node */
    const RtImages *images;   /* NULL: tokens */
    const RtPairs *pairs;     /* NULL: no pairs */
    const RtDataset *dataset; /* NULL: each batch is copied from the host */
} RtData;

typedef struct {
    int64_t interval;      /* steps; 0: only at the end and at a signal */
    int64_t keep_latest_k; /* how many checkpoints are kept */
    bool export_model;
    bool export_base;         /* export frozen weights too, packed ones in their packed form */
    const char *init_dir;     /* default of --init; NULL: train from scratch */
    const char *base_spec;    /* the spec that trains init_dir; NULL: none */
    const char *config_json;  /* config.json of the model, as text */
    const char *adapter_json; /* adapter_config.json, as text; NULL without an adapter */
} RtCheckpoint;

typedef struct {
    bool enabled, trace;       /* trace: trace.json is written too */
    int64_t start_step, steps; /* steps of this process before the window; how many it has */
} RtProfiling;

/* One kind of exchange between cards in a step. `name` is its name in report.json. */
typedef struct {
    const char *name;
    int64_t count, bytes; /* of this rank or of all cards of the process, as measured */
} RtPlannedExchange;

/* The plan's predictions, reported next to the measurements. Times are in ms per step. */
typedef struct {
    const char *device;
    double iteration_ms;
    size_t arena_bytes, process_bytes;
    size_t decoded_bytes;   /* weights kept decoded from forward to backward */
    double flops;           /* of one step, without recomputation */
    double peak_flops;      /* per second, at the step's precision */
    double h2d_bytes;       /* per step */
    double kernel_launches, graph_launches; /* per step */
    double exposed_ms; /* of communication, mean over ranks */
    double bubble;     /* share of a step in which a pipeline's ranks wait, mean over them */
    const RtPlannedExchange *exchanges; /* per step */
    int exchange_count;
} RtPredicted;

struct RtProgram {
    const char *name; /* of the experiment */
    const char *spec_sha256;
    const char *recipe_sha256; /* of the keys that the trained weights depend on */
    const char *const *settings; /* of --set and of a sweep: "TABLE.KEY=VALUE" */
    int setting_count;
    const char *generator; /* name and version */
    int mesh[RT_AXES];     /* ranks along each axis; 0: one rank and no group; 1: a group of one */
    const RtGroup *groups; /* the groups that need a communicator */
    int group_count;
    int cards;                     /* cards that this process drives; 0 means 1 */
    size_t replica_state_bytes;    /* of STATE, on every card but the first */
    double comm_timeout_s;         /* how long a rank waits for another; 0: 600 */
    RtDtype real;                  /* F64 or F32: the dtype of losses, norms and tables */
    const char *precision;         /* as in the spec: "bf16", ... */
    size_t arena_bytes[RT_ARENAS]; /* INPUT, STASH: of one slot, a multiple of 256 */
    const RtKernel *kernels;
    int kernel_count;
    const RtGemm *gemms;
    int gemm_count;
    size_t gemm_workspace, gemm_workspace_bytes; /* in SCRATCH */
    size_t gemm_side_workspace;                  /* of the side stream, same size */
    const RtParam *params;
    int param_count;
    int64_t piece_elements; /* in a rank's piece of masters and moments; 0: no pieces */
    int64_t coded_elements; /* the first of these, whose moments are codes */
    const RtConstant *constants;
    int constant_count;
    const RtGroupRank *group_ranks;
    int group_rank_count;
    const RtInput *inputs;
    int input_count;
    RtCounters counters;
    const RtMetric *metrics;
    int metric_count;
    const RtLossScale *loss_scale; /* NULL: there is none */
    /* The entries. A step runs micro_step micro_steps times, then update; the last micro_step and
     * update are one graph. With one micro-step it overwrites the gradients; with several they are
     * accumulated, starting from zeros that update leaves. Of several cards in the process, the
     * first one runs what is not said to run on others. */
    RtEntry load;       /* once, after the weights have arrived */
    RtEntry replicate;  /* of several cards: all but the first, before each micro-step */
    RtEntry micro_step; /* of several cards: all, on batches of their own */
    RtEntry forward, backward; /* of a pipeline stage, instead of micro_step */
    RtEntry collect;           /* of several cards: the first, after each micro-step */
    RtEntry update;
    RtEntry evaluate;  /* on each held-out batch */
    RtEntry reference; /* before training, on each batch of pairs: computes what training compares
                        * itself with */
    RtEntry convert;   /* once, after training: exports the final form of the model */
    RtEntry evaluate_converted; /* evaluate, with that form */
    RtEntry early_micro_step;   /* instead of micro_step in the first early_steps steps */
    RtEntry merge;              /* after the last step, if --merge is given */
    const char *unmerged; /* why the adapter cannot be merged; NULL: it can, or there is none */
    const RtPipeline *pipeline; /* NULL: the program is the whole model */
    RtTraining training;
    RtData data;
    RtCheckpoint checkpoint;
    RtProfiling profiling;
    RtPredicted predicted;
};
typedef struct RtProgram RtProgram;

/* Exit codes: 0 done, 1 error, this one stopped by a signal and resumable. */
enum { RT_EXIT_RESUMABLE = 75 };
int rt_main(const RtProgram *program, int argc, char **argv);

#endif
