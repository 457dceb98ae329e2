/* The two gradients of a low-rank path y += u B^T that read dy become one op, which reads it once:
 *
 *     v = dy B, dB = dy^T u    ->    dB, v = low_rank_grads(dy, B, u)
 *
 * Linears that share an input may have one product for all their v's, with a block-diagonal B; each
 * block then becomes an op of its own, on columns of dy and v. Requires that values have their
 * places, and that load writes the blocks of B; leaves everything else as it is. With "auto" this
 * is done where the device is expected to gain; the kernel needs 16-bit operands and ranks that are
 * multiples of 8. */
#include "base/dotted.h"
#include "devices/low_rank_tiles.h"
#include "graph/op_table.h"
#include "pass/low_rank_kernels.h"
#include "pass/pass.h"
#include <string.h>

enum { MOST_BLOCKS = 8 };

/* Rows [row, ...) and columns [col, ...) of B that are not zero everywhere, and the product that
 * computes the same rows of dB. */
typedef struct {
    Value *b;
    int64_t row, col;
    Op *db;
} Block;

typedef struct {
    Op *v;
    Block block[MOST_BLOCKS];
    int count;
} Path;

/* ---- matching -------------------------------------------------------------------------------- */

static bool is_product(const Op *op) {
    return op->kind == OP_matmul && !op->attr.transpose_b && op_is_plain(op);
}

static bool is_low_rank(const Value *v) { return value_cols(v) <= LOW_RANK_MOST; }

/* Finds the block that this value is; false if it lies outside B. */
static bool find_block(const Value *b, Value *part, Block *block) {
    int64_t at = part->offset - b->offset;
    if (part->storage != b->storage || at < 0)
        return false;
    *block = (Block){part, at / b->row_stride, at % b->row_stride, NULL};
    return block->row + value_rows(part) <= value_rows(b) &&
           block->col + value_cols(part) <= value_cols(b);
}

/* Finds the blocks that load writes; false if other elements of B may differ from zero. */
static bool find_blocks(const Graph *load, Path *path) {
    Value *b = path->v->in[1];
    int64_t rest = value_elements(b) - path->v->attr.zeros;
    path->block[0] = (Block){b, 0, 0, NULL};
    path->count = 1;
    if (!path->v->attr.zeros)
        return true;
    path->count = 0;
    for (int i = 0; i < load->op_count; i++) {
        Block block;
        if (!find_block(b, load->ops[i]->out[0], &block))
            continue;
        if (path->count == MOST_BLOCKS)
            return false;
        path->block[path->count++] = block;
        rest -= value_elements(block.b);
    }
    return rest == 0;
}

/* Whether the product computes dB of this block. */
static bool is_gradient(const Op *op, const Op *v, const Block *block) {
    const Value *dy = v->in[0], *part = op->in[0];
    return is_product(op) && op->attr.transpose_a && part->storage == dy->storage &&
           part->dtype == dy->dtype && part->row_stride == dy->row_stride &&
           part->offset == dy->offset + block->row && value_rows(part) == value_rows(dy) &&
           value_cols(part) == value_rows(block->b) &&
           value_cols(op->in[1]) == value_cols(block->b) && value_in_vectors(part) &&
           value_in_vectors(op->in[1]) && value_in_vectors(op->out[0]) && value_in_vectors(block->b);
}

/* Whether an op between the two waits for the first one. */
static bool is_awaited_before(const Graph *graph, const Op *op, const Op *other) {
    for (int i = op->id + 1; i < other->id; i++)
        if (graph->ops[i]->after == op)
            return true;
    return false;
}

static bool can_compute(const Graph *graph, const Op *op, const Op *v, const Block *block) {
    return is_gradient(op, v, block) && graph_may_move(graph, op, v) &&
           !is_awaited_before(graph, op, v);
}

/* Finds the first such product. */
static bool find_gradient(const GraphUses *uses, const Op *v, Block *block) {
    for (const Value *view = v->in[0]->storage->views; view; view = view->next_view) {
        int count;
        Op *const *readers = use_readers(uses, view, &count);
        for (int i = 0; i < count; i++)
            if ((!block->db || readers[i]->id < block->db->id) &&
                can_compute(uses->graph, readers[i], v, block))
                block->db = readers[i];
    }
    return block->db != NULL;
}

static bool find_path(const Program *p, const GraphUses *uses, Op *v, Path *path) {
    *path = (Path){.v = v};
    if (!is_product(v) || v->attr.transpose_a || v->attr.accumulate ||
        !value_in_16_bits(v->in[0]) || !value_in_vectors(v->in[0]) || !value_in_vectors(v->in[1]) ||
        !value_in_vectors(v->out[0]) || v->out[0]->dtype != v->in[0]->dtype ||
        !find_blocks(&p->entry[ENTRY_LOAD], path))
        return false;
    int64_t rows = 0;
    for (int i = 0; i < path->count; i++) {
        rows += value_rows(path->block[i].b);
        if (!is_low_rank(path->block[i].b) || !find_gradient(uses, v, &path->block[i]))
            return false;
    }
    return rows == value_rows(v->in[1]) && !graph_waits_for(uses->graph, v);
}

