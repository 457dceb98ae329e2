/* `load` quantises weights as they arrive.
 *
 * Requires that their readers read codes. Each weight is fetched into scratch, and its codes,
 * absmax and so on are written to their places, before load derives anything from other weights.
 * From then on the parameter's stored form is its codes. */
#include "pass/quantize.h"

#include "pass/tensor.h"

/* The same place under a role that an op may write: the verifier forbids writing frozen values. */
static Value *writable(const Quantizer *q, Value *v, int64_t rows, int64_t cols) {
    Value *to = value_reshaped(q->program, v, rows, cols);
    to->role = ROLE_BUFFER;
    return to;
}

static Value *load_op(const Quantizer *q, const Packed *packed, OpKind kind, const char *what,
                      Value *const *in, int in_count, Value *out) {
    Program *p = q->program;
    const char *name = arena_printf(p->arena, "%s.%s", packed->param->weight->name, what);
    return op_add_into(p, &p->entry[ENTRY_LOAD], kind, name, in, in_count, &out, out != NULL,
                       packed->attr, q->pos)
        ->out[0];
}

/* The absmax of all blocks of the weight, on all ranks, in the order of its elements. */
static Value *absmax_of_all(const Quantizer *q, const Packed *packed, Value *absmax) {
    Program *p = q->program;
    if (!packed->group_rank)
        return absmax;
    int64_t ranks = mesh_ranks(&p->mesh, packed->attr.group), span = packed->attr.span;
    int64_t blocks = value_rows(absmax), runs = blocks / span;
    Value *gathered = load_op(q, packed, OP_all_gather, "absmax_gathered", &absmax, 1, NULL);
    if (runs == 1)
        return gathered;
    gathered = value_reshaped(p, gathered, ranks * runs, span);
    const char *name = arena_printf(p->arena, "%s.absmax_of_all", packed->param->weight->name);
    Value *all = value_2d(p, name, ROLE_ACTIVATION, DT_F32, runs, ranks * span, q->pos);
    for (int64_t i = 0; i < ranks; i++) {
        Value *from = value_row_range(p, gathered, i * runs, runs, name);
        load_op(q, packed, OP_cast, "absmax_in_order", &from, 1,
                value_columns(p, all, i * span, span, name));
    }
    return value_reshaped(p, all, ranks * blocks, 1);
}

static void quantize_absmax(const Quantizer *q, const Packed *packed, Value *absmax) {
    Value *all = absmax_of_all(q, packed, absmax);
    Value *row = value_reshaped(q->program, all, 1, value_rows(all));
    Value *offset = writable(q, packed->offset, 1, 1);
    offset->rank = 1;
    offset->dim[0] = 1;
    load_op(q, packed, OP_mean, "absmax_offset", &row, 1, offset);
    Value *absmax2 = writable(q, packed->absmax2, value_rows(packed->absmax2), 1);
    load_op(q, packed, OP_block_absmax, "absmax2", (Value *[]){all, offset}, 2, absmax2);
    load_op(q, packed, OP_quantize_absmax, "absmax",
            (Value *[]){absmax, offset, absmax2, q->bounds_u8, packed->group_rank},
            packed->group_rank ? 5 : 4, writable(q, packed->absmax, value_rows(absmax), 1));
}

/* Scratch for the weight from its arrival until it is quantised. */
static Value *staging_of(const Quantizer *q, const Packed *packed) {
    const Value *w = packed->param->weight;
    return value_2d(q->program, w->name, ROLE_ACTIVATION, w->dtype, value_rows(w), value_cols(w),
                    q->pos);
}

/* The absmax of whole rows, whose columns ranks may share out. */
static void row_absmax(const Quantizer *q, const Packed *packed, Value *w, Value *out) {
    const Param *param = packed->param;
    bool of_ranks = param->shard && param->shard_axis == 1;
    Value *own = load_op(q, packed, OP_block_absmax, "absmax", &w, 1, of_ranks ? NULL : out);
    if (of_ranks)
        tensor_absmax(q->program, &q->program->entry[ENTRY_LOAD], param->weight->name, own,
                      param->shard, out, q->pos);
}

