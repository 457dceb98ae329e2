/* The compiler's intermediate form: a Program of Graphs of Ops over Values.
 *
 * A Value is a view: a place in a Storage, with a static shape, a dtype and a role. Ops read and
 * write Values; a Value has at most one producer in a graph (in-place ops write a new Value over
 * the same place). Matrices are row-major, the last dimension dense, rows possibly strided; or they
 * lie in planes (see Value.plane), dense.
 *
 * Shapes follow PyTorch's rules of broadcasting over [rows, cols]: [R,C] is a matrix, [R,1] one
 * number a row, [C] one number a column, [1] a scalar.
 *
 * Everything lives in the Program's arena and is never freed singly. */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/strbuf.h"
#include "graph/entries.h"
#include "graph/mesh.h"

typedef enum {
    DT_F64,
    DT_F32,
    DT_F16,
    DT_BF16,
    DT_I64,
    DT_I32,
    DT_U8,
    DT_I8,
    DT_F8_E4M3, /* torch's float8_e4m3fn; no value has it so far, but some are rounded to it */
    DT_COUNT
} DType;

int dtype_bytes(DType);
const char *dtype_name(DType); /* "f64", "bf16", ... as in safetensors, in lower case */

/* Who owns the bytes and how long they live.
 * INPUT is filled by the host before a micro-step; FROZEN, WEIGHT and ADAPTER are parameters (the
 * last two train), and so is BUFFER, which micro_step writes and nothing trains, as a module's buffers
 * in torch; CONSTANT is known to the compiler; COUNTER is training state such as the step; ACTIVATION
 * lives inside one entry graph; STASH from a micro-batch's forward to its backward, where these are
 * entries of their own. */
typedef enum {
    ROLE_INPUT,
    ROLE_FROZEN,
    ROLE_WEIGHT,
    ROLE_ADAPTER,
    ROLE_BUFFER,
    ROLE_CONSTANT,
    ROLE_DATASET,
    ROLE_COUNTER,
    ROLE_GRADIENT,
    ROLE_OPTIMIZER,
    ROLE_ACTIVATION,
    ROLE_STASH,
    ROLE_COUNT
} Role;

const char *role_name(Role);
bool role_persistent(Role); /* outlives an entry */

typedef struct Op Op;

typedef struct Value Value;

/* Bytes that get one place in an arena. */
typedef struct {
    int id;
    const char *name;
    Role role;
    int64_t bytes;
    Value *views; /* all values that lie in it, newest first */
} Storage;

enum { MAX_RANK = 4, MAX_OPERANDS = 16, MAX_RESULTS = 6 };
enum { BOX_NUMBERS = 5 }; /* of image_input: top, left, height, width, mirrored */

struct Value {
    int id;
    const char *name; /* dotted, as in Hugging Face: "model.layers.0.mlp.gate_proj.weight" */
    Storage *storage;
    int64_t offset; /* elements of dtype from the storage's start */
    int rank;
    int64_t dim[MAX_RANK];
    int64_t row_stride; /* elements from a row (second last index) to the next */
    int64_t plane;      /* 0: row after row; else so many rows lie column after column, and behind
                         * them the next as many: images [n,c,h,w], seen as rows n,h,w of columns c */
    DType dtype;
    Role role;
    Pos pos;            /* the spec line it comes from */
    const double *data; /* of a CONSTANT, value_elements() of them; else NULL */
    Value *next_view;   /* of the same storage */
};

int64_t value_elements(const Value *);
int64_t value_rows(const Value *);  /* all dimensions but the last; 1 for rank 1 */
int64_t value_cols(const Value *);  /* the last dimension */
int64_t value_bytes(const Value *); /* elements x size, stride not counted */
bool value_dense(const Value *);
bool value_trains(const Value *); /* WEIGHT or ADAPTER */
/* Elements from the value's first to the one at row and col. */
int64_t value_index(const Value *, int64_t row, int64_t col);
bool value_same_place(const Value *, const Value *);
bool value_same_view(const Value *, const Value *); /* the same place, as the same dtype */
bool value_overlaps(const Value *, const Value *);  /* may share a byte; same storage only */

