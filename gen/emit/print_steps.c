/* Statements: what is computed once per row, and one visit of the columns. */
#include <string.h>

#include "emit/printer.h"
#include "plan/kernel_names.h"
#include "plan/skeleton.h"

enum { LONGEST_INLINE = 64 }; /* characters; a longer expression gets a name */

/* A variable is named after the value that it is read from, stands for or is stored to. */
static const char *variable_name(Printer *p, int i, const char *suffix) {
    const Step *s = &p->body->steps[i];
    if (s->name)
        return unique(p, s->name);
    if (s->kind == STEP_LOAD)
        return unique(p, arena_printf(p->arena, "%s_%s", param_name(p, i), suffix));
    if (s->kind == STEP_ROUND && s->value)
        return unique(p,
                      arena_printf(p->arena, "%s_rounded", short_name(p->arena, s->value, NULL)));
    for (int k = i + 1; k < p->body->count; k++)
        if (p->body->steps[k].kind == STEP_STORE && p->body->steps[k].arg[0] == i)
            return unique(p, arena_printf(p->arena, "%s_%s", param_name(p, k), suffix));
    return unique(p, s->hint ? s->hint : "t");
}

/* Whether the step is stored or summed without conversion, so that it needs no name. */
static bool ends_in_statement(const Printer *p, int i) {
    for (int k = i + 1; k < p->body->count; k++) {
        const Step *s = &p->body->steps[k];
        bool converts = p->body->steps[i].type == TYPE_REAL && s->kind == STEP_STORE &&
                        s->value->dtype != p->kernel->real;
        if ((step_writes(s->kind) || step_reduces(s->kind)) && s->arg[0] == i && !converts)
            return true;
    }
    return false;
}

/* Whether the step is a variable under another name: rounding to the type that it has already. */
static bool is_alias(const Printer *p, int i) {
    const Step *s = &p->body->steps[i];
    return s->kind == STEP_ROUND && s->dtype == p->kernel->real && p->name[s->arg[0]];
}

static void declare(Printer *p, int i, const char *suffix) {
    if (is_alias(p, i)) {
        p->name[i] = p->name[p->body->steps[i].arg[0]];
        return;
    }
    const char *text = step_text(p, i);
    const char *name = variable_name(p, i, suffix);
    put(p, "const %s %s = %s;", type_name(p, p->body->steps[i].type), name, text);
    p->name[i] = name;
}

static const char *stored_text(Printer *p, const Step *s) {
    const char *text = step_text(p, s->arg[0]);
    if (p->body->steps[s->arg[0]].type != TYPE_REAL || s->value->dtype == p->kernel->real)
        return text;
    return arena_printf(p->arena, "convert<%s>(%s)", dtype_c_name(s->value->dtype), text);
}

/* Distinguishes what varies by row from what is the same everywhere. */
static const char *row_suffix(const Printer *p, int i) {
    bool varies = p->kernel->rows != 1 && step_level(p->body, i) == LEVEL_ROW;
    return varies ? "row" : "value";
}

/* ---- once per row ---------------------------------------------------------------------------- */

static bool in_row_scope(const Printer *p, int i, int phase) {
    return p->phases.at[i] == phase && !step_per_column(p->body, i) &&
           !step_reduces(p->body->steps[i].kind);
}

/* Whether the step is written out at its uses: constants, indices, and steps that one other row
 * step uses once. */
static bool inlined_in_row(Printer *p, int i) {
    const Step *s = &p->body->steps[i];
    if (s->kind == STEP_CONST || s->kind == STEP_ROW)
        return true;
    if (s->kind == STEP_LOAD || s->name)
        return false;
    if (strlen(step_text(p, i)) > LONGEST_INLINE && !ends_in_statement(p, i))
        return false;
    int uses = 0;
    for (int k = i + 1; k < p->body->count; k++) {
        const Step *user = &p->body->steps[k];
        bool per_row = !step_per_column(p->body, k) && !step_reduces(user->kind);
        for (int a = 0; a < step_args(user); a++)
            if (user->arg[a] == i)
                uses += per_row ? 1 : 2;
        if (user->row_index == i)
            uses += 2;
    }
    return uses <= 1;
}

