/* Quantised frozen weights of which each rank keeps only a piece (stage 3 of ZeRO). Cards exchange
 * the codes, which are the smallest form of a weight.
 *
 * Requires quantised weights; before gather_weights, which gives the decoding ops a copy of all
 * codes. The codes that load writes, or that files hold already, form one run per module, of which
 * each rank keeps an equal part: load makes the whole run in scratch and keeps the rank's rows, or
 * the host reads only those. Scales that are not codes stay whole on each rank. */
#include "base/rounding.h"
#include "pass/module.h"
#include "pass/pass.h"
#include "pass/train_state.h"

typedef struct {
    Program *p;
    Pos pos;
    bool in_files; /* files hold codes, or exported files will */
    Value **codes; /* in the order in which load writes them; NULL: already placed */
    int count;
    Value *whole, *piece, *filled; /* of the current module; `filled` is what load writes */
} Sharing;

/* The value that the storage was made with, if every view is dense and covers all bytes; else
 * NULL. */
static Value *only_content(const Storage *s) {
    Value *v = s->views;
    for (const Value *view = v; view; view = view->next_view)
        if (!value_dense(view) || value_bytes(view) != s->bytes)
            return NULL;
    while (v->next_view)
        v = v->next_view;
    return v;
}

static bool is_known(const Sharing *s, const Value *v) {
    for (int i = 0; i < s->count; i++)
        if (s->codes[i] == v)
            return true;
    return false;
}

static void find_content(Sharing *s, const Storage *storage) {
    Value *v = storage->role == ROLE_FROZEN ? only_content(storage) : NULL;
    if (v && dtype_bytes(v->dtype) == 1 && !is_known(s, v))
        s->codes[s->count++] = v;
}

static void find_codes(Sharing *s) {
    const Program *p = s->p;
    const Graph *load = &p->entry[ENTRY_LOAD];
    size_t most = (size_t)(load->op_count + 2 * p->param_count + 1);
    s->codes = arena_array(p->arena, most, sizeof *s->codes);
    for (int i = 0; i < load->op_count; i++)
        find_content(s, load->ops[i]->out[0]->storage);
    for (int i = 0; i < p->param_count; i++)
        if (p->params[i].packed && p->params[i].packed->in_file) {
            find_content(s, p->params[i].stored->storage);
            find_content(s, p->params[i].packed->absmax->storage);
        }
}

/* Lays out the module's codes, from number `first` on; returns the number of bytes. Moves them into
 * `whole` unless that is NULL. */
static int64_t lay_out(Sharing *s, int first, const char *module) {
    int64_t at = 0;
    for (int i = first; i < s->count; i++) {
        Value *v = s->codes[i];
        if (!v || !same_module(v->name, module))
            continue;
        if (s->whole) {
            value_move(v, value_at(s->p, s->whole, at, v->rank, v->dim, v->name));
            s->codes[i] = NULL;
        }
        at += round_up(value_elements(v), TRAIN_COLS);
    }
    return at;
}

/* The packed form with codes in pieces; NULL if codes are never in files. */
static const PackedForm *in_pieces(const Sharing *s, const Param *param) {
    if (!s->in_files || !param->packed)
        return NULL;
    PackedForm *form = arena_alloc(s->p->arena, sizeof *form);
    *form = *param->packed;
    form->codes = param->stored;
    form->piece = s->piece;
    return form;
}

/* STATE no longer has a weight's codes, so the weight is identified by its scales, which are
 * whole. */
static void know_by_scales(const Sharing *s) {
    Graph *load = &s->p->entry[ENTRY_LOAD];
    for (int i = 0; i < s->p->param_count; i++) {
        Param *param = &s->p->params[i];
        if (!param->scales || param->stored->storage != s->whole->storage)
            continue;
        for (int k = 0; k < load->op_count; k++)
            if (load->ops[k]->kind == OP_fetch)
                op_read_instead(load->ops[k], param->stored, param->scales);
        param->packed = in_pieces(s, param);
        param->stored = param->scales;
    }
}

static Value *run(const Sharing *s, const char *module, const char *what, Role role, int64_t rows) {
    const char *name = arena_printf(s->p->arena, "%s.%s", module, what);
    return value_2d(s->p, name, role, DT_U8, rows, TRAIN_COLS, s->pos);
}

/* load writes the codes into scratch, with zeros in the gaps, and then keeps the rank's rows. */
static void keep_piece(Sharing *s, const char *module) {
    Program *p = s->p;
    Graph *load = &p->entry[ENTRY_LOAD];
    Op **ops = load->ops;
    int count = load->op_count, first = count, last = 0;
    for (int i = 0; i < count; i++)
        if (ops[i]->out[0]->storage == s->whole->storage) {
            first = i < first ? i : first;
            last = i;
        }
    if (first == count)
        return; /* files hold the codes */
    s->filled = run(s, module, "codes.filled", ROLE_ACTIVATION, value_rows(s->whole));
    for (int i = first; i <= last; i++)
        if (ops[i]->out[0]->storage == s->whole->storage)
            ops[i]->out[0] = value_elsewhere(p, ops[i]->out[0], s->filled);
    Value *own = value_alias(p, s->piece, s->piece->name);
    own->role = ROLE_BUFFER;
    Value *in[] = {s->filled, program_group_rank(p, GROUP_SHARD)};
    Value *zeros = value_alias(p, s->filled, s->filled->name);
    graph_take(load);
    for (int i = 0; i < count; i++) {
        if (i == first)
            op_add_into(p, load, OP_zero, zeros->name, NULL, 0, &zeros, 1, (Attr){0}, s->pos);
        graph_add(p, load, ops[i]);
        if (i == last)
            op_add_into(p, load, OP_own_rows, s->piece->name, in, 2, &own, 1,
                        (Attr){.group = GROUP_SHARD}, s->pos);
    }
}

static void share_out(Sharing *s, int first) {
    Program *p = s->p;
    const char *name = s->codes[first]->name;
    const char *module = arena_strndup(p->arena, name, module_length(name));
    int64_t ranks = p->mesh.size[AXIS_SHARD];
    s->whole = NULL;
    int64_t bytes = lay_out(s, first, name);
    int64_t rows = ceil_div(bytes, ranks * TRAIN_COLS);
    s->whole = run(s, module, "codes", ROLE_FROZEN, ranks * rows);
    s->piece = run(s, module, "codes.piece", ROLE_FROZEN, rows);
    lay_out(s, first, name);
    know_by_scales(s);
    keep_piece(s, module);
    program_add_gathered(p, (Gathered){module, s->whole, s->piece});
}

bool pass_shard_codes(Program *p, const Spec *spec) {
    if (spec->parallelism.shard_stage < SHARD_WEIGHTS || !mesh_has(&p->mesh, GROUP_SHARD) ||
        spec->quantization.quant_type == QUANT_NONE)
        return false;
    Sharing s = {.p = p,
                 .pos = spec_pos(spec, KEY_parallelism_shard_stage),
                 .in_files = spec->weights_quantized || spec->checkpoint.export_base};
    find_codes(&s);
    for (int i = 0; i < s.count; i++)
        if (s.codes[i])
            share_out(&s, i);
    return true;
}
