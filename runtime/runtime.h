/* What an emitted program and the runtime know of each other.
 *
 * An emitted program.c fills one `RtProgram` (constants only) and ends with
 *
 *     int main(int argc, char **argv) { return rt_main(&program, argc, argv); }
 *
 * The runtime owns the process: command line, device, arenas, data, checkpoints, reports and the
 * training loop. It knows tensors, launches and entry functions; it does not know which model or
 * which tuning technique they came from.
 *
 * Units: every offset and size is in bytes unless it says elements. Matrices are row-major.
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

/* Where a buffer lives. Each arena is one allocation; offsets in it are fixed by the plan.
 *   STATE    kept from step to step: weights, masters, gradients, optimizer state, counters
 *   SCRATCH  activations and workspaces; nothing in it outlives an entry
 *   INPUT    one batch; there are two slots, so that one is filled while the other is read; with a
 *            pipeline two for each micro-batch of a step
 *   STASH    what a micro-batch's forward leaves for its backward; a slot for each one in flight */
typedef enum { RT_STATE, RT_SCRATCH, RT_INPUT, RT_STASH, RT_ARENAS } RtArena;

typedef struct {
    RtArena arena;
    size_t offset;
} RtAt;

#define RT_NOWHERE ((size_t)-1)

/* ---- ranks -------------------------------------------------------------------------------- */

/* Ranks, a process and a device each, form a mesh with these axes; a rank's number counts the last one
 * fastest. */
typedef enum {
    RT_AXIS_PIPELINE,
    RT_AXIS_REPLICATE,
    RT_AXIS_SHARD,
    RT_AXIS_TENSOR,
    RT_AXIS_SAME_KEYS, /* of those that share out a layer, where there are more than key heads */
    RT_AXES
} RtAxis;

/* A set of axes, and so for each rank a group: itself and the ranks that differ from it in these
 * alone. */
typedef unsigned RtGroup;
enum {
    RT_PIPELINE = 1 << RT_AXIS_PIPELINE,
    RT_REPLICATE = 1 << RT_AXIS_REPLICATE,
    RT_SHARD = 1 << RT_AXIS_SHARD,
    RT_KEYS = 1 << RT_AXIS_TENSOR, /* each has key heads of its own */
    RT_SAME_KEYS = 1 << RT_AXIS_SAME_KEYS,
    RT_TENSOR = RT_KEYS | RT_SAME_KEYS, /* those that share out a layer */
    RT_DATA = RT_REPLICATE | RT_SHARD,  /* those that have batches of their own */
    RT_WORLD = (1 << RT_AXES) - 1,
    RT_ENDS = 1 << RT_AXES, /* no axis: of a pipeline's stages the first and the last */
    RT_GROUPS = 2 * RT_ENDS
};

/* ---- launches ----------------------------------------------------------------------------- */

typedef struct {
    const char *name;      /* the extern "C" name in kernels.cu, the one name everywhere */
    unsigned threads;      /* threads a block */
    unsigned shared_bytes; /* dynamic shared memory */
} RtKernel;

typedef struct {
    unsigned x, y, z;
} RtGrid;

typedef enum { RT_COMPUTE_F32, RT_COMPUTE_TF32, RT_COMPUTE_F64 } RtCompute;

/* C[m,n] = alpha * op(A)[m,k] * op(B)[k,n] + beta * C, row-major; op transposes when told to.
 * lda, ldb, ldc: elements between two rows as stored. With a batch_count so many of them, stride_a,
 * stride_b, stride_c elements apart; 0: all have the same matrix. */
typedef struct {
    const char *name;
    int64_t m, n, k;
    bool transpose_a, transpose_b;
    int64_t lda, ldb, ldc;
    int64_t batch_count, stride_a, stride_b, stride_c;
    RtDtype a, b, c;
    RtCompute compute;
    double alpha, beta;
} RtGemm;

/* Address of a planned offset. */
RtPtr rt_state(const Rt *rt, size_t offset);
RtPtr rt_scratch(const Rt *rt, size_t offset);
RtPtr rt_input(const Rt *rt, size_t offset); /* in the slot of the batch being enqueued */
RtPtr rt_stash(const Rt *rt, size_t offset); /* in the slot of the micro-batch being enqueued */