/* The condition for the first of a row's threads; several blocks may share a row. */
static const char *first_of_row(const Printer *p) {
    bool several = p->any_blocks || p->kernel->column_blocks > 1;
    return several ? "col == 0" : arena_printf(p->arena, "%s == 0", p->lane);
}

/* The condition for the one thread that stores a value that all threads have; NULL if there is only
 * one thread. */
static const char *store_guard(const Printer *p, int i) {
    bool flat = p->kernel->skeleton == SKELETON_FLAT;
    if (p->body->rows * p->body->cols == 1 || p->kernel->skeleton == SKELETON_EPILOGUE)
        return NULL;
    if (step_level(p->body, i) == LEVEL_ROW)
        return flat ? "col == 0" : first_of_row(p);
    if (flat)
        return "i == 0";
    if (p->kernel->skeleton == SKELETON_COLUMN)
        return "col == 0";
    if (p->body->rows == 1)
        return first_of_row(p);
    return arena_printf(p->arena, "row == 0 && %s", first_of_row(p));
}

/* Whether the store overwrites what all lanes of a row have loaded. A block's reductions order such
 * accesses, those of a warp do not. */
static bool overwrites_loaded(const Printer *p, int store) {
    bool found = false;
    for (int i = 0; i < p->body->count; i++)
        found |= p->body->steps[i].kind == STEP_LOAD &&
                 value_overlaps(p->body->steps[i].value, p->body->steps[store].value);
    return found && p->kernel->skeleton == SKELETON_WARP_ROW;
}

/* Stores that wait to be printed under one condition. */
typedef struct {
    const char *guard;
    bool overwrite; /* what other lanes have loaded */
    int count;
    StrBuf text;
} Stores;

static void print_stores(Printer *p, Stores *stores) {
    if (stores->count) {
        if (stores->overwrite)
            put(p, "__syncwarp();");
        put(p, stores->count > 1 ? "if (%s) {" : "if (%s)", stores->guard);
        sb_puts(p->out, stores->text.text);
        if (stores->count > 1)
            put(p, "}");
    }
    sb_free(&stores->text);
    *stores = (Stores){0};
}

static void print_row_store(Printer *p, int i, Stores *stores) {
    const char *guard = store_guard(p, i), *text = stored_text(p, &p->body->steps[i]);
    StrBuf *out = p->out;
    if (!guard || (stores->guard && strcmp(guard, stores->guard) != 0))
        print_stores(p, stores);
    if (guard) {
        stores->guard = guard;
        stores->count++;
        stores->overwrite |= overwrites_loaded(p, i);
        p->out = &stores->text;
        p->depth++;
    }
    put(p, "%s[%s] = %s;", param_name(p, i), step_index_text(p, i, true), text);
    p->depth -= guard != NULL;
    p->out = out;
}

/* Stores with the same condition are printed together, after what is computed between them. They
 * stay before a load, which may read what they write. */
void print_row_scope(Printer *p, int phase) {
    Stores stores = {0};
    for (int i = 0; i < p->body->count; i++) {
        const Step *s = &p->body->steps[i];
        if (!in_row_scope(p, i, phase) || step_before_rows(p->kernel, i))
            continue;
        if (s->kind == STEP_LOAD)
            print_stores(p, &stores);
        if (s->kind == STEP_STORE)
            print_row_store(p, i, &stores);
        else if (!inlined_in_row(p, i))
            declare(p, i, row_suffix(p, i));
    }
    print_stores(p, &stores);
}

void print_before_rows(Printer *p) {
    for (int i = 0; i < p->body->count; i++)
        if (step_before_rows(p->kernel, i) && !step_per_column(p->body, i) && !inlined_in_row(p, i))
            declare(p, i, row_suffix(p, i));
}

/* ---- a visit of the columns ------------------------------------------------------------------ */

static void print_element_loop(Printer *p) {
    put(p, "#pragma unroll");
    put(p, "for (int j = 0; j < %d; j++) {", p->kernel->vector);
    p->depth++;
}

static void close_element_loop(Printer *p) {
    p->depth--;
    put(p, "}");
}

static void print_element_fill(Printer *p, int i) {
    put(p, "#pragma unroll");
    put(p, "for (int j = 0; j < %d; j++)", p->kernel->vector);
    put(p, "    %s[j] = %s;", p->slot[i], step_element_text(p, i));
}