/* The bytes of a storage from a value's first to behind its last, those between its rows included. */
typedef struct {
    int64_t first, end;
} ByteSpan;

ByteSpan value_span(const Value *);
bool spans_meet(ByteSpan, ByteSpan);

/* "q_proj" of model.layers.0.self_attn.q_proj. */
const char *name_last_part(const char *dotted);

/* ---- ops ------------------------------------------------------------------------------------ */

/* One row an op, in ops.h. Stages: S semantic (before lower), K kernel (after it). */
typedef enum {
#define OP(name, ...) OP_##name,
#include "graph/ops.h"
#undef OP
    OP_COUNT
} OpKind;

typedef enum { PAIR_SIGMOID, PAIR_IPO, PAIR_HINGE, PAIR_ROBUST } PairLoss;

/* A square window that slides over images; window.h says the rest. */
typedef struct {
    int64_t height, width; /* of the images that come in */
    int64_t kernel, stride, padding;
} Window;

/* A part of an image that is height x width. */
typedef struct {
    int64_t height, width, top, left;
} Crop;

/* What a copy from card to card is a part of. */
typedef enum { FOR_BROADCAST, FOR_GATHER, FOR_REDUCE, PURPOSE_COUNT } Purpose;

const char *purpose_name(Purpose); /* "broadcast" */

/* What a tensor is of the linear that it is exported for. */
typedef enum { PART_WEIGHT, PART_SCALES, PART_ZEROS, PART_COUNT } TensorPart;

const char *part_name(TensorPart); /* "scales" */

/* Numbers and flags that complete an op's meaning; each family file says which it reads. */
typedef struct {
    double alpha; /* scale, matmul: the factor (1 where unused) */
    double eps, beta1, beta2, weight_decay, max_norm;
    double momentum;        /* sgd, batch_norm_stats: as torch has them */
    double rate;            /* dropout: the share that is left out */
    double label_smoothing; /* cross_entropy, pair losses */
    double beta;            /* pair losses, with pair_loss */
    PairLoss pair_loss;
    double growth, backoff; /* update_scale, with interval */
    int64_t interval;
    int64_t head_dim, heads, kv_heads, seq_len;
    Window window;                 /* convolutions and pools */
    int64_t rows;                  /* reshape: of the result; others: see there */
    int64_t bits;                  /* fake_quant_*: of a code */
    int64_t span;                  /* of blocks that ranks share out: see ops_quantize.c */
    int64_t plane;                 /* of the result, where no operand tells it; see there */
    int64_t out_height, out_width; /* image_input: of the result */
    Crop crop;  /* the same: where the result lies in the image made this large */
    bool boxed; /* the same: the last operand says where, image by image */
    bool one_row; /* packed sums: a pair's sequences lie in one row */
    bool transpose_a, transpose_b; /* matmul */
    int64_t zeros; /* linear, matmul: elements of the second operand that are always zero */
    bool nesterov;                 /* sgd */
    bool accumulate; /* result += instead of = ; the result's old content is an operand */
    RankGroup group; /* collectives: who takes part; export: who has the same */
    int64_t chunks;  /* all_gather, reduce_scatter: see there; 0 is 1 */
    uint32_t stream; /* dropout: hash of the op's stable name, keys the random numbers */
    int64_t card;    /* peer_copy: whose operand it is; */
    Purpose purpose; /* what the copy is a part of */
    TensorPart part; /* export */
} Attr;

/* Of which part of a step an op of micro_step is, as the mark_backward pass finds it. RECOMPUTE: a
 * clone of one of forward, made to save memory, never merged with its original. */
typedef enum { PHASE_FORWARD, PHASE_RECOMPUTE, PHASE_BACKWARD } Phase;

struct Op {
    int id;
    OpKind kind;
    Phase phase;
    const char *name; /* stable, for people: "model.layers.0.mlp.act" */
    Value *in[MAX_OPERANDS];
    int in_count;
    Value *out[MAX_RESULTS];
    int out_count;
    Attr attr;
    Pos pos;
    bool ends_step;      /* of micro_step: runs in the last one of a step alone */
    bool apart;          /* no kernel of other ops has it: what waits for it is to wait for no more */
    bool with_gradient;  /* of forward, but computed in the visit that makes gradients of it */
    int written;         /* as which op, from 1, before runs of rows stood beside each other; or 0 */
    Op *after;           /* control edge: not before this op (may be NULL) */
    const Value *sums;   /* of update: the gradients that ranks sum up by it; NULL: it is of no sum */
    const char *observe; /* dump out[0] under this name (rt_observe), or NULL */
    Value *observed;     /* what is dumped in its place; or NULL */
};