/* Streams. What is enqueued on one runs in its order, and beside what the others have: COMMUNICATION,
 * what ranks exchange while they compute; SIDE, kernels and products that COMPUTE waits for at the end
 * of an entry alone, as gradients of weights; COPY, batches on their way to the device. */
typedef enum {
    RT_STREAM_COMPUTE,
    RT_STREAM_COMMUNICATION,
    RT_STREAM_SIDE,
    RT_STREAM_COPY,
    RT_STREAMS
} RtStream;

/* What follows is enqueued on this stream; an entry begins and ends on the compute stream. */
void rt_on_stream(Rt *rt, RtStream stream);
/* What follows on the present stream waits for all that the other one has been given so far. So a wait
 * may stand ahead of a launch that does not need it: before the other stream is given more, for which
 * a later wait would be as well. */
void rt_wait_stream(Rt *rt, RtStream other);
/* Whether the micro-step being enqueued is its step's last one. Where it is not, the `launches` that
 * depend on it are left out. */
bool rt_ends_step(Rt *rt, int launches);

/* Each enqueues on the present stream. `args` holds one pointer a kernel parameter. */
void rt_launch(Rt *rt, int kernel, RtGrid grid, void *args[]);
void rt_gemm(Rt *rt, int gemm, RtPtr a, RtPtr b, RtPtr c);
void rt_zero(Rt *rt, RtPtr to, size_t bytes);
void rt_copy(Rt *rt, RtPtr to, RtPtr from, size_t bytes); /* device to device */
/* In load alone: brings the parameter that STATE has another form of at `kept` from where its values
 * come from. Waits for what was enqueued. */
void rt_fetch(Rt *rt, RtPtr to, RtPtr kept);

/* In convert and merge alone: takes a dense matrix for the file of what the model is in the end, as
 * the tensor `part` of the linear whose weight is at `param`; where ranks share that out, the part
 * of this one. A weight that is gathered for each use is known by its share of the rank's piece.
 * Waits for what was enqueued, and for the other ranks. */
void rt_export(Rt *rt, RtPtr param, const char *part, RtPtr from, RtDtype dtype, int64_t rows,
               int64_t cols);
/* The same of what is whole on each of the ranks that share the weight out. */
void rt_export_whole(Rt *rt, RtPtr param, const char *part, RtPtr from, RtDtype dtype, int64_t rows,
                     int64_t cols);

/* Collectives of a group; its ranks enqueue them in the same order, and get the same bits.
 *   all_reduce      in place, the sum over the ranks of each of `count` elements
 *   all_gather      each rank's `count` elements, in the order of the ranks
 *   reduce_scatter  of the sums, each rank's `count` elements, in the order of the ranks
 *   broadcast       the first rank's `count` elements */
void rt_all_reduce(Rt *rt, RtGroup group, RtPtr at, int64_t count, RtDtype dtype);
void rt_all_gather(Rt *rt, RtGroup group, RtPtr to, RtPtr from, int64_t count, RtDtype dtype);
void rt_reduce_scatter(Rt *rt, RtGroup group, RtPtr to, RtPtr from, int64_t count, RtDtype dtype);
void rt_broadcast(Rt *rt, RtGroup group, RtPtr at, int64_t count, RtDtype dtype);

/* What a copy from card to card is a part of, for the report. */
typedef enum { RT_FOR_BROADCAST, RT_FOR_GATHER, RT_FOR_REDUCE, RT_PURPOSES } RtPurpose;

/* To `to` on this card what lies at `from` in STATE on card `card` of this process. */
void rt_peer_copy(Rt *rt, RtPurpose purpose, int card, RtPtr to, RtPtr from, size_t bytes);

/* Does nothing unless this step is dumped: then the rows of a [rows, cols] matrix (row_stride
 * elements apart) are copied out under `name`, after those of earlier calls of the same name. "grad"
 * is the run of all gradients, which are copied out one by one under their own names. */
void rt_observe(Rt *rt, const char *name, RtPtr from, RtDtype dtype, int64_t rows, int64_t cols,
                int64_t row_stride);

#define RT_LAUNCH(rt, kernel, grid, ...) rt_launch(rt, kernel, grid, (void *[]){__VA_ARGS__})
#define RT_GRID(...) ((RtGrid){__VA_ARGS__})

/* ---- tensors ------------------------------------------------------------------------------ */

/* LOAD: no number, in place of which the entry load puts one. */
typedef enum {
    RT_INIT_ZEROS,
    RT_INIT_ONES,
    RT_INIT_NORMAL,
    RT_INIT_UNIFORM,
    RT_INIT_LOAD
} RtInit;