/* Quantises from fp16, as bitsandbytes does with weights of any type. */
static void load_rows(const Quantizer *q, const Packed *packed, Value *fetched) {
    int64_t rows = value_rows(fetched), cols = value_cols(fetched);
    Value *half = value_2d(q->program, arena_printf(q->program->arena, "%s.half", fetched->name),
                           ROLE_ACTIVATION, DT_F16, rows, cols, q->pos);
    Value *absmax = writable(q, packed->absmax, rows, 1);
    load_op(q, packed, OP_cast, "half", &fetched, 1, half);
    row_absmax(q, packed, half, absmax);
    load_op(q, packed, OP_quantize_rows, "codes", (Value *[]){half, absmax}, 2,
            writable(q, packed->codes, rows, cols));
}

static void load_blocks(const Quantizer *q, const Packed *packed, Value *fetched) {
    Program *p = q->program;
    const Value *w = fetched;
    int64_t size = q->spec->quantization.block_size, elements = value_elements(w);
    Value *blocks = value_reshaped(p, fetched, elements / size, size);
    Value *pairs = value_reshaped(p, fetched, elements / 2, 2);
    Value *to = packed->offset ? NULL : writable(q, packed->absmax, elements / size, 1);
    Value *absmax = load_op(q, packed, OP_block_absmax, "absmax_whole", &blocks, 1, to);
    Value *in[] = {value_columns(p, pairs, 0, 1, arena_printf(p->arena, "%s.even", w->name)),
                   value_columns(p, pairs, 1, 1, arena_printf(p->arena, "%s.odd", w->name)), absmax,
                   q->bounds, q->order};
    load_op(q, packed, OP_quantize_4bit, "codes", in, q->order ? 5 : 4,
            writable(q, packed->codes, elements / 2, 1));
    if (packed->offset)
        quantize_absmax(q, packed, absmax);
}

/* Describes the weight's form in files. */
static void add_form(const Quantizer *q, const Packed *packed) {
    PackedForm *form = arena_alloc(q->program->arena, sizeof *form);
    *form = (PackedForm){
        .type = choice_name(KEY_quantization_quant_type, (int)q->spec->quantization.quant_type),
        .block = q->spec->quantization.block_size,
        .nested_block = ABSMAX_BLOCK,
        .absmax = packed->absmax,
        .map = q->map,
        .offset = packed->offset,
        .nested_absmax = packed->absmax2,
        .nested_map = q->map_u8,
        .in_file = q->spec->weights_quantized};
    packed->param->packed = form;
}

/* If files hold the codes already, nothing reads the weight itself, and it gets no place. */
static void keep_packed(const Quantizer *q, const Packed *packed) {
    Value *w = staging_of(q, packed);
    if (!q->spec->weights_quantized)
        (quantize_in_rows(q) ? load_rows : load_blocks)(
            q, packed, load_op(q, packed, OP_fetch, "fetch", &packed->codes, 1, w));
    packed->param->weight = packed->param->master = w;
    packed->param->stored = packed->codes;
    packed->param->scales = packed->absmax2 ? packed->absmax2 : packed->absmax;
    if (!quantize_in_rows(q))
        add_form(q, packed);
}

/* Puts these ops first, before load derives anything from other weights. */
void quantize_load(const Quantizer *q) {
    Program *p = q->program;
    Graph *load = &p->entry[ENTRY_LOAD];
    const Graph old = graph_take(load);
    for (int i = 0; i < q->storage_count; i++)
        for (int k = 0; k < q->homes[i].count; k++)
            keep_packed(q, &q->homes[i].packed[k]);
    for (int i = 0; i < old.op_count; i++)
        graph_add(p, load, old.ops[i]);
}
