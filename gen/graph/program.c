/* Programs, storages, values and views. */
#include "graph/graph.h"

#include <string.h>

const DTypeInfo dtype_table[DT_COUNT] = {
    [DT_F64] = {"f64", 8}, [DT_F32] = {"f32", 4}, [DT_F16] = {"f16", 2}, [DT_BF16] = {"bf16", 2},
    [DT_I64] = {"i64", 8}, [DT_I32] = {"i32", 4}, [DT_U8] = {"u8", 1},   [DT_I8] = {"i8", 1},
    [DT_F8_E4M3] = {"f8_e4m3", 1},
};

static const struct {
    const char *name;
    bool persistent;
} roles[ROLE_COUNT] = {
    [ROLE_INPUT] = {"input", false},           [ROLE_FROZEN] = {"frozen", true},
    [ROLE_WEIGHT] = {"weight", true},          [ROLE_ADAPTER] = {"adapter", true},
    [ROLE_BUFFER] = {"buffer", true},          [ROLE_CONSTANT] = {"constant", true},
    [ROLE_DATASET] = {"dataset", true},        [ROLE_COUNTER] = {"counter", true},
    [ROLE_GRADIENT] = {"gradient", true},      [ROLE_OPTIMIZER] = {"optimizer", true},
    [ROLE_ACTIVATION] = {"activation", false}, [ROLE_STASH] = {"stash", true},
};

const char *role_name(Role role) { return roles[role].name; }
bool role_persistent(Role role) { return roles[role].persistent; }

bool value_dense(const Value *v) { return value_rows(v) == 1 || v->row_stride == value_cols(v); }
bool value_trains(const Value *v) { return v->role == ROLE_WEIGHT || v->role == ROLE_ADAPTER; }

bool value_same_place(const Value *a, const Value *b) {
    return a->storage == b->storage && a->plane == b->plane &&
           value_begin(a) == value_begin(b) &&
           a->row_stride == b->row_stride && value_bytes(a) == value_bytes(b) &&
           value_cols(a) == value_cols(b);
}

bool value_same_view(const Value *a, const Value *b) {
    return value_same_place(a, b) && a->dtype == b->dtype;
}

/* Two column ranges of equally strided rows never touch; otherwise the byte spans decide. */
bool views_overlap(const Value *a, const Value *b) {
    ByteSpan span_a = value_span(a), span_b = value_span(b);
    if (!spans_meet(span_a, span_b))
        return false;
    int64_t size_a = dtype_bytes(a->dtype), size_b = dtype_bytes(b->dtype);
    int64_t stride_a = a->row_stride * size_a, stride_b = b->row_stride * size_b;
    if (stride_a != stride_b || stride_a == 0)
        return true;
    int64_t col_a = span_a.first % stride_a, col_b = span_b.first % stride_a;
    bool wraps =
        col_a + value_cols(a) * size_a > stride_a || col_b + value_cols(b) * size_b > stride_a;
    return wraps ||
           (col_a < col_b + value_cols(b) * size_b && col_b < col_a + value_cols(a) * size_a);
}

Program *program_new(Arena *arena) {
    Program *p = arena_alloc(arena, sizeof *p);
    p->arena = arena;
    p->unit = (Unit){"tokens", "tok", "tokens_per_s"};
    for (int i = 0; i < AXIS_COUNT; i++)
        p->mesh.size[i] = 1;
    p->cards = 1;
    for (int i = 0; i < ENTRY_COUNT; i++)
        p->entry[i].name = entry_info((Entry)i)->name;
    return p;
}

static Storage *storage_new(Program *p, const char *name, Role role, int64_t bytes) {
    Storage *s = arena_alloc(p->arena, sizeof *s);
    *s = (Storage){.id = p->storage_count, .name = name, .role = role, .bytes = bytes};
    p->storages =
        arena_grow(p->arena, p->storages, p->storage_count, &p->storage_capacity, sizeof s);
    p->storages[p->storage_count++] = s;
    return s;
}

static Value *value_register(Program *p, Value init) {
    Value *v = arena_alloc(p->arena, sizeof *v);
    *v = init;
    v->id = p->value_count;
    v->next_view = v->storage->views;
    v->storage->views = v;
    p->values = arena_grow(p->arena, p->values, p->value_count, &p->value_capacity, sizeof v);
    p->values[p->value_count++] = v;
    return v;
}