struct RtConstant;

enum { RT_MOMENT_BLOCK = 256 };

/* Of a weight in few bits, what belongs to its codes: two in a byte, the first in its high half. */
typedef struct {
    const char *type;            /* "nf4", "fp4" */
    int64_t block, nested_block; /* codes with one absmax; absmax with one nested_absmax */
    /* In STATE. absmax: U8 codes; or F32, then there are no others. Those are F32. */
    size_t absmax, offset, nested_absmax;
    const struct RtConstant *map, *nested_map; /* what a code stands for */
    bool in_file; /* the model's files have the weight in this form, and load makes nothing */
} RtPacked;

/* Of all codes of a module each rank of the group has a piece, `bytes` at `piece` in STATE. Of them all
 * the weight's own begin at codes_first, and where absmax are codes theirs at absmax_first, else -1. */
typedef struct {
    RtGroup group;
    size_t piece;
    int64_t bytes, codes_first, absmax_first;
} RtCodePieces;

/* One parameter of the model. Copies of it that do not exist are RT_NOWHERE; all are in STATE.
 * Rank and shape are the file's. Where split[0] is not 0 memory holds the elements in another order:
 * the file's tensor seen as split, row-major; in memory those axes come in this order.
 * `weight` is what the step reads; where it is 16-bit and trained, `master` holds fp32 and is what
 * is saved. Gradient, exp_avg and exp_avg_sq have master_dtype and no row stride. */
typedef struct {
    const char *name; /* as in the Hugging Face or PEFT file it is read from and written to */
    int rank;
    int64_t shape[4];
    int64_t row_stride; /* elements between rows of `weight`; as long as a row when dense */
    RtDtype dtype;      /* of weight */
    RtDtype master_dtype;
    size_t weight, master, gradient, exp_avg, exp_avg_sq;
    /* exp_avg and exp_avg_sq are U8 codes, in the order of memory, and each run of RT_MOMENT_BLOCK of
     * the whole tensor has an F32 here, whoever has it: no rank's part or piece ends within one. */
    bool coded_moments;
    size_t exp_avg_absmax, exp_avg_sq_absmax;
    bool trained, adapter;
    RtInit init;       /* where no file gives a value */
    double init_scale; /* standard deviation, or bound of the uniform distribution */
    const char *base_name; /* of an adapter, what it is called in the model's files; or NULL */
    const char *no_zero_row; /* where no adapter is given: why no row may be all zeros; or NULL */
    bool buffer;       /* not trained, but written by micro_step */
    bool fetched; /* frozen; at `weight` is another form of it, which load makes: see rt_fetch */
    const RtPacked *packed; /* what form that is, where it is codes of few bits */
    const RtCodePieces *code_pieces; /* where these are, if not in their places; or NULL */
    int64_t split[4];
    int order[4];
    int64_t cols; /* with a split: elements in a row of `weight`; else a row is shape[rank-1] */
    /* The ranks that share it out along an axis of the file's tensor, in the order of their places;
     * with shard_runs of each of so many equal runs along it. 0: every rank has all of it. */
    RtGroup shard;
    int shard_axis, shard_runs;
    /* Not 0: master and moments are runs of all trained tensors, and each rank of the group has a
     * piece of them, to whose start the offsets point: of each section an equal part, of
     * piece_elements, which begins at element piece_at of the piece. The tensor begins at element
     * piece_first of its section. Of a frozen one `weight` points to one. Pieces of moments in codes
     * have the first coded_elements of the program alone, those of moments in numbers all others. */
    RtGroup pieces;
    int64_t piece_first, piece_elements, piece_at;
    bool gradient_in_pieces; /* so is the gradient */
} RtParam;

/* An I32 of STATE that tells a rank its place in a group. */
typedef struct {
    RtGroup group;
    size_t offset;
} RtPlace;

/* Numbers known when the program was generated, put into STATE once at start. */
typedef struct RtConstant {
    const char *name;
    RtDtype dtype;
    int64_t count;
    size_t offset; /* in STATE */
    const double *values;
} RtConstant;

