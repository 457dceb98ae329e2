/* Tensor parallelism (Megatron-LM; Shoeybi et al., arXiv 1909.08053): ranks of a group work on the
 * same batch and share out the columns of the values inside attention and MLP, and with them the
 * weights.
 *
 * Requires forward graphs only, after adapters. It works by structure (pass/tensor_regions.c): where
 * linears follow each other with only ops between them that keep columns (channels, heads) apart,
 * the first are split by rows of their weights, and the last by columns. A convolution is a linear
 * in this: its rows are output channels, its columns input channels. The input of the first linears
 * is spread: every rank has it, and its gradient is summed. The result of the last linears is an
 * addend on each rank, and an all_reduce makes the sum. Parameters that ops between them read, such
 * as biases, a norm's or the filters of a depthwise convolution, are split like the columns that
 * they belong to.
 *
 * So attention, MLPs and MobileNet's inverted residuals are split inside, and between blocks each
 * rank has whole rows. The values between ResNet's blocks are larger than those inside: in layer1
 * and layer3, ranks share out the sum that blocks add to, and its readers' results are the addends.
 *
 * A low-rank path is split with its linear: for a first linear, A stays whole and B is split by
 * rows; for the last one, A is split by columns and B stays whole. An op that scales columns is
 * split after a first linear, and scales the addends after the last one. Gradients of weights that
 * stay whole in these places are summed before the update.
 *
 * If there are more ranks than key heads, all ranks whose query heads read the same key head have
 * it: it is sharded only over GROUP_KEYS, and the gradient of its weights is summed over
 * GROUP_SAME_KEYS. The graph is the same on all ranks; only files, dropout and random initial
 * weights depend on a rank's place. */
#include "base/rounding.h"
#include "graph/op_table.h"
#include "pass/pass.h"
#include "pass/tensor.h"

/* What each rank has of a value: all of it; some of its columns; an addend of it. */
typedef enum { WHOLE, COLUMNS, ADDENDS } Share;

/* What becomes of a value. */
typedef struct {
    Share share;
    Value *sum;    /* of the addends, for readers; NULL: not made yet */
    Value *spread; /* likewise; the value itself if it is computed from spread ones */
} Held;

/* Which columns an op makes. */
typedef struct {
    bool keys; /* of key heads: keys or values */
    int runs;  /* adjacent parts, of each of which a rank has some columns; 0: one part */
} Columns;

/* Place on the low-rank path of a linear that is split by rows; its first op reads the linear's
 * input. */
typedef enum { NO_PATH, ON_PATH, FIRST_OF_PATH } Path;

/* What becomes of an op. */
typedef struct {
    bool split;      /* by columns of its result */
    Columns columns; /* if split */
    Path path;
    bool ahead; /* it reads spread values, like the split linears and paths that read its result */
} Fate;

typedef struct {
    Program *program;
    Graph *graph;
    GraphUses uses; /* before anything is split */
    Pos pos;
    Fate *fate; /* by op id */
    Held *held; /* by value id */
    int values; /* number of values that have an entry in `held` */
} Split;

/* ---- what to split --------------------------------------------------------------------------- */

/* The columns of the op's operand i, if the op makes the columns `of`. */
static Columns columns_ahead(const Op *op, int i, Columns of) {
    if (op->kind == OP_attention)
        of.keys = i > 0;
    else if (op->kind == OP_split_columns)
        of.runs = (int)op->attr.rows;
    return of;
}

/* Finds which columns the split ops make, from the ops that read them. */
static void find_columns(Split *s) {
    for (int i = s->graph->op_count - 1; i >= 0; i--) {
        const Op *op = s->graph->ops[i];
        Operands ahead = tensor_columns(op);
        for (int k = ahead.end - 1; s->fate[i].split && k >= ahead.first; k--)
            if (!tensor_is_param(op->in[k]))
                s->fate[use_maker(&s->uses, op->in[k])->id].columns =
                    columns_ahead(op, k, s->fate[i].columns);
    }
}

