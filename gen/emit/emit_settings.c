/* A table that `program` points to, such as that of the inputs, is written before it. Each put_*
 * writes one table or one group of fields. A field that a program does not need, such as one of
 * another optimizer, is left out, so it is zero. */
#include "emit/emit_settings.h"

#include "base/version.h"
#include "emit/emit.h"
#include "emit/emit_ranks.h"
#include "emit/emit_schedule.h"
#include "emit/names.h"
#include "plan/figures.h"

#include <math.h>
#include <string.h>

typedef struct {
    const Plan *plan;
    const Spec *spec;
    StrBuf *out;
    Arena *arena;
    const char *const *symbols;
    const Value *const *values; /* of storages, as symbols */
} Emit;

static const char *bool_text(bool value) { return value ? "true" : "false"; }

/* ---- fields -------------------------------------------------------------------------------- */

static void put_string(const Emit *e, const char *field, const char *text) {
    sb_printf(e->out, "        .%s = ", field);
    if (text && text[0])
        put_c_string(e->out, text);
    else
        sb_puts(e->out, "NULL");
    sb_puts(e->out, ",\n");
}

static void put_int(const Emit *e, const char *field, int64_t value) {
    sb_printf(e->out, "        .%s = %lld,\n", field, (long long)value);
}

static void put_real(const Emit *e, const char *field, double value) {
    sb_printf(e->out, "        .%s = ", field);
    sb_put_real(e->out, value);
    sb_puts(e->out, ",\n");
}

static void put_bool(const Emit *e, const char *field, bool value) {
    sb_printf(e->out, "        .%s = %s,\n", field, bool_text(value));
}

/* A key of [data], say, has a field of the same name. These write the keys that have an effect. */

static void put_key(const Emit *e, Key key) {
    if (!spec_effective(e->spec, key))
        return;
    sb_printf(e->out, "        .%s = ", key_leaf(key));
    key_print(e->spec, key, e->out); /* TOML writes numbers and booleans as C does */
    sb_puts(e->out, ",\n");
}

static void put_keys(const Emit *e, const Key *keys, size_t count) {
    for (size_t i = 0; i < count; i++)
        put_key(e, keys[i]);
}

#define PUT_KEYS(e, ...)                                                                           \
    put_keys(e, (const Key[]){__VA_ARGS__}, sizeof(const Key[]){__VA_ARGS__} / sizeof(Key))

/* RT_SCHEDULE_COSINE for the choice "cosine". */
static void put_choice(const Emit *e, const char *field, const char *prefix, Key key, int value) {
    sb_printf(e->out, "        .%s = %s_%s,\n", field, prefix,
              upper_text(e->arena, choice_name(key, value)));
}

static void put_training(const Emit *e) {
    const Spec *s = e->spec;
    const Program *program = e->plan->program;
    sb_puts(e->out, "    .training = {\n");
    put_int(e, "batch", s->training.per_device_train_batch_size);
    put_int(e, "seq_len", program->tokens / s->training.per_device_train_batch_size);
    put_int(e, "micro_steps", s->training.gradient_accumulation_steps);
    if (program->early_steps > 0)
        put_int(e, "early_steps", program->early_steps);
    if (program->train.in_backward)
        put_bool(e, "updates_in_backward", true);
    PUT_KEYS(e, KEY_training_steps, KEY_training_log_every, KEY_training_eval_every,
             KEY_training_seed, KEY_optimizer_lr, KEY_optimizer_beta1, KEY_optimizer_beta2);
    put_choice(e, "schedule", "RT_SCHEDULE", KEY_lr_scheduler_type, (int)s->lr_scheduler.type);
    PUT_KEYS(e, KEY_lr_scheduler_warmup_steps, KEY_lr_scheduler_min_lr_factor,
             KEY_lr_scheduler_step_size, KEY_lr_scheduler_gamma);
    sb_printf(e->out, "        .unit = {\"%s\", \"%s\", \"%s\"},\n", program->unit.plural,
              program->unit.brief, program->unit.rate);
    PUT_KEYS(e, KEY_compile_cuda_graph, KEY_compile_overlap, KEY_compile_programmatic_launch);
    sb_puts(e->out, "    },\n");
}