typedef struct {
    const char *name; /* "micro_step" */
    Op **ops;         /* in a valid order */
    int op_count, op_capacity;
} Graph;

/* Of a weight that is kept in few bits, what belongs to its codes: see Param.stored. */
typedef struct {
    const char *type;            /* "nf4", "fp4" */
    int64_t block, nested_block; /* codes with one absmax; absmax with one nested_absmax */
    Value *absmax, *map;
    Value *offset, *nested_absmax, *nested_map; /* NULL: absmax are numbers, no codes */
    bool in_file; /* the model's files have it in this form, and load makes nothing */
    /* Of codes that no rank has all of: those, and what a rank has of its module's, in which absmax
     * lie too where they are codes. NULL: they are in their place. */
    Value *codes, *piece;
} PackedForm;

/* A parameter and all that belongs to it. */
typedef struct {
    Value *weight; /* what the graphs read */
    Value *master; /* fp32 truth of a trained 16-bit weight; else the weight itself */
    Value *gradient, *exp_avg, *exp_avg_sq; /* NULL where frozen */
    Value *exp_avg_absmax, *exp_avg_sq_absmax; /* NULL: the moments are numbers, no codes */
    Value *stored; /* what STATE has in its place, while OP_fetch brings the weight; or NULL */
    Value *scales; /* of `stored`, where that is codes: whole on each rank; or NULL */
    const PackedForm *packed; /* of `stored`, where that is codes and files have such; or NULL */
    bool gathered; /* the weight itself has no place: what reads it is given a copy */
    Value *piece;  /* of a frozen one that is gathered: what a rank has of its module; or NULL */
    /* Not 0: master and moments are runs of all trained tensors, and each rank of the group has a
     * piece of them: of each section an equal part, of piece_elements, which begins at element
     * piece_at of the piece. The tensor begins at element piece_first of its section. */
    RankGroup pieces;
    int64_t piece_first, piece_elements, piece_at;
    bool gradient_in_pieces; /* so is the gradient */
    const char *file_name;   /* name in the safetensors file */
    const char *base_name;   /* where an adapter's files have it, its name in the model's; or NULL */
    uint32_t name_hash;      /* its stable_hash, which program_add_param sets */
    enum { INIT_ZEROS, INIT_ONES, INIT_NORMAL, INIT_UNIFORM, INIT_LOAD } init; /* LOAD: no number,
                              * in place of which load puts one */
    double init_scale;
    const char *no_zero_row; /* where no adapter is given: why no row of it may be all zeros; or NULL */
    /* Where memory holds the file's elements in another order: the file's tensor seen as split,
     * row-major; in memory those axes come in this order. The file's shape is split with its last
     * axes merged until file_rank are left. split[0] 0: shape and order are the weight's own. */
    int64_t split[MAX_RANK];
    int order[MAX_RANK];
    int file_rank;
    /* Ranks that share it out: each has its part along an axis of the weight, whose shape is the
     * part's; with shard_runs of each of so many equal runs along it. 0: every rank has all of it. */
    RankGroup shard;
    int shard_axis, shard_runs;
    /* Ranks that have the same weight, whose gradient is the sum of theirs. 0: each has all of that. */
    RankGroup partial;
} Param;

/* What the loss has a row for each of: in the plural, beside a number in a line, in reports. */
typedef struct {
    const char *plural, *brief, *rate; /* "tokens", "tok", "tokens_per_s" */
} Unit;

/* A figure beside the held-out loss: a scalar of `real` that evaluate adds its targets' shares to.
 * Where training has it too, micro_step adds to step_sum, and update keeps each step's in history. */
typedef struct {
    const char *name; /* "top1" */
    Value *sum;
    Value *step_sum, *history; /* [1], [steps,1]; or NULL */
} Metric;