/* ---- time ------------------------------------------------------------------------------------ */

static double bytes_of(const Value *v) { return (double)value_bytes(v); }

static LowRankShape shape_of(const Block *block) {
    return low_rank_shape(block->db->in[0], block->db->in[1]);
}

/* The two kernels of an op, if it reads dy from memory. Where pointwise ops make dy, the launch rule
 * may choose other tiles, and saves this read. */
static double one_op_ms(const Device *device, const Program *p, const Block *block) {
    const Op *db = block->db;
    LowRankShape shape = shape_of(block);
    LowRankTiles tiles = low_rank_tiles(shape, device);
    double parts = low_rank_grads_part_bytes(shape, &tiles);
    double multiplied = bytes_of(db->in[0]) + low_rank_grads_bytes(shape, &tiles);
    double added =
        parts + bytes_of(db->in[1]) + (db->attr.accumulate ? 2 : 1) * bytes_of(db->out[0]);
    double flops = 4.0 * (double)(shape.rows * shape.features * shape.rank);
    Traffic first = {multiplied, multiplied}, second = {added, added};
    Grid any = {0};
    return device_fused_time(device, program_rate(p), device->fused_share, flops, first, any).ms +
           device_kernel_time(device, RATE_F32, parts / 4, 0, second, any).ms;
}

/* Whether a block of the kernel has enough shared memory for each of the path's ops. */
static bool fits(const Device *device, const Path *path) {
    for (int i = 0; i < path->count; i++)
        if (!low_rank_tiles(shape_of(&path->block[i]), device).cols)
            return false;
    return true;
}

static bool gains(const Device *device, const Program *p, const Path *path) {
    double before = device_op_ms(device, p, path->v), after = 0;
    for (int i = 0; i < path->count; i++) {
        before += device_op_ms(device, p, path->block[i].db);
        after += one_op_ms(device, p, &path->block[i]);
    }
    return after < before;
}

/* ---- rewriting ------------------------------------------------------------------------------- */

/* "layers.0.q_proj.v", because B and u are both in layers.0.q_proj. */
static const char *name_of_v(const Program *p, const Block *block) {
    const char *name = block->db->name;
    size_t module = common_length(name, block->db->in[1]->name);
    return arena_printf(p->arena, "%.*s.v", module ? (int)module : (int)strlen(name), name);
}

/* Makes the product of dB compute its columns of v too. */
static void fuse(Program *p, const Path *path, const Block *block) {
    Op *op = block->db;
    Value *v = path->v->out[0];
    if (path->count > 1)
        v = value_columns(p, v, block->col, value_cols(block->b), name_of_v(p, block));
    if (op->attr.accumulate)
        op->in[3] = op->in[2];
    op->in[2] = op->in[1];
    op->in[1] = block->b;
    op->in_count++;
    op->out[1] = v;
    op->out_count = 2;
    op->kind = OP_low_rank_grads;
    op->attr.transpose_a = false;
    op->attr.alpha_v = path->v->attr.alpha;
}

static void rewrite(Program *p, Graph *graph, Path **path_of, const bool *moves) {
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        const Path *path = path_of[i];
        for (int k = 0; path && k < path->count; k++) {
            fuse(p, path, &path->block[k]);
            graph_add(p, graph, path->block[k].db);
        }
        if (!path && !moves[i])
            graph_add(p, graph, old.ops[i]);
    }
}

static bool claims(const Path *path, bool *moves) {
    for (int i = 0; i < path->count; i++)
        if (moves[path->block[i].db->id])
            return false;
    for (int i = 0; i < path->count; i++)
        moves[path->block[i].db->id] = true;
    return true;
}

bool pass_low_rank_grads(Program *p, const Spec *spec) {
    WhereGained wanted = spec->compile.low_rank_grads;
    if (wanted == NOWHERE || !spec_effective(spec, KEY_compile_low_rank_grads))
        return false;
    Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    const Device *device = device_read(p->arena, spec->job.device, spec_pos(spec, KEY_job_device));
    Arena scratch = {0};
    GraphUses uses = uses_find(&scratch, p, graph);
    Path **path_of = arena_array(&scratch, (size_t)graph->op_count + 1, sizeof *path_of);
    bool *moves = arena_array(&scratch, (size_t)graph->op_count + 1, sizeof *moves);
    int found = 0;
    for (int i = 0; i < graph->op_count; i++) {
        Path path;
        if (!find_path(p, &uses, graph->ops[i], &path) || !fits(device, &path) ||
            (wanted == WHERE_GAINED && !gains(device, p, &path)) || !claims(&path, moves))
            continue;
        path_of[i] = arena_alloc(&scratch, sizeof path);
        *path_of[i] = path;
        found++;
    }
    if (found)
        rewrite(p, graph, path_of, moves);
    arena_free(&scratch);
    return found > 0;
}