static void put_files(const Emit *e, const char *field, Strings files) {
    if (files.count == 0)
        return;
    const char **items = arena_array(e->arena, (size_t)files.count, sizeof *items);
    for (int i = 0; i < files.count; i++)
        items[i] = c_string(e->arena, files.items[i]);
    put_list(e->out, arena_printf(e->arena, "        .%s = (const char *const[]){", field), items,
             files.count, 12, "},\n");
    sb_printf(e->out, "        .%s_count = %d,\n", field, files.count);
}

static void put_reals(const Emit *e, const double *reals, int count) {
    sb_puts(e->out, "(const double[]){");
    for (int i = 0; i < count; i++) {
        sb_puts(e->out, i ? ", " : "");
        sb_put_real(e->out, reals[i]);
    }
    sb_puts(e->out, "}");
}

static void put_setting(const Emit *e, const LoaderSetting *setting) {
    sb_printf(e->out, "            .%s = ", setting->field);
    switch (setting->kind) {
    case SETTING_INT:
        sb_printf(e->out, "%lld", (long long)setting->integer);
        break;
    case SETTING_BOOL:
        sb_puts(e->out, bool_text(setting->integer));
        break;
    case SETTING_REAL:
        sb_put_real(e->out, setting->real);
        break;
    case SETTING_REALS:
        put_reals(e, setting->reals, setting->count);
        break;
    case SETTING_TEXT:
        put_long_string(e->out, 16 + (int)strlen(setting->field), setting->text);
        break;
    case SETTING_PLACE:
        sb_puts(e->out, offset_text(e->arena, e->symbols, setting->place));
        break;
    }
    sb_puts(e->out, ",\n");
}

static void put_loader_settings(const Emit *e) {
    const LoaderSettings *loader = &e->plan->program->loader;
    if (loader->count == 0)
        return;
    sb_printf(e->out, "        .%s = &(const %s){\n", loader->field, loader->type);
    for (int i = 0; i < loader->count; i++)
        put_setting(e, &loader->items[i]);
    sb_puts(e->out, "        },\n");
}

static void put_dataset(const Emit *e) {
    const Value *dataset = e->plan->program->dataset;
    if (!dataset)
        return;
    sb_puts(e->out, "        .dataset = &(const RtDataset){\n");
    sb_printf(e->out, "            .samples = %lld,\n", (long long)value_rows(dataset));
    sb_printf(e->out, "            .sample_bytes = %lld,\n",
              (long long)(value_cols(dataset) * dtype_bytes(dataset->dtype)));
    sb_printf(e->out, "            .offset = %s,\n        },\n",
              offset_text(e->arena, e->symbols, dataset));
}

static void put_data(const Emit *e) {
    const Spec *s = e->spec;
    sb_puts(e->out, "    .data = {\n");
    put_choice(e, "format", "RT_DATA", KEY_data_format, (int)s->data.format);
    put_files(e, "train", s->data.train);
    put_files(e, "validation", s->data.validation);
    PUT_KEYS(e, KEY_data_eval_fraction, KEY_data_eval_batches, KEY_model_vocab_size,
             KEY_data_max_target_tokens, KEY_data_prefetch_batches, KEY_data_num_workers,
             KEY_data_packing, KEY_data_shuffle, KEY_data_pin_memory, KEY_data_numa_bind);
    if (s->data.last_batch != LAST_ROLLOVER)
        put_choice(e, "last_batch", "RT_LAST", KEY_data_last_batch, (int)s->data.last_batch);
    put_loader_settings(e);
    put_dataset(e);
    sb_puts(e->out, "    },\n");
}

static void put_checkpoint(const Emit *e) {
    const Spec *s = e->spec;
    sb_puts(e->out, "    .checkpoint = {\n");
    PUT_KEYS(e, KEY_checkpoint_interval, KEY_checkpoint_keep_latest_k);
    put_bool(e, "export_model", s->checkpoint.export);
    if (s->checkpoint.export_base)
        put_bool(e, "export_base", true);
    put_string(e, "init_dir", s->init_dir);
    if (s->base_spec[0])
        put_string(e, "base_spec", s->base_spec);
    sb_puts(e->out, "        .config_json = config_json,\n");
    sb_printf(e->out, "        .adapter_json = %s,\n    },\n",
              e->plan->program->adapter_json ? "adapter_json" : "NULL");
}