enum { MAX_METRICS = 6 };

typedef struct {
    Value *seed, *step, *applied, *bad_step, *lr, *bias_correction1, *bias_correction2;
    Value *loss, *grad_norm, *step_loss, *eval_loss; /* the corrections: NULL without AdamW */
    Metric metrics[MAX_METRICS];
    int metric_count;
    Value *loss_scale, *growth_tracker, *skipped_steps; /* NULL without a loss scale */
} Counters;

/* What of the train state ranks share out: the stages of ZeRO, each with what the one before it has.
 * STATES are masters and moments. */
typedef enum { SHARED_NOTHING, SHARED_STATES, SHARED_GRADIENTS, SHARED_WEIGHTS } SharedState;

/* Where all of a section's weights are, for what reads them: in the run of all; beside 16-bit ones, of
 * those that are read as `real`, in a run that these have; or of SHARED_WEIGHTS in a buffer for each
 * use. */
typedef enum { WEIGHTS_IN_RUN, WEIGHTS_IN_REAL_RUN, WEIGHTS_IN_BUFFER } SectionWeights;

/* What lies together in the runs of what trains, of which each rank has an equal part. */
typedef struct {
    const char *name;        /* the module's, "model.layers.0" */
    int64_t first, elements; /* of the runs */
    Value *gradient; /* of SHARED_GRADIENTS: a buffer for what backward makes, until it is summed up */
    SectionWeights weights_are;
    Value *weight; /* all of it, where these are not in the run */
} Section;

/* Weights of a module, which no rank has all of for longer than they are used. */
typedef struct {
    const char *module;
    Value *whole; /* has no place: the gather_weights pass gives its readers a copy */
    Value *piece; /* what the rank keeps of it */
} Gathered;

/* Moments in 8 bits, of the tensors that come first in the runs: codes [B,256], and the absmax of each
 * row of them, [B,1]. */
typedef struct {
    int64_t rows; /* of the runs; 0: none are */
    Value *exp_avg, *exp_avg_absmax, *exp_avg_sq, *exp_avg_sq_absmax;
} CodedMoments;

/* Rows of the runs with parameters of the same `shard` and `partial`, whose moments all are codes or
 * all are not. */
typedef struct {
    RankGroup shard, partial;
    bool coded;
    int64_t first, rows;
} TrainKind;

enum { TRAIN_KINDS = 12 };

/* All trained tensors at once, each kind one run of memory seen as [R,C]; all NULL unless
 * program_trains. weight is what the step reads; master is the same value, or its fp32 truth; there
 * are as many moments as the optimizer has. Kinds follow each other: first those that are coded, of
 * these and of the others first those with `shard`. */
typedef struct {
    SharedState shared;
    Value *weight, *master, *gradient, *exp_avg, *exp_avg_sq;
    CodedMoments coded; /* then exp_avg and exp_avg_sq are of the rows behind these */
    TrainKind kinds[TRAIN_KINDS];
    int kind_count;
    Section *sections; /* in order; none of SHARED_NOTHING */
    int section_count, section_capacity;
    Value *gradient_piece; /* of SHARED_STATES: a rank's sums, over what has gone out */
    int64_t piece; /* elements of the piece that a rank has of masters and moments; 0: all */
    int64_t coded_piece; /* of these the first, whose moments are codes */
} TrainState;

enum { STAGE_EXCHANGES = 4 };

/* Which part of a model the program is: what it receives of the stage before it and sends to the next.
 * The values, STASH, are NULL at the pipeline's ends; gradients also where nothing before trains.
 * Several activations that cross lie one behind the other; a gradient has the one that depends on what
 * trains. */
typedef struct {
    int64_t index, count; /* count 0 or 1: the program is whole */
    union {
        struct {
            Value *received, *sent;
            Value *received_gradient, *sent_gradient; /* of what is sent and of what is received */
        };
        Value *exchanged[STAGE_EXCHANGES]; /* all of these */
    };
    Value *trained;     /* the part of `received` whose gradient is sent; NULL: there is none */
    const char *begins; /* with which op: "model.layers.4.input_layernorm" */
    bool shares_ends;   /* the first stage and the last one train a weight that both have */
} PipelineStage;