/* Whether the op ends a low-rank path. Other linears that accumulate read a frozen weight. */
static bool ends_path(const Op *op) {
    return op->kind == OP_linear && op->attr.accumulate && value_trains(op->in[1]);
}

/* Marks the low-rank path that ends in `up`; it reads the same input as the linear it adds to. */
static void mark_path(Split *s, const Op *up) {
    const Op *base = up, *op = graph_producer(s->graph, up->in[0]);
    while (base->attr.accumulate)
        base = graph_producer(s->graph, op_so_far(base));
    for (; op && (op->kind == OP_linear || op->kind == OP_dropout);
         op = graph_producer(s->graph, op->in[0])) {
        bool first = op->in[0] == base->in[0];
        s->fate[op->id].path = first ? FIRST_OF_PATH : ON_PATH;
        if (first)
            return;
    }
    ENSURE(false, "%s adds to %s but comes from elsewhere", up->name, base->name);
}

/* What v is computed from by dropout and scaling. */
static const Value *source_of(const Split *s, const Value *v) {
    const Op *op = graph_producer(s->graph, v);
    for (; op && (op->kind == OP_dropout || op->kind == OP_scale); op = graph_producer(s->graph, v))
        v = op->in[0];
    return v;
}

/* Whether the op reads its input spread, because only split linears and their paths read its
 * result. A sum of several values, such as a residual's, is spread itself: that takes one sum of
 * gradients instead of several. */
static bool is_split_ahead(const Split *s, const Op *op) {
    bool of_one = op->kind == OP_add && source_of(s, op->in[0]) == source_of(s, op->in[1]);
    if (s->fate[op->id].split || (op->kind != OP_dropout && op->kind != OP_scale && !of_one))
        return false;
    int count;
    Op *const *reader = use_readers(&s->uses, op->out[0], &count);
    for (int i = 0; i < count; i++) {
        const Fate *fate = &s->fate[reader[i]->id];
        bool splits = tensor_is_product(reader[i]) && fate->split;
        if (!splits && !fate->path && !fate->ahead)
            return false;
    }
    return count > 0;
}

static void find_ahead(Split *s) {
    for (int i = s->graph->op_count - 1; i >= 0; i--)
        s->fate[i].ahead = is_split_ahead(s, s->graph->ops[i]);
}

static bool find_splits(Split *s) {
    const Graph *graph = s->graph;
    const bool *split = tensor_split_ops(s->program, graph, &s->uses);
    bool found = false;
    for (int i = 0; i < graph->op_count; i++)
        found |= s->fate[i].split = split[i];
    find_columns(s);
    for (int i = 0; i < graph->op_count; i++)
        if (split[i] && ends_path(graph->ops[i]))
            mark_path(s, graph->ops[i]);
    find_ahead(s);
    return found;
}

/* ---- splitting ------------------------------------------------------------------------------- */

static void mark_partial(const Split *s, const Value *weight) {
    Param *param = program_param(s->program, weight);
    ENSURE(param && !param->shard, "%s is both split and whole", weight->name);
    param->partial = GROUP_TENSOR;
}

/* The group that shares out the columns of the op's result. */
static RankGroup group_of(const Split *s, const Op *op) {
    bool doubled = mesh_ranks(&s->program->mesh, GROUP_SAME_KEYS) > 1;
    return s->fate[op->id].columns.keys && doubled ? GROUP_KEYS : GROUP_TENSOR;
}

/* Shards a parameter, along an axis that counts columns of the op's result. */
static void shard_axis(const Split *s, const Op *op, const Value *param, int axis) {
    tensor_shard(s->program, param, axis, group_of(s, op));
    program_param(s->program, param)->shard_runs = s->fate[op->id].columns.runs;
}

static Share share_of(const Split *s, const Value *v) {
    return v->id < s->values ? s->held[v->id].share : WHOLE;
}

static void set_share(Split *s, const Value *v, Share share) { s->held[v->id].share = share; }

static Value *sum_of(Split *s, Value *addends) {
    Held *held = &s->held[addends->id];
    if (!held->sum)
        held->sum = tensor_sum(s->program, s->graph, addends, s->pos);
    return held->sum;
}