Value *value_new(Program *p, const char *name, Role role, DType dtype, int rank, const int64_t *dim,
                 Pos pos) {
    ENSURE(rank >= 1 && rank <= MAX_RANK, "%s has rank %d", name, rank);
    Value init = {.name = arena_strdup(p->arena, name),
                  .rank = rank,
                  .dtype = dtype,
                  .role = role,
                  .pos = pos};
    for (int i = 0; i < rank; i++) {
        ENSURE(dim[i] > 0, "%s has an empty dimension", name);
        init.dim[i] = dim[i];
    }
    init.row_stride = value_cols(&init);
    init.storage = storage_new(p, init.name, role, value_bytes(&init));
    return value_register(p, init);
}

Value *value_whole(Program *p, Storage *storage) {
    Value view = *storage->views;
    view.name = storage->name;
    view.offset = view.plane = 0;
    view.rank = 1;
    view.dim[0] = view.row_stride = storage->bytes / dtype_bytes(view.dtype);
    view.role = storage->role;
    view.data = NULL;
    return value_register(p, view);
}

Value *value_2d(Program *p, const char *name, Role role, DType dtype, int64_t rows, int64_t cols,
                Pos pos) {
    return value_new(p, name, role, dtype, 2, (int64_t[]){rows, cols}, pos);
}

Value *value_1d(Program *p, const char *name, Role role, DType dtype, int64_t cols, Pos pos) {
    return value_new(p, name, role, dtype, 1, &cols, pos);
}

Value *value_columns(Program *p, Value *of, int64_t first, int64_t count, const char *name) {
    ENSURE(of->rank == 2 && first >= 0 && first + count <= of->dim[1], "columns outside %s",
           of->name);
    ENSURE(!of->plane, "columns of %s, which lies in planes", of->name);
    Value view = *of;
    view.name = arena_strdup(p->arena, name);
    view.offset += first;
    view.dim[1] = count;
    return value_register(p, view);
}

Value *value_row_range(Program *p, Value *of, int64_t first, int64_t count, const char *name) {
    ENSURE(of->rank == 2 && first >= 0 && first + count <= of->dim[0], "rows outside %s", of->name);
    ENSURE(!of->plane, "rows of %s, which lies in planes", of->name);
    Value view = *of;
    view.name = arena_strdup(p->arena, name);
    view.offset += first * of->row_stride;
    view.dim[0] = count;
    return value_register(p, view);
}

Value *value_reshaped(Program *p, Value *of, int64_t rows, int64_t cols) {
    ENSURE(value_dense(of) && rows * cols == value_elements(of), "%s cannot become [%lld,%lld]",
           of->name, (long long)rows, (long long)cols);
    Value view = *of;
    view.rank = 2;
    view.dim[0] = rows;
    view.dim[1] = view.row_stride = cols;
    view.plane = 0;
    return value_register(p, view);
}

Value *value_alias(Program *p, Value *of, const char *name) {
    Value view = *of;
    view.name = arena_strdup(p->arena, name);
    return value_register(p, view);
}

Value *value_stash(Program *p, const Value *like, const char *name) {
    Value *v = value_new(p, name, ROLE_STASH, like->dtype, like->rank, like->dim, like->pos);
    v->plane = like->plane;
    return v;
}

void value_set_role(Value *v, Role role) {
    v->storage->role = role;
    for (Value *view = v->storage->views; view; view = view->next_view)
        view->role = role;
}

Value *value_at(Program *p, Value *of, int64_t offset, int rank, const int64_t *dim,
                const char *name) {
    Value view = *of;
    view.name = arena_strdup(p->arena, name);
    view.offset += offset;
    view.rank = rank;
    memcpy(view.dim, dim, (size_t)rank * sizeof *dim);
    view.row_stride = value_cols(&view);
    view.plane = 0;
    ENSURE(value_dense(of) && offset + value_elements(&view) <= value_elements(of), "%s outside %s",
           name, of->name);
    return value_register(p, view);
}

Value *value_elsewhere(Program *p, const Value *v, const Value *to) {
    Value view = *v;
    view.storage = to->storage;
    view.role = to->role;
    return value_register(p, view);
}

bool value_can_move(const Value *v) {
    for (const Value *other = v->storage->views; other; other = other->next_view)
        if (!value_same_place(other, v))
            return false;
    return value_dense(v) && v->offset == 0;
}

