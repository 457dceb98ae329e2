/* Frozen weights of which each rank keeps only a piece (stage 3 of ZeRO).
 *
 * Requires forward and backward; before all passes that move weights, which will find that these
 * cannot move. A module's weights of the activations' dtype form one run, of which each rank keeps
 * an equal part; gather_weights gives readers a copy of the whole run. Weights that will be
 * quantised are left to shard_codes. */
#include "base/rounding.h"
#include "pass/module.h"
#include "pass/pass.h"
#include "pass/quantize.h"
#include "pass/train_state.h"

static bool is_chosen(const Program *p, const Spec *spec, const Param *param) {
    const Value *w = param->weight;
    return w->role == ROLE_FROZEN && w->dtype == p->activation && value_can_move(w) &&
           !quantize_takes(p, spec, param);
}

static int64_t padded(const Param *param) {
    return round_up(value_elements(param->weight), TRAIN_COLS);
}

/* Lays out the parameters of the same module as `first` that are not done; returns the number of
 * elements. Moves them into `whole` unless that is NULL. */
static int64_t lay_out(Program *p, int first, Value *whole, Value *piece, bool *done) {
    const char *name = p->params[first].weight->name;
    int64_t at = 0;
    for (int i = first; i < p->param_count; i++) {
        Param *param = &p->params[i];
        Value *w = param->weight;
        if (done[i] || !same_module(w->name, name))
            continue;
        int64_t size = padded(param);
        if (whole) {
            value_move(w, value_at(p, whole, at, w->rank, w->dim, w->name));
            param->piece = piece;
            param->gathered = done[i] = true;
            param->pieces = GROUP_SHARD;
            param->piece_first = at;
            param->piece_elements = value_elements(piece);
        }
        at += size;
    }
    return at;
}

static void share_out(Program *p, int first, bool *done) {
    const Value *w = p->params[first].weight;
    int64_t ranks = p->mesh.size[AXIS_SHARD], all = lay_out(p, first, NULL, NULL, done);
    int64_t rows = ceil_div(all, ranks * TRAIN_COLS);
    const char *module = arena_strndup(p->arena, w->name, module_length(w->name));
    Value *whole = value_2d(p, arena_printf(p->arena, "%s.frozen", module), ROLE_FROZEN,
                            p->activation, ranks * rows, TRAIN_COLS, w->pos);
    Value *piece = value_2d(p, arena_printf(p->arena, "%s.frozen.piece", module), ROLE_FROZEN,
                            p->activation, rows, TRAIN_COLS, w->pos);
    lay_out(p, first, whole, piece, done);
    program_add_gathered(p, (Gathered){module, whole, piece});
}

bool pass_shard_frozen(Program *p, const Spec *spec) {
    if (spec->parallelism.shard_stage < SHARD_WEIGHTS || !mesh_has(&p->mesh, GROUP_SHARD))
        return false;
    bool *done = arena_array(p->arena, (size_t)p->param_count + 1, sizeof *done);
    for (int i = 0; i < p->param_count; i++)
        done[i] = !is_chosen(p, spec, &p->params[i]);
    for (int i = 0; i < p->param_count; i++)
        if (!done[i])
            share_out(p, i, done);
    return true;
}