static void put_exchange(const Emit *e, const char *name, const Exchanged *one, int *count) {
    if (one->count == 0)
        return;
    sb_puts(e->out, *count ? "" : "        .exchanges = (const RtPlannedExchange[]){\n");
    sb_printf(e->out, "            {\"%s\", %d, %.0f},\n", name, one->count, one->bytes);
    *count += 1;
}

static void put_exchanges(const Emit *e) {
    const Plan *plan = e->plan;
    int count = 0;
    for (int i = 0; i < COLLECTIVE_KINDS; i++)
        put_exchange(e, collective_name((CollectiveKind)i), &plan->exchanged[i], &count);
    for (int i = 0; i < PURPOSE_COUNT; i++)
        put_exchange(e, purpose_name((Purpose)i), &plan->copies[i], &count);
    if (count == 0)
        return;
    sb_puts(e->out, "        },\n");
    put_int(e, "exchange_count", count);
}

static void put_predicted(const Emit *e) {
    const Plan *plan = e->plan;
    sb_puts(e->out, "    .predicted = {\n");
    put_string(e, "device", plan->device->name);
    put_real(e, "iteration_ms", round(1e6 * plan->step.ms) / 1e6);
    put_int(e, "arena_bytes", plan_total_bytes(plan));
    put_int(e, "process_bytes", plan->process_bytes);
    if (plan->program->keeps_decoded)
        put_int(e, "decoded_bytes", plan_decoded(plan).kept_bytes);
    put_real(e, "flops", plan->step.model_flops);
    put_real(e, "peak_flops", plan->device->peak_flops[program_rate(plan->program)]);
    put_real(e, "h2d_bytes", plan_step_input_bytes(plan));
    put_real(e, "kernel_launches", plan_step_kernels(plan));
    put_real(e, "graph_launches", plan_graph_launches(plan));
    if (!spec_trains_alone(plan->spec))
        put_real(e, "exposed_ms", round(1e6 * plan->mean_exposed_ms) / 1e6);
    if (plan->program->stage.count > 1)
        put_real(e, "bubble", round(1e6 * plan->mean_bubble) / 1e6);
    put_exchanges(e);
    sb_puts(e->out, "    },\n");
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Writes a text of several lines, one literal per line. */
static void put_text(const Emit *e, const char *name, const char *text) {
    if (!text)
        return;
    sb_printf(e->out, "static const char %s[] =\n    ", name);
    put_long_string(e->out, 4, text);
    sb_puts(e->out, ";\n\n");
}

/* A pipeline stage may need no inputs. */
static bool has_inputs(const Plan *plan) { return plan->arena_bytes[ARENA_INPUT] > 0; }

static void put_inputs(const Emit *e) {
    const Program *program = e->plan->program;
    if (!has_inputs(e->plan))
        return;
    sb_puts(e->out, "static const RtInput inputs[] = {\n");
    const Value *const *values = e->values;
    for (int i = 0; i < program->storage_count; i++) {
        const Value *v = values[i];
        if (!v || v->role != ROLE_INPUT || e->plan->place[i].offset < 0)
            continue;
        sb_printf(e->out, "    {\"%s\", %s, %lld, %s},\n", v->name, rt_dtype(v->dtype),
                  (long long)value_elements(v), e->symbols[i]);
    }
    sb_puts(e->out, "};\n\n");
}

static void put_counters(const Emit *e) {
    const Counters *c = &e->plan->program->counters;
    const struct {
        const char *field;
        const Value *value;
    } rows[] = {{"seed", c->seed},
                {"step", c->step},
                {"applied", c->applied},
                {"bad_step", c->bad_step},
                {"lr", c->lr},
                {"bias_correction1", c->bias_correction1},
                {"bias_correction2_sqrt", c->bias_correction2_sqrt},
                {"loss", c->loss},
                {"grad_norm", c->grad_norm},
                {"step_loss", c->step_loss},
                {"eval_loss", c->eval_loss}};
    sb_puts(e->out, "    .counters = {\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        sb_printf(e->out, "        .%s = %s,\n", rows[i].field,
                  rows[i].value ? offset_text(e->arena, e->symbols, rows[i].value) : "RT_NOWHERE");
    sb_puts(e->out, "    },\n");
}

static void put_metric(const Emit *e, const Metric *metric) {
    Arena *arena = e->arena;
    const char *items[4];
    int count = 0;
    items[count++] =
        arena_printf(arena, ".offset = %s", offset_text(arena, e->symbols, metric->sum));
    if (metric->history) {
        items[count++] = ".each_step = true";
        items[count++] =
            arena_printf(arena, ".step_sum = %s", offset_text(arena, e->symbols, metric->step_sum));
        items[count++] =
            arena_printf(arena, ".history = %s", offset_text(arena, e->symbols, metric->history));
    }
    put_list(e->out, arena_printf(arena, "        {.name = \"%s\", ", metric->name), items, count,
             9, "},\n");
}

static void put_metrics(const Emit *e) {
    const Counters *c = &e->plan->program->counters;
    if (c->metric_count == 0)
        return;
    sb_puts(e->out, "    .metrics = (const RtMetric[]){\n");
    for (int i = 0; i < c->metric_count; i++)
        put_metric(e, &c->metrics[i]);
    sb_printf(e->out, "    },\n    .metric_count = %d,\n", c->metric_count);
}

static void put_loss_scale(const Emit *e) {
    const Counters *c = &e->plan->program->counters;
    if (!c->loss_scale)
        return;
    sb_puts(e->out, "    .loss_scale = &(const RtLossScale){\n");
    sb_printf(e->out, "        .scale = %s,\n", offset_text(e->arena, e->symbols, c->loss_scale));
    sb_printf(e->out, "        .growth_tracker = %s,\n",
              offset_text(e->arena, e->symbols, c->growth_tracker));
    sb_printf(e->out, "        .skipped_steps = %s,\n",
              offset_text(e->arena, e->symbols, c->skipped_steps));
    put_real(e, "init_scale", e->spec->precision.init_scale);
    sb_puts(e->out, "    },\n");
}

static void put_entries(const Emit *e) {
    for (int i = 0; i < ENTRY_COUNT; i++) {
        const PlanEntry *entry = &e->plan->entry[i];
        if (entry->launch_count == 0)
            continue;
        sb_printf(e->out,
                  "    .%s = {\n        .enqueue = %s,\n        .outputs = %s_outputs,\n"
                  "        .output_count = %s_OUTPUTS,\n        .launches = %d,\n    },\n",
                  entry->name, entry->name, entry->name, upper_text(e->arena, entry->name),
                  entry->launch_count);
    }
}

static void put_table(const Emit *e, const char *one, const char *table) {
    sb_printf(e->out, "    .%s = %s,\n    .%s_count = sizeof %s / sizeof *%s,\n", table, table, one,
              table, table);
}

static void put_sets(const Emit *e) {
    if (e->spec->nsets == 0)
        return;
    sb_puts(e->out, "    .settings = (const char *const[]){\n");
    for (int i = 0; i < e->spec->nsets; i++) {
        sb_puts(e->out, "        ");
        put_c_string(e->out, e->spec->sets[i]);
        sb_puts(e->out, ",\n");
    }
    sb_printf(e->out, "    },\n    .setting_count = %d,\n", e->spec->nsets);
}

static void put_identity(const Emit *e) {
    sb_puts(e->out, "static const RtProgram program = {\n    .name = ");
    put_c_string(e->out, e->spec->title);
    sb_printf(e->out, ",\n    .spec_sha256 = \"%s\",\n    .recipe_sha256 = \"%s\",\n",
              e->spec->sha256, e->spec->recipe_sha256);
    put_sets(e);
    sb_printf(e->out, "    .generator = \"gpuopt-gen %s\",\n", GENERATOR_VERSION);
    sb_printf(e->out, "    .real = %s,\n    .precision = \"%s\",\n", rt_dtype(e->plan->program->real),
              choice_name(KEY_precision_dtype, (int)e->spec->precision.dtype));
}

static void put_arenas(const Emit *e) {
    sb_puts(e->out, "    .arena_bytes = {[RT_STATE] = STATE_BYTES,\n"
                    "                    [RT_SCRATCH] = SCRATCH_BYTES,\n"
                    "                    [RT_INPUT] = INPUT_BYTES");
    sb_puts(e->out, e->plan->arena_bytes[ARENA_STASH]
                        ? ",\n                    [RT_STASH] = STASH_BYTES},\n"
                        : "},\n");
}

static void put_functions(const Emit *e) {
    const Plan *plan = e->plan;
    if (plan->kernel_count)
        put_table(e, "kernel", "kernels");
    if (plan->gemm_count) {
        put_table(e, "gemm", "gemms");
        sb_puts(e->out, "    .gemm_workspace = GEMM_WORKSPACE,\n"
                        "    .gemm_workspace_bytes = GEMM_WORKSPACE_BYTES,\n");
    }
    if (plan->gemm_workspaces > 1)
        sb_puts(e->out, "    .gemm_side_workspace = GEMM_SIDE_WORKSPACE,\n");
}

static void put_values(const Emit *e) {
    const Plan *plan = e->plan;
    const TrainState *train = &plan->program->train;
    sb_puts(e->out, "    .params = params,\n    .param_count = PARAMS,\n");
    if (train->piece)
        sb_printf(e->out, "    .piece_elements = %lld,\n", (long long)train->piece);
    if (train->coded_piece)
        sb_printf(e->out, "    .coded_elements = %lld,\n", (long long)train->coded_piece);
    if (next_constant(plan, e->values, 0) >= 0)
        sb_puts(e->out, "    .constants = constants,\n    .constant_count = CONSTANTS,\n");
    if (has_inputs(plan))
        put_table(e, "input", "inputs");
}

static void put_unmerged(const Emit *e) {
    static const char field[] = "    .unmerged = ";
    if (!e->plan->program->unmerged)
        return;
    sb_puts(e->out, field);
    put_long_string(e->out, (int)strlen(field), e->plan->program->unmerged);
    sb_puts(e->out, ",\n");
}

static void put_profiling(const Emit *e) {
    sb_puts(e->out, "    .profiling = {\n");
    PUT_KEYS(e, KEY_profiling_enabled, KEY_profiling_trace, KEY_profiling_start_step,
             KEY_profiling_steps);
    sb_puts(e->out, "    },\n");
}

static void put_cards(const Emit *e) {
    if (e->plan->program->cards == 1)
        return;
    sb_printf(e->out, "    .cards = %lld,\n    .replica_state_bytes = REPLICA_STATE_BYTES,\n",
              (long long)e->plan->program->cards);
}

void emit_settings(const Places *places, StrBuf *out) {
    const Plan *plan = places->plan;
    Arena arena = {0};
    Emit e = {plan, plan->spec, out, &arena, places->symbols, places->values};
    sb_puts(out, "/* ---- settings ---- */\n\n");
    put_text(&e, "config_json", plan->program->config_json);
    put_text(&e, "adapter_json", plan->program->adapter_json);
    put_inputs(&e);
    emit_groups(plan, out);
    emit_group_ranks(places, out);
    emit_schedule(places, out);
    put_identity(&e);
    put_arenas(&e);
    put_functions(&e);
    put_values(&e);
    put_unmerged(&e);
    put_counters(&e);
    put_metrics(&e);
    put_loss_scale(&e);
    put_entries(&e);
    put_training(&e);
    put_data(&e);
    put_checkpoint(&e);
    put_profiling(&e);
    put_predicted(&e);
    emit_ranks(plan, out);
    put_cards(&e);
    if (plan->program->stage.count > 1)
        sb_puts(out, "    .pipeline = &pipeline,\n");
    sb_puts(out, "};\n\n");
    arena_free(&arena);
}