/* A field of what the runtime's loader must know of a kind of data. */
typedef struct {
    const char *field;
    enum {
        SETTING_INT,
        SETTING_BOOL,
        SETTING_REAL,
        SETTING_REALS,
        SETTING_TEXT,
        SETTING_PLACE
    } kind;
    int64_t integer;
    double real;
    const double *reals; /* [count] */
    int count;
    const char *text;
    const Value *place; /* its offset in STATE */
} LoaderSetting;

typedef struct {
    const char *field, *type; /* "images", "RtImages": of RtData in runtime.h */
    LoaderSetting *items;
    int count, capacity; /* 0: there is nothing of the kind */
} LoaderSettings;

/* An I32 that tells a rank its place in a group. */
typedef struct {
    RankGroup group;
    Value *value;
} RankPlace;

enum { MAX_PLACES = 4 };

typedef struct Program {
    Arena *arena;
    DType real;               /* F64 in an fp64 experiment, else F32: losses, norms, optimizer */
    DType activation;         /* dtype of activations and GEMM operands */
    bool keeps_decoded;       /* backward may read weights as forward decoded them */
    bool tf32;                /* GEMMs and tensor-core attention round fp32 operands */
    Graph entry[ENTRY_COUNT]; /* op_count 0: the program has no such entry */
    Storage **storages;
    int storage_count, storage_capacity;
    Value **values;
    int value_count, value_capacity;
    Param *params;
    int param_count, param_capacity;
    Counters counters;
    TrainState train;
    RankPlace places[MAX_PLACES];
    int place_count;
    PipelineStage stage;
    Gathered *gathered;
    int gathered_count, gathered_capacity;
    Graph ungathered, ungathered_backward; /* micro_step and backward before the gathering */
    struct Recomputation *recomputation; /* of micro_step; NULL: nothing is made again so far */
    Value *dataset;   /* what the host writes once, before load; NULL: nothing */
    LoaderSettings loader;
    const char *feeding;       /* how a batch reaches the device, and why; NULL: there is one way */
    Value *loss_of_micro_step; /* scalar that the model builder ends in; of a stage before the last
                                * what it sends; autodiff starts here */
    Value *loss_gradient;      /* what backward starts from: the constant 1 */
    int64_t tokens;            /* rows of a micro-step: batch x seq_len */
    bool segmented;            /* samples may begin, or padding, where only data knows */
    Unit unit;                 /* what such a row is */
    int64_t seq_len, micro_steps, steps, early_steps;
    Mesh mesh;                /* ranks that train together; each has micro_steps of its own */
    int64_t cards;            /* that this one drives, each with micro-steps of its own */
    const char *config_json;  /* config.json of the model, as text; exports carry it */
    const char *adapter_json; /* adapter_config.json of what was added to it; NULL: nothing */
    const char *unmerged;     /* why there is no entry that merges the two; NULL: there is one */
} Program;

Program *program_new(Arena *);

/* A new storage with one dense Value that fills it. */
Value *value_new(Program *, const char *name, Role, DType, int rank, const int64_t *dim, Pos);
/* All of a storage, as one row. */
Value *value_whole(Program *, Storage *);
Value *value_2d(Program *, const char *name, Role, DType, int64_t rows, int64_t cols, Pos);
Value *value_1d(Program *, const char *name, Role, DType, int64_t cols, Pos);
/* Views of the same storage. */
Value *value_columns(Program *, Value *, int64_t first, int64_t count, const char *name);
Value *value_row_range(Program *, Value *, int64_t first, int64_t count, const char *name);
/* The same elements in the order in which they lie, row-major; dense only. */
Value *value_reshaped(Program *, Value *, int64_t rows, int64_t cols);
Value *value_alias(Program *, Value *, const char *name); /* same place: result of an in-place op */
/* The same view of another storage, which `to` fills. */
Value *value_elsewhere(Program *, const Value *, const Value *to);
/* A STASH of its own, shaped as the other. */
Value *value_stash(Program *, const Value *like, const char *name);
void value_set_role(Value *, Role); /* of all of its storage */
/* A dense part of a dense value, `offset` elements from its start, in a shape of its own. */
Value *value_at(Program *, Value *, int64_t offset, int rank, const int64_t *dim, const char *name);