/* One input of a batch, filled by the loader under its name; tokens: rows of the loss:
 *   input_ids   I32 [tokens]
 *   labels      I32 [tokens]  the token to predict at each place (already shifted); -100: ignored
 *   positions   I32 [tokens]  restart at 0 where a sample starts; attention never crosses a start
 *   loss_weight F32 or F64 [1]  1 / (target tokens of the whole step, all micro-steps and ranks);
 *               of pairs 1 / (pairs of the whole step)
 *   target_rows   I32 [max_target_tokens]  the places that have a target, in order; then -1
 *   target_places I32 [tokens]  the inverse: index in target_rows, -1 without a target
 *   sequence    I32 [tokens]  where pairs are packed or shared: the sequence that a place belongs to,
 *               -1: none; those of pair k of entry b are 2 (b packed + k) and the next
 *   sample_positions I32 [tokens]  of shared pairs: a place's position in its part of the row,
 *   prefix      I32 [tokens, 2]  beside which it sees these of the row's places: the first,
 *               one past the last
 *   reference_nll F32 or F64 [batch * 2, times `packed`]  of pairs: each sequence's negative
 *               log-probability by the weights that training began with
 *   first_row   I32 [1]  index in the step's global batch of this batch's first token
 * with images, where a row is one image (seq_len 1) and labels are its class, -100: padding:
 *   pixels      U8 [tokens * height * width * channels], channels last; or, where the host decodes, a
 *               float [tokens * out_size * out_size * out_channels], as RtImages.planes says
 *   indices     I32 [tokens]  the image's place in RtData.dataset, instead of pixels
 *   boxes       I32 [tokens * 5]  top, left, height and width of the part of the image that training
 *               sees, and whether it is mirrored (0 or 1); of held-out images zeros, which nobody reads
 */
typedef struct {
    const char *name;
    RtDtype dtype;
    int64_t count;
    size_t offset; /* in INPUT */
} RtInput;

/* An output of one launch of an entry, so that a bad value can be named: `launch` counts the
 * rt_launch/rt_gemm/rt_zero/rt_copy/rt_peer_copy calls and collectives of that entry from 0.
 * Sorted by launch. */
typedef struct {
    int launch;
    const char *name;
    RtAt at;
    RtDtype dtype;
    int64_t rows, cols, row_stride; /* elements */
} RtOutput;

/* A function that enqueues one whole entry graph; it never waits. All of it has ended when the compute
 * stream has. */
typedef struct {
    void (*enqueue)(Rt *rt); /* NULL where the program has no such entry */
    const RtOutput *outputs;
    int output_count;
    int launches; /* kernels, GEMMs, memsets, copies and collectives that it enqueues or leaves out */
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

/* The rank's part of the model is stage `stage` of as many as RT_AXIS_PIPELINE has ranks. Micro-batch m
 * has slot m % slots of STASH. Exchanges that follow each other in the schedule begin together. */
typedef struct {
    int stage, slots;
    const RtAction *schedule; /* of a step, but for the update */
    int action_count;
    RtTransfer received, sent, received_gradient, sent_gradient;
} RtPipeline;

/* ---- the training state that host and device share ----------------------------------------- */

/* Offsets in STATE, which is all zeros before the host puts anything there (bad_step becomes -1).
 * "real" is F64 in an fp64 program, else F32. Tables are indexed by the device:
 * lr by `step`, the bias corrections by `applied`. A step with a non-finite gradient norm applies
 * no update: `step` advances, `applied` does not, and `bad_step` (-1 before) becomes its index. */
typedef struct {
    size_t seed;             /* I64 [1] */
    size_t step;             /* I32 [1] steps done */
    size_t applied;          /* I32 [1] updates applied */
    size_t bad_step;         /* I32 [1] */
    size_t lr;               /* real [steps] */
    size_t bias_correction1; /* real [steps]  1 - beta1^(applied+1); RT_NOWHERE, as the next one,
                              * where the update has none */
    size_t bias_correction2; /* real [steps]  sqrt(1 - beta2^(applied+1)) */
    size_t loss;             /* real [steps]  mean over the step's target tokens */
    size_t grad_norm;        /* real [steps]  before clipping */
    size_t step_loss;        /* real [1] of the step under way */
    size_t eval_loss; /* real [1] sum over targets since the host zeroed it; evaluation batches
                              * come with loss_weight 1 */
} RtCounters;

/* A figure beside the held-out loss: a sum over targets, zeroed and read as eval_loss is. Where
 * training has it too, there are the sum of the step under way and what steps came to. */
typedef struct {
    const char *name; /* "top1" */
    size_t offset;    /* real [1] in STATE */
    bool each_step;
    size_t step_sum, history; /* real [1], real [steps] */
} RtMetric;

/* A dynamic loss scale, which the device keeps as torch.amp.GradScaler does: gradients are those of
 * loss times scale, a step whose gradient norm is not finite applies no update and is no reason to
 * stop (bad_step stays -1). Offsets in STATE. */
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
    RT_SCHEDULE_STEP /* times gamma every step_size steps after the warm-up */
} RtSchedule;