bool stays_in_registers(const Printer *p, int i) {
    if (step_before_rows(p->kernel, i))
        return p->body->steps[i].kind == STEP_LOAD && step_per_column(p->body, i);
    return p->phases.kept[i] && p->kernel->skeleton != SKELETON_STREAM_ROW;
}

static const char *vector_text(Printer *p, int i, int width) {
    const char *pointer = param_name(p, i), *at = step_index_text(p, i, false);
    int condition = p->body->steps[i].arg[0];
    if (condition < 0)
        return arena_printf(p->arena, "load_vec<%d>(%s + %s)", width, pointer, at);
    return arena_printf(p->arena, "load_vec_if<%d>(%s, %s, %s)", width, step_text(p, condition),
                        pointer, at);
}

/* Prints the load of a LOAD's elements into its slot. */
static void print_load(Printer *p, int i) {
    const Step *s = &p->body->steps[i];
    const char *type = dtype_c_name(s->value->dtype), *pointer = param_name(p, i);
    int vector = p->kernel->vector;
    bool kept = stays_in_registers(p, i) && p->slot[i]; /* declared before the visit */
    if (!kept)
        p->slot[i] = unique(p, arena_printf(p->arena, "%s_v", s->name ? s->name : pointer));
    const char *left = p->slot[i];
    if (vector == 1) {
        put(p, "%s%s%s = %s;", kept ? "" : "const ",
            kept ? "" : arena_printf(p->arena, "%s ", type), left, step_element_text(p, i));
    } else if (!step_is_vector(p->kernel, i)) {
        if (!kept)
            put(p, "Vec<%s, %d> %s;", type, vector, left);
        print_element_fill(p, i);
    } else {
        int width = step_width(p->kernel, i);
        put(p, "%s%s = %s;", kept ? "" : arena_printf(p->arena, "const Vec<%s, %d> ", type, width),
            left, vector_text(p, i, width));
    }
}

static void print_loads(Printer *p, int phase) {
    for (int i = 0; i < p->body->count; i++) {
        const Step *s = &p->body->steps[i];
        if (s->kind != STEP_LOAD || !phase_needs(&p->phases, phase, i) || step_gathers(p->body, i))
            continue;
        if (step_before_rows(p->kernel, i) || step_slides(p->kernel, i))
            continue;
        bool there = false;
        for (int before = 0; stays_in_registers(p, i) && before < phase; before++)
            there = there || phase_needs(&p->phases, before, i);
        if (!there)
            print_load(p, i);
    }
}

/* The load of the line that is furthest to the left, where the line's vectors begin. */
static int leftmost(const Printer *p, int load) {
    const Step *steps = p->body->steps;
    for (int i = 0; i < p->body->count; i++)
        if (step_same_line(&steps[i], &steps[load]) && steps[i].place < steps[load].place)
            load = i;
    return load;
}

/* Declares the vectors of a load's line; they are named after its first tap, "x_0_0". */
static const char *declare_line(Printer *p, int load) {
    const Step *steps = p->body->steps;
    int last = steps[load].place, vector = p->kernel->vector;
    const char *type = dtype_c_name(steps[load].value->dtype);
    for (int i = 0; i < p->body->count; i++)
        if (step_same_line(&steps[i], &steps[load]) && steps[i].place > last)
            last = steps[i].place;
    int length = (int)(strrchr(steps[load].name, '_') - steps[load].name);
    const char *line = unique(p, arena_printf(p->arena, "%.*s_v", length, steps[load].name));
    put(p, "%s %s[%d];", vector == 1 ? type : arena_printf(p->arena, "Vec<%s, %d>", type, vector),
        line, last - steps[leftmost(p, load)].place + 1);
    return line;
}

/* Loads what several rows from p->row on see through their windows. Row `row` finds its taps as many
 * places further as it is behind the first. */
void print_lines(Printer *p) {
    const Step *steps = p->body->steps;
    const char **line = arena_array(p->arena, (size_t)p->body->count, sizeof *line);
    for (int i = 0; i < p->body->count; i++) {
        if (!step_slides(p->kernel, i))
            continue;
        int first = leftmost(p, i), place = steps[i].place - steps[first].place;
        if (!line[first])
            line[first] = declare_line(p, steps[i].spare ? first : i);
        put(p, "%s[%d] = %s;", line[first], place,
            p->kernel->vector == 1 ? step_element_text(p, i)
                                   : vector_text(p, i, p->kernel->vector));
        const char *behind = arena_printf(p->arena, "row - %s", p->row);
        p->slot[i] = arena_printf(p->arena, place ? "%s[%s + %d]" : "%s[%s]", line[first], behind,
                                  place);
    }
}