static Value *spread_of(Split *s, Value *x) {
    Held *held = &s->held[x->id];
    Value *whole = held->share == ADDENDS ? sum_of(s, x) : x;
    if (!held->spread && x->role == ROLE_INPUT) /* which has no gradient, and no op may write */
        held->spread = x;
    else if (!held->spread)
        held->spread = tensor_spread(s->program, s->graph, whole, s->pos);
    return held->spread;
}

/* Makes an op read sums instead of addends. */
static void read_sums(Split *s, Op *op) {
    for (int i = 0; i < op->in_count; i++)
        if (share_of(s, op->in[i]) == ADDENDS)
            op->in[i] = sum_of(s, op->in[i]);
}

static void split_linear(Split *s, Op *op) {
    Share x = share_of(s, op->in[0]), onto = op->attr.accumulate ? share_of(s, op_so_far(op)) : WHOLE;
    if (s->fate[op->id].split) {
        ENSURE(x != COLUMNS, "%s is split twice", op->name);
        shard_axis(s, op, op->in[1], 0);
        tensor_narrow(s->program, op->out[0], 1, group_of(s, op));
        set_share(s, op->out[0], COLUMNS);
        if (!ends_path(op))
            op->in[0] = spread_of(s, op->in[0]);
    } else if (x == COLUMNS) {
        ENSURE(!op->attr.accumulate || onto == ADDENDS, "%s adds to what is whole", op->name);
        tensor_shard(s->program, op->in[1], op->in[1]->rank - 1, GROUP_TENSOR);
        set_share(s, op->out[0], ADDENDS);
    } else if (onto == ADDENDS) {
        ENSURE(x == ADDENDS, "%s adds all of its product to addends", op->name);
        mark_partial(s, op->in[1]);
        set_share(s, op->out[0], ADDENDS);
    } else {
        read_sums(s, op);
    }
}

/* Narrows the views of a value that has become narrower. */
static void split_views(Split *s, const Op *op) {
    const Value *x = op->in[0];
    int64_t width = value_cols(x) / op->out_count;
    for (int i = 0; i < op->out_count; i++) {
        Value *part = op->out[i];
        part->dim[part->rank - 1] = width;
        part->offset = x->offset + i * width;
        part->row_stride = x->row_stride;
        set_share(s, part, COLUMNS);
    }
}

/* Splits all results of an op that keeps columns apart, and adapts the attributes that count
 * columns. */
static void split_columns(Split *s, Op *op) {
    RankGroup group = group_of(s, op);
    for (int i = 0; i < op_reads_columns(op); i++)
        if (tensor_is_param(op->in[i]))
            shard_axis(s, op, op->in[i], op->in[i]->rank - 1);
        else
            ENSURE(share_of(s, op->in[i]) == COLUMNS, "%s reads %s whole", op->name, op->in[i]->name);
    if (op->kind == OP_split_columns) {
        split_views(s, op);
        return;
    }
    for (int i = 0; i < op->out_count; i++) {
        tensor_narrow(s->program, op->out[i], op->out[i]->rank - 1, group);
        set_share(s, op->out[i], COLUMNS);
    }
    if (op->kind == OP_attention) {
        op->attr.heads /= mesh_ranks(&s->program->mesh, GROUP_TENSOR);
        op->attr.kv_heads /= mesh_ranks(&s->program->mesh, GROUP_KEYS);
    } else if (op->kind == OP_scale_columns) {
        shard_axis(s, op, op->in[1], 0);
        if (value_cols(op->in[2]) > value_cols(op->out[0]))
            tensor_narrow(s->program, op->in[2], 0, group); /* once for all graphs */
    } else if (op->kind == OP_dropout) {
        op->attr.group = GROUP_TENSOR;
        op->in[op->in_count++] = program_group_rank(s->program, GROUP_TENSOR);
    }
}

static bool reads_columns(const Split *s, const Op *op) {
    for (int i = 0; i < op->in_count; i++)
        if (share_of(s, op->in[i]) == COLUMNS)
            return true;
    return false;
}