typedef struct {
    const char *plural, *brief, *rate; /* "tokens", "tok" a second, the report's "tokens_per_s" */
} RtUnit;

typedef struct {
    int64_t batch;   /* entries of a micro-step, */
    int64_t seq_len; /* each of so many places */
    int64_t micro_steps, steps, log_every;
    int64_t early_steps; /* the first so many run early_micro_step instead of micro_step */
    int64_t seed;
    double lr, beta1, beta2;
    RtSchedule schedule;
    int64_t warmup_steps;
    double min_lr_factor;
    int64_t step_size;
    double gamma;
    int64_t eval_every; /* steps between evaluations; 0: only before and after training */
    RtUnit unit;        /* what a batch has batch * seq_len of */
    bool cuda_graph;    /* capture the step; else enqueue it anew each time */
    bool overlap;       /* copy batches on a stream of their own; else between the steps */
    /* A kernel behind another one is launched while that one ends; each begins by waiting for the end
     * (grid_dependency_synchronize). */
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

/* A raw image is bytes [height, width, channels]: as IDX files have it; what a folder's files are
 * resized to. The model sees out_size x out_size x out_channels of (value / 255 - mean) / std, resized
 * bilinearly; one channel is repeated where it wants three. */
typedef struct {
    int64_t height, width, channels;
    int64_t out_size, out_channels;
    int64_t classes;
    const double *mean, *std; /* [out_channels] */
    bool decode_on_host;      /* `pixels` is what the model sees; else raw images */
    bool planes;              /* what it sees is [channels, height, width]; else as raw images */
    bool skip_broken;         /* images that cannot be decoded are left out; else an error */
    bool decode_scaled;       /* JPEG files in 1/2, 1/4 or 1/8 of their size, where that will do */
    bool random_resized_crop; /* training sees a random part, of these shares of the area and */
    const double *crop_scale, *crop_ratio; /* [2] ratios of width to height; least and largest */
    bool crop_pictures;                    /* of the whole picture, by the host, with antialias */
    double random_horizontal_flip;         /* probability that it is mirrored */
    /* Held-out images are resized to this, of which the model sees what begins at top, left; 0: to
     * out_size x out_size. */
    int64_t eval_height, eval_width, eval_top, eval_left;
} RtImages;

/* An entry of a batch is two sequences of seq_len places, the first preferred to the second: together
 * they are one target, and RtTraining.seq_len counts both. Shared: both lie in seq_len places, what
 * they begin with once. */
typedef struct {
    int64_t seq_len;
    int64_t packed;     /* so many at most share the two rows, or the one; 0: one has them */
    bool shared;
    bool drop_overlong; /* a pair that is longer is left out; else ends of its sequences are */
    /* Where the program has the entry `reference`: what that makes, and what it goes by beside data
     * and weights, lines "precision.dtype = "bf16"". */
    size_t
        made; /* real [batch * 2, times `packed`] in STATE: a sequence's negative log-probability */
    const char *facts;
} RtPairs;

/* What the device keeps of the data, all samples as they are stored: those to train on, then those
 * held out in files of their own. */
typedef struct {
    int64_t samples, sample_bytes;
    size_t offset; /* [samples * sample_bytes] in STATE */
} RtDataset;

typedef struct {
    RtDataFormat format;
    const char *const *train; /* files, folders or globs, relative to the working directory */
    int train_count;
    const char *const *validation; /* none: eval_fraction of train is held out */
    int validation_count;
    double eval_fraction;
    int64_t eval_batches;
    int64_t vocab_size;
    int64_t max_target_tokens; /* a micro-step never has more; 0: no limit */
    int64_t prefetch_batches;
    int64_t num_workers; /* threads that prepare them; 0: the loop itself, none ahead */
    bool packing, shuffle, pin_memory;
    bool numa_bind;           /* threads and host memory stay on the card's NUMA node */
    const RtImages *images;   /* NULL: tokens */
    const RtPairs *pairs;     /* NULL: no pairs */
    const RtDataset *dataset; /* NULL: each batch is sent */
} RtData;

typedef struct {
    int64_t interval; /* steps; 0: only at the end and at a signal */
    int64_t keep_latest_k;
    bool export_model;
    bool export_base;         /* frozen weights too, those that have it in their packed form */
    const char *init_dir;     /* where weights are read without --init; NULL: from scratch */
    const char *config_json;  /* config.json of the model, as text */
    const char *adapter_json; /* adapter_config.json, as text; NULL without an adapter */
} RtCheckpoint;

typedef struct {
    bool enabled, trace;
    int64_t start_step, steps;
} RtProfiling;

/* What a step exchanges between cards, by the name that report.json has for its kind. */
typedef struct {
    const char *name;
    int64_t count, bytes; /* as those of what is measured: of this rank, or of all cards of a process */
} RtPlannedExchange;

/* Predictions of the plan, reported beside what is measured. Times are in ms a step. */
typedef struct {
    const char *device;
    double iteration_ms;
    size_t arena_bytes, process_bytes;
    size_t decoded_bytes;   /* of weights that stay decoded from forward to backward */
    double flops;           /* of one step, recomputation left out */
    double peak_flops;      /* a second, at the step's precision */
    double h2d_bytes;       /* a step */
    double kernel_launches; /* a step */
    const RtPlannedExchange *exchanges; /* a step */
    int exchange_count;
} RtPredicted;

struct RtProgram {
    const char *name; /* of the experiment */
    const char *spec_sha256;
    const char *generator; /* name and version */
    int mesh[RT_AXES];     /* ranks along each axis; 0 is one */
    const RtGroup *groups; /* that need a communicator */
    int group_count;
    int cards;                     /* that this one drives; 0 is one */
    size_t replica_state_bytes;    /* of STATE, on all cards but the first */
    double comm_timeout_s;         /* that one rank waits for another; 0: 600 */
    RtDtype real;                  /* F64 or F32: the dtype of losses, norms and tables */
    const char *precision;         /* as in the spec: "bf16", ... */
    size_t arena_bytes[RT_ARENAS]; /* INPUT: of one slot */
    const RtKernel *kernels;
    int kernel_count;
    const RtGemm *gemms;
    int gemm_count;
    size_t gemm_workspace, gemm_workspace_bytes; /* in SCRATCH */
    size_t gemm_side_workspace;                  /* of the side stream, as large */
    const RtParam *params;
    int param_count;
    int64_t piece_elements; /* of masters and moments that ranks share out; 0: they do not */
    int64_t coded_elements; /* of these the first have moments in codes, the others in numbers */
    const RtConstant *constants;
    int constant_count;
    const RtPlace *places;
    int place_count;
    const RtInput *inputs;
    int input_count;
    RtCounters counters;
    const RtMetric *metrics;
    int metric_count;
    const RtLossScale *loss_scale; /* NULL: there is none */
    /* load runs once, after the weights arrived. A step is micro_step, micro_steps times, then
     * update; the last micro_step and update are one graph. With one micro-step gradients are
     * overwritten, with several they are added up from the zeros that update leaves. Of several
     * cards all run micro_step, on batches of their own; before it all but the first run
     * replicate, after it the first runs collect. A stage of a pipeline has forward and backward
     * instead of micro_step. Before training, reference says of each batch of pairs what training
     * compares itself with. convert runs once, behind training: it exports what the model is in the
     * end, and evaluate_converted is evaluate with that. */
    RtEntry load, replicate, micro_step, forward, backward, collect, update, evaluate, reference;
    RtEntry convert, evaluate_converted;
    RtEntry early_micro_step;
    RtEntry merge;        /* runs where --merge asks for it, after the last step */
    const char *unmerged; /* why an adapter cannot be merged; NULL: it can, or there is none */
    const RtPipeline *pipeline; /* NULL: the program is the whole model */
    RtTraining training;
    RtData data;
    RtCheckpoint checkpoint;
    RtProfiling profiling;
    RtPredicted predicted;
};
typedef struct RtProgram RtProgram;

/* Exit codes: 0 done, 1 error, 75 stopped by a signal and resumable. */
int rt_main(const RtProgram *program, int argc, char **argv);

#endif