void print_hoisted_loads(Printer *p, int phase) {
    (void)phase;
    for (int i = 0; i < p->body->count; i++)
        if (step_before_rows(p->kernel, i) && step_per_column(p->body, i))
            print_load(p, i);
}

bool stores_vector(const Printer *p, int i) {
    return p->body->steps[i].kind == STEP_STORE && step_is_vector(p->kernel, i);
}

static void print_sum(Printer *p, const Step *s, const char *slot) {
    const Step *a = &p->body->steps[s->arg[0]];
    if (!s->of_product)
        put(p, "%s += %s;", slot, step_text(p, s->arg[0]));
    else
        put(p, "%s = fma%s(%s, %s, %s);", slot, p->kernel->real == DT_F64 ? "" : "f",
            step_text(p, a->arg[0]), step_text(p, a->arg[1]), slot);
}

static void print_action(Printer *p, int i) {
    const Step *s = &p->body->steps[i];
    if (s->kind == STEP_ROW_SUM) {
        print_sum(p, s, p->slot[i]);
    } else if (s->kind == STEP_ROW_MAX) {
        const char *f = p->kernel->real == DT_F64 ? "" : "f";
        put(p, "%s = fmax%s(%s, %s);", p->slot[i], f, p->slot[i], step_text(p, s->arg[0]));
    } else if (step_reduces_vector(p->kernel, i)) {
        put(p, "%s[j] = %s;", p->name[i], step_text(p, s->arg[0]));
    } else if (s->kind == STEP_ROW_LSE) {
        put(p, "%s.add(%s);", p->slot[i], step_text(p, s->arg[0]));
    } else if (s->kind == STEP_COL_SUM) {
        const char *j = p->kernel->vector > 1 ? "[j]" : "";
        print_sum(p, s, arena_printf(p->arena, "%s%s", p->slot[i], j));
    } else if (s->col_map == COL_PACKED) {
        ENSURE(stores_vector(p, i), "%s is packed by parts of bytes", s->value->name);
        put(p, "pack<%d>(%s, j, %s);", (int)s->period, p->slot[i], stored_text(p, s));
    } else if (stores_vector(p, i)) {
        put(p, "%s[j] = %s;", p->slot[i], stored_text(p, s));
    } else {
        put(p, "%s[%s] = %s;", param_name(p, i), step_index_text(p, i, true), stored_text(p, s));
    }
}

/* Whether all uses write the step out: sums of products do, and vector draws, which need it for
 * their first element. */
static bool is_written_out(const Printer *p, int i) {
    bool found = false;
    for (int k = i + 1; k < p->body->count; k++) {
        const Step *s = &p->body->steps[k];
        bool writes_out = s->of_product || step_draws_vector(p->kernel, k);
        for (int a = 0; a < step_args(s); a++) {
            if (s->arg[a] == i && !writes_out)
                return false;
            found |= s->arg[a] == i;
        }
    }
    return found;
}

/* A gathering load gets a name immediately, because a later store may overwrite what it reads. */
static bool inlined_in_visit(Printer *p, int phase, int i) {
    const Step *s = &p->body->steps[i];
    if (s->kind == STEP_CONST || s->kind == STEP_COL)
        return true;
    if (s->kind == STEP_LOAD && step_gathers(p->body, i))
        return false;
    if (s->kind == STEP_LOAD && (s->value->dtype == p->kernel->real || s->type != TYPE_REAL))
        return true;
    if (is_written_out(p, i))
        return true;
    return !s->name && phase_uses(&p->phases, phase, i) <= 1 &&
           (ends_in_statement(p, i) || strlen(step_text(p, i)) <= LONGEST_INLINE);
}

/* Whether an earlier phase has computed the element. */
static bool is_recomputed(const Printer *p, int phase, int i) {
    for (int before = 0; before < phase && !is_held(p, i); before++)
        if (phase_needs(&p->phases, before, i))
            return true;
    return false;
}