/* Appends an op; results are made by the op's shape rule, as activations of program->activation
 * (or what the rule says). Operand mistakes are internal faults. */
Op *op_add(Program *, Graph *, OpKind, const char *name, Value *const *in, int in_count, Attr, Pos);
/* As op_add with results given. */
Op *op_add_into(Program *, Graph *, OpKind, const char *name, Value *const *in, int in_count,
                Value *const *out, int out_count, Attr, Pos);
/* Those of the entries that hold forward of the model, some of them empty, NULL behind the last: a pass
 * that rewrites forward does so in each. */
Graph *program_forward(Program *, int i);
/* The last op that does this with v; internal fault: none. */
Op *graph_last(const Graph *, bool (*does)(const Op *, const Value *), const Value *v);
Op *graph_producer(const Graph *, const Value *); /* NULL: made outside this graph */
Op *graph_find(const Graph *, OpKind);            /* the first of the kind, or NULL */

/* Who makes and who reads each value, for passes that ask of many. Holds until the graph's ops change;
 * values that are newer have no use. */
typedef struct {
    const Graph *graph;
    int value_count;
    Op **maker;  /* by id of the value; NULL: made outside this graph */
    Op **reader; /* of value i, as the graph orders them: reader[first[i]] to before first[i + 1] */
    int *first;
} GraphUses;

GraphUses uses_find(Arena *, const Program *, const Graph *);
Op *use_maker(const GraphUses *, const Value *);
/* The readers, and how many. */
Op *const *use_readers(const GraphUses *, const Value *, int *count);

bool op_reads(const Op *, const Value *);
/* Whether it reads, or writes, what may share a byte with v. */
bool op_reads_part(const Op *, const Value *v);
bool op_writes_part(const Op *, const Value *v);
/* Makes it read `to` wherever it reads `from`. */
void op_read_instead(Op *, const Value *from, Value *to);
/* Appends an op that was made before. */
void graph_add(Program *, Graph *, Op *);
/* Replaces the graph's op list; ops must come from it or be new. */
void graph_set_ops(Program *, Graph *, Op **ops, int count);
/* Whether all values of v's storage lie exactly where v does, alone and dense; moving them, with v,
 * to the place of another value of the same shape. What sees v in another shape stays dense. */
bool value_can_move(const Value *v);
/* The same of one in which views of its columns lie, which go with it to rows that have a stride. */
bool value_can_stride(const Value *v);
/* Whether w, of the same dtype, begins where v ends: its columns in the same rows; its rows, where both
 * are dense. */
bool value_columns_follow(const Value *v, const Value *w);
bool value_rows_follow(const Value *v, const Value *w);
void value_move(Value *v, const Value *to);
/* Moves v, with all of its storage, behind the end of `run`, which fills its own; both, as one. */
Value *value_join(Program *, Value *run, Value *v, const char *name);
void program_add_gathered(Program *, Gathered);
const Gathered *program_gathered(const Program *, const Value *); /* what it lies in; NULL: nothing */
void program_add_param(Program *, Param);
Param *program_param(Program *, const Value *weight);          /* NULL: not a parameter */
bool program_trains(const Program *); /* something does, and so there is a train state */
/* What STATE has of it all: `stored`, `piece` or the weight; NULL: nothing. */
const Value *param_place(const Param *);
Value *program_weight(const Program *, const char *file_name); /* NULL: none of that name */
Value *program_place(Program *, RankGroup); /* where a rank reads its place in the group */

/* Every operand is produced earlier in the same graph or is persistent or an input, shapes obey
 * the op's rule, no value is written twice, nobody reads what an in-place op has overwritten, each
 * op is allowed at this stage. A violation is an internal fault that names `where`. */
typedef enum { STAGE_SEMANTIC = 1, STAGE_KERNEL = 2 } Stage;
void program_verify(const Program *, Stage, const char *where);

/* Stable text, for --dump and the golden tests. */
void program_print(const Program *, StrBuf *);

uint32_t stable_hash(const char *text); /* FNV-1a, 32 bits */

#endif