/* Scales the addends, whose sum is made later. */
static void scale_addends(Split *s, const Op *op) {
    mark_partial(s, op->in[1]);
    set_share(s, op->out[0], ADDENDS);
}

static void read_spread(Split *s, Op *op) {
    for (int i = 0; i < op_reads_columns(op); i++)
        op->in[i] = spread_of(s, op->in[i]);
    s->held[op->out[0]->id].spread = op->out[0];
}

static void split_op(Split *s, Op *op) {
    const Fate *fate = &s->fate[op->id];
    if (fate->ahead) {
        read_spread(s, op);
    } else if (op->kind == OP_scale_columns && share_of(s, op->in[0]) == ADDENDS) {
        scale_addends(s, op);
    } else if (tensor_is_product(op)) {
        split_linear(s, op);
        if (fate->path)
            mark_partial(s, op->in[1]);
    } else if (reads_columns(s, op)) {
        ENSURE(op_reads_columns(op), "%s needs all columns of what it reads", op->name);
        split_columns(s, op);
    } else {
        read_sums(s, op);
    }
    if (fate->path == FIRST_OF_PATH && !fate->ahead)
        op->in[0] = spread_of(s, op->in[0]);
}

/* Refuses a degree that does not divide the outputs of a linear; all of a language model's have been
 * checked with its spec. */
static void check_widths(const Split *s) {
    int64_t ranks = mesh_ranks(&s->program->mesh, GROUP_TENSOR), all = 0;
    for (int i = 0; i < s->graph->op_count; i++)
        if (s->fate[i].split && group_of(s, s->graph->ops[i]) == GROUP_TENSOR)
            all = common_divisor(value_cols(s->graph->ops[i]->out[0]), all);
    for (int i = 0; i < s->graph->op_count && all % ranks; i++) {
        const Op *op = s->graph->ops[i];
        int64_t width = value_cols(op->out[0]);
        if (s->fate[i].split && width % ranks)
            user_error(s->pos, spec_nearest_degrees(s->program->arena, all, ranks),
                       "%s has %lld outputs, which tensor_parallel_degree = %lld does not divide",
                       op->name, (long long)width, (long long)ranks);
    }
}

static void nothing_to_split(const Program *p, Pos pos) {
    bool alone = mesh_ranks(&p->mesh, GROUP_TENSOR) == 1;
    user_error(pos,
               alone ? "set parallelism.one_rank_collectives = \"ddp\" or \"shard\""
                     : "use parallelism.data_parallel_replicate_degree",
               "this model has nothing to split: no two linears or convolutions follow each other "
               "with only ops between them that keep channels apart");
}

static void split_graph(Program *p, Graph *graph, Pos pos) {
    if (graph->op_count == 0)
        return;
    size_t values = (size_t)p->value_count, ops = (size_t)graph->op_count;
    Split s = {.program = p, .graph = graph, .pos = pos, .values = p->value_count};
    s.fate = arena_array(p->arena, ops, sizeof *s.fate);
    s.held = arena_array(p->arena, values, sizeof *s.held);
    s.uses = uses_find(p->arena, p, graph);
    if (!find_splits(&s))
        nothing_to_split(p, pos);
    check_widths(&s);
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        split_op(&s, old.ops[i]);
        graph_add(p, graph, old.ops[i]);
    }
}

bool pass_tensor(Program *p, const Spec *spec) {
    int64_t ranks = spec->parallelism.tensor_parallel_degree;
    Pos pos = spec_pos(spec, spec_splitting_key(spec));
    if (!spec_splits_tensors(spec))
        return false;
    p->mesh.kept |= ranks == 1 ? GROUP_KEYS : 0;
    int64_t key_heads = spec->model.num_key_value_heads;
    p->mesh.size[AXIS_SAME_KEYS] = key_heads && ranks > key_heads ? ranks / key_heads : 1;
    p->mesh.size[AXIS_TENSOR] = ranks / p->mesh.size[AXIS_SAME_KEYS];
    for (int i = 0; program_forward(p, i); i++)
        split_graph(p, program_forward(p, i), pos);
    return true;
}