static void print_elements(Printer *p, int phase) {
    bool explained = false;
    for (int i = 0; i < p->body->count; i++) {
        if (phase_acts(&p->phases, phase, i)) {
            print_action(p, i);
            continue;
        }
        if (p->name[i] || !phase_needs(&p->phases, phase, i) || inlined_in_visit(p, phase, i))
            continue;
        if (!explained && is_recomputed(p, phase, i)) {
            put(p, "/* As in the previous pass over the row, which does not keep it. */");
            explained = true;
        }
        declare(p, i, "j");
    }
}

/* Forgets the names of elements from the previous visit, which are out of scope. */
static void forget_elements(Printer *p) {
    for (int i = 0; i < p->body->count && !p->one_scope; i++) {
        if (!step_per_column(p->body, i) || step_totals(p->body->steps[i].kind))
            continue;
        if (p->name[i])
            release(p, p->name[i]);
        p->name[i] = NULL;
    }
}

static void print_draws(Printer *p, int phase) {
    p->is_first = true;
    for (int i = 0; i < p->body->count; i++) {
        if (!step_draws_vector(p->kernel, i) || !phase_needs(&p->phases, phase, i))
            continue;
        int vector = p->kernel->vector;
        p->slot[i] = unique(p, "uniform");
        put(p, "const Vec<float, %d> %s = philox_uniforms<%d>(%s);", vector, p->slot[i], vector,
            step_draw_text(p, i));
    }
    p->is_first = false;
}

static void store_vectors(Printer *p, int phase) {
    for (int i = 0; i < p->body->count; i++)
        if (phase_acts(&p->phases, phase, i) && stores_vector(p, i) && !p->body->steps[i].unstored)
            put(p, "store_vec(%s + %s, %s);", param_name(p, i), step_index_text(p, i, false),
                p->slot[i]);
}

static void declare_reduced(Printer *p, int phase) {
    for (int i = 0; i < p->body->count; i++)
        if (phase_acts(&p->phases, phase, i) && step_reduces_vector(p->kernel, i)) {
            p->name[i] = unique(p, "exponents");
            put(p, "Vec<%s, %d> %s;", real_name(p), p->kernel->vector, p->name[i]);
        }
}

static void reduce_vectors(Printer *p, int phase) {
    for (int i = 0; i < p->body->count; i++)
        if (phase_acts(&p->phases, phase, i) && step_reduces_vector(p->kernel, i))
            put(p, "%s.add(%s);", p->slot[i], p->name[i]);
}

/* In a prologue: what the template multiplies. */
static void store_operands(Printer *p, int phase) {
    for (int i = 0; i < p->body->count; i++)
        if (phase_acts(&p->phases, phase, i) && p->body->steps[i].operand)
            put(p, "store_vec(tile.operand(%d), %s);", p->body->steps[i].operand - 1, p->slot[i]);
}

/* Whether the vector differs from one that the step's kernel has read at the same place. */
static bool is_read_too(const Printer *p, int i) {
    int param = p->kernel->param_of_step[i];
    return param >= 0 && p->kernel->param[param].read;
}

void print_visit(Printer *p, int phase) {
    forget_elements(p);
    if (phase == p->phase && p->ahead_end)
        print_ahead(p);
    print_loads(p, phase);
    print_draws(p, phase);
    for (int i = 0; i < p->body->count; i++)
        if (phase_acts(&p->phases, phase, i) && stores_vector(p, i)) {
            const char *prefix = is_read_too(p, i) ? "new_" : "", *name = p->body->steps[i].name;
            p->slot[i] =
                name ? unique(p, arena_printf(p->arena, "%s_v", name))
                     : unique(p, arena_printf(p->arena, "%s%s_v", prefix, param_name(p, i)));
            put(p, "Vec<%s, %d> %s%s;", dtype_c_name(p->body->steps[i].value->dtype),
                step_width(p->kernel, i), p->slot[i],
                p->body->steps[i].col_map == COL_PACKED ? " = {}" : "");
        }
    declare_reduced(p, phase);
    if (p->kernel->vector > 1)
        print_element_loop(p);
    print_elements(p, phase);
    if (p->kernel->vector > 1)
        close_element_loop(p);
    reduce_vectors(p, phase);
    store_vectors(p, phase);
    store_operands(p, phase);
}