bool value_columns_follow(const Value *v, const Value *w) {
    return w->storage == v->storage && w->dtype == v->dtype && w->row_stride == v->row_stride &&
           value_rows(w) == value_rows(v) && w->offset == v->offset + value_cols(v);
}

bool value_rows_follow(const Value *v, const Value *w) {
    return w->storage == v->storage && w->dtype == v->dtype && w->row_stride == v->row_stride &&
           value_cols(w) == value_cols(v) &&
           w->offset == v->offset + value_rows(v) * v->row_stride;
}

bool value_can_stride(const Value *v) {
    for (const Value *other = v->storage->views; other; other = other->next_view) {
        bool columns = other->rank == 2 && other->row_stride == v->row_stride &&
                       value_rows(other) == value_rows(v) &&
                       other->offset + value_cols(other) <= value_cols(v);
        if (!value_same_place(other, v) && !columns)
            return false;
    }
    return value_dense(v) && v->offset == 0;
}

void value_move(Value *v, const Value *to) {
    Value *view = v->storage->views;
    int64_t v_stride = v->row_stride;
    v->storage->views = NULL;
    while (view) {
        Value *next = view->next_view;
        view->storage = to->storage;
        view->offset += to->offset;
        if (view->row_stride == v_stride)
            view->row_stride = to->row_stride;
        view->next_view = to->storage->views;
        to->storage->views = view;
        view = next;
    }
}

Value *value_join(Program *p, Value *run, Value *v, const char *name) {
    int64_t elements = value_elements(run);
    ENSURE(value_fills(run) && run->dtype == v->dtype && value_can_move(v),
           "%s cannot lie behind %s", v->name, run->name);
    run->storage->bytes += value_bytes(v);
    Value behind = {.storage = run->storage, .offset = elements, .row_stride = v->row_stride};
    value_move(v, &behind);
    Value both = *run;
    both.name = arena_strdup(p->arena, name);
    both.rank = 1;
    both.dim[0] = both.row_stride = elements + value_elements(v);
    return value_register(p, both);
}

void program_add_gathered(Program *p, Gathered g) {
    p->gathered =
        arena_grow(p->arena, p->gathered, p->gathered_count, &p->gathered_capacity, sizeof g);
    p->gathered[p->gathered_count++] = g;
}

const Gathered *program_gathered(const Program *p, const Value *v) {
    for (int i = 0; i < p->gathered_count; i++)
        if (p->gathered[i].whole->storage == v->storage)
            return &p->gathered[i];
    return NULL;
}

Graph *program_forward(Program *p, int i) {
    for (int e = 0; e < ENTRY_COUNT; e++)
        if (entry_info((Entry)e)->forward && i-- == 0)
            return &p->entry[e];
    return NULL;
}

void program_add_param(Program *p, Param param) {
    p->params = arena_grow(p->arena, p->params, p->param_count, &p->param_capacity, sizeof param);
    param.name_hash = stable_hash(param.file_name);
    param.weight->param = p->param_count;
    p->params[p->param_count++] = param;
}

const Value *param_place(const Param *param) {
    if (param->stored)
        return param->stored;
    return param->gathered ? param->piece : param->weight;
}

Param *program_param(Program *p, const Value *weight) {
    if (weight->param < p->param_count && p->params[weight->param].weight == weight)
        return &p->params[weight->param];
    for (int i = 0; i < p->param_count; i++)
        if (p->params[i].weight == weight)
            return &p->params[i];
    return NULL;
}

bool program_trains(const Program *p) { return p->train.weight != NULL; }

Value *program_weight(const Program *p, const char *file_name) {
    uint32_t hash = stable_hash(file_name);
    for (int i = 0; i < p->param_count; i++)
        if (p->params[i].name_hash == hash && !strcmp(p->params[i].file_name, file_name))
            return p->params[i].weight;
    return NULL;
}

Value *program_group_rank(Program *p, RankGroup group) {
    int i = 0;
    while (i < p->group_rank_count && p->group_ranks[i].group != group)
        i++;
    if (i < p->group_rank_count)
        return p->group_ranks[i].value;
    ENSURE(i < MAX_GROUP_RANKS, "ranks of more than %d groups", MAX_GROUP_RANKS);
    Value *rank = value_1d(p, "group_rank", ROLE_COUNTER, DT_I32, 1, (Pos){0});
    p->group_ranks[p->group_rank_count++] = (GroupRank){group, rank};
    return rank;
}

uint32_t stable_hash(const char *text) {
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}
