/* The figures of a run, as JSON for programs and as text for people. */
#include "runtime/report/report.h"
#include "runtime/params/params.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/json_values.h"
#include "runtime/comm/mesh.h"
#include "runtime/data/data.h"
#include "runtime/files/infile.h"
#include "runtime/files/outfile.h"
#include "runtime/report/profile.h"
#include "runtime/report/report_figures.h"
#include "runtime/report/report_ranks.h"

/* ---- JSON ------------------------------------------------------------------------------------ */

/* For values where 0 means unknown. */
static json_t *known(double value) { return value > 0 ? whole(value) : json_null(); }

static json_t *version(int64_t packed) {
    char text[32];
    if (packed <= 0)
        return json_null();
    snprintf(text, sizeof text, "%lld.%lld", (long long)(packed / 1000),
             (long long)(packed % 1000 / 10));
    return json_string(text);
}

static json_t *copies_json(const Rt *rt) {
    static const char *const names[RT_COPY_KINDS] = {"h2d", "d2h", "d2d"};
    json_t *all = json_object();
    for (int kind = 0; kind < RT_COPY_KINDS; kind++) {
        const RtCopies *copies = &rt->measured.copies[kind];
        json_object_set_new(all, names[kind],
                            json_pack("{s:I, s:I, s:o, s:I}", "count", (json_int_t)copies->count,
                                      "bytes", (json_int_t)copies->bytes, "ms",
                                      number(profile_copy_ms(rt->profile, (RtCopyKind)kind)),
                                      "pinned", (json_int_t)copies->pinned));
    }
    return all;
}

/* The plan's exchanges in all measured steps, as in collectives_json(). */
static json_t *planned_exchanges_json(const Rt *rt) {
    const RtPredicted *p = &rt->program->predicted;
    json_t *kinds = json_object();
    for (int i = 0; i < p->exchange_count; i++)
        json_object_set_new(
            kinds, p->exchanges[i].name,
            json_pack("{s:I, s:I}", "count",
                      (json_int_t)(p->exchanges[i].count * rt->measured.steps), "bytes",
                      (json_int_t)(p->exchanges[i].bytes * rt->measured.steps)));
    return kinds;
}

/* Tokens, or another unit of the program, that all cards process in a second. */
static double predicted_rate(const Rt *rt) {
    double units = (double)(rows_per_step(rt) * rt->program->training.seq_len);
    return 1e3 * units / rt->program->predicted.iteration_ms;
}

static json_t *predicted_json(const Rt *rt, const Memory *memory) {
    const RtPredicted *p = &rt->program->predicted;
    double steps = (double)rt->measured.steps;
    json_t *predicted = json_pack(
        "{s:s, s:{s:o}, s:{s:o, s:o, s:o}, s:{s:{s:o}}, s:{s:o}, s:{s:o}, s:o, s:{s:o}}", "device",
        p->device, "iteration_ms", "median", number(p->iteration_ms), "memory", "planned_bytes",
        whole(memory->planned), "process_planned_bytes", whole(memory->process_planned),
        "decoded_kept_bytes", whole((double)p->decoded_bytes), "copies", "h2d", "bytes",
        whole(p->h2d_bytes * steps), "kernels", "launches", whole(p->kernel_launches * steps),
        "graphs", "launches", whole(p->graph_launches * steps), "collectives",
        planned_exchanges_json(rt), "flops", "per_step", whole(p->flops));
    json_object_set_new(predicted, rt->program->training.unit.rate, number(predicted_rate(rt)));
    ranks_predicted_json(predicted, rt);
    return predicted;
}

static json_t *window_json(const Profile *profile) {
    if (!profile)
        return json_null();
    int64_t steps = profile_steps(profile), first = profile_first_step(profile);
    return json_pack("{s:I, s:o, s:o, s:I, s:I}", "steps", (json_int_t)steps, "first",
                     whole(steps ? (double)first : NAN), "last",
                     whole(steps ? (double)(first + steps - 1) : NAN), "records",
                     (json_int_t)profile_count(profile), "dropped",
                     (json_int_t)profile_dropped(profile));
}

static json_t *data_json(const Rt *rt) {
    const LoaderFacts *facts = loader_facts(rt->loader);
    int64_t samples = facts->train_samples + facts->eval_samples;
    json_t *data = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "train_samples", (json_int_t)facts->train_samples,
        "eval_samples", (json_int_t)facts->eval_samples, "truncated", (json_int_t)facts->truncated,
        "skipped", (json_int_t)facts->skipped, "train_rows", (json_int_t)facts->train_rows,
        "device_samples", (json_int_t)(rt->program->data.dataset ? samples : 0),
        "epochs", number(epochs_of(rt, rt->step)));
    if (facts->mean_tokens > 0) {
        json_object_set_new(data, "mean_tokens", number(facts->mean_tokens));
        json_object_set_new(data, "padding_share", number(facts->padding_share));
        json_object_set_new(data, "target_share", number(facts->target_share));
    }
    return data;
}

static double seconds(double ms) { return ms > 0 ? 1e-3 * ms : NAN; }

static double load_s(const Rt *rt) { return seconds(rt->measured.load_ms); }

/* Without steps the loop did nothing. */
static double train_s(const Rt *rt) {
    return rt->measured.steps > 0 ? seconds(rt->measured.train_ms) : NAN;
}

static void set_whole_run(json_t *report, const Rt *rt) {
    ParamCounts params = ranks_params(rt);
    json_object_set_new(
        report, "time",
        json_pack("{s:o, s:o}", "load_s", number(load_s(rt)), "train_s", number(train_s(rt))));
    json_object_set_new(report, "parameters",
                        json_pack("{s:I, s:I}", "total", (json_int_t)params.total, "trainable",
                                  (json_int_t)params.trained));
}

/* Those that the simulated device names only say whose functions it has. */
static json_t *versions_json(const Rt *rt) {
    const RtDevice *device = &rt->device;
    bool real = !device->simulated;
    return json_pack("{s:s, s:s?, s:o, s:o, s:o, s:o, s:b}", "generator", rt->program->generator,
                     "driver", real && device->driver[0] ? device->driver : NULL, "driver_cuda",
                     version(real ? device->driver_version : 0), "cublaslt",
                     known(real ? (double)device->cublaslt_version : 0), "nvrtc",
                     version(real ? device->nvrtc_version : 0), "cupti",
                     known(real ? (double)profile_cupti_version(rt->profile) : 0),
                     "tuned_products", (int)device->tuned);
}

static json_t *feeding_json(const Figures *f) {
    json_t *feeding = json_object();
    for (int i = 0; i < FEEDINGS; i++)
        json_object_set_new(feeding, feedings[i].json, number(f->feeding[i]));
    json_object_set_new(feeding, "host_memory", json_string(f->host_memory));
    json_object_set_new(feeding, "bound_by", f->bound_by ? json_string(f->bound_by) : json_null());
    return feeding;
}

static json_t *numa_json(const Numa *numa) {
    bool bound = numa->node >= 0;
    return json_pack("{s:o, s:o}", "node", bound ? json_integer(numa->node) : json_null(),
                     "not_bound", bound ? json_null() : json_string(numa->why));
}

/* The purposes of copies between cards of one process. */
static const char *const purposes[RT_PURPOSES] = {"broadcast", "gather", "reduce"};

/* What the cards exchanged; nothing with one card. Cards of one process exchange data only by
 * copies, which are also counted among the other copies. Records of the profiling window do not
 * tell the purpose of a copy, so their time is only part of that of copies.d2d. */
static json_t *collectives_json(const RtMeasured *m) {
    json_t *kinds = json_object();
    for (int kind = 0; kind < RT_COLLECTIVES; kind++) {
        const RtExchanged *all = &m->collectives[kind];
        if (all->count > 0)
            json_object_set_new(kinds, collective_name((RtCollective)kind),
                                json_pack("{s:I, s:I, s:n}", "count", (json_int_t)all->count,
                                          "bytes", (json_int_t)all->bytes, "ms"));
    }
    for (int i = 0; i < RT_PURPOSES; i++)
        if (m->peer[i].count > 0)
            json_object_set_new(kinds, purposes[i],
                                json_pack("{s:I, s:I, s:n}", "count", (json_int_t)m->peer[i].count,
                                          "bytes", (json_int_t)m->peer[i].bytes, "ms"));
    return kinds;
}

static void set_times(json_t *report, const Rt *rt, const Figures *f) {
    const RtMeasured *m = &rt->measured;
    json_object_set_new(report, "iteration_ms",
                        json_pack("{s:o, s:o, s:o, s:o}", "median", number(f->median), "p10",
                                  number(f->p10), "p90", number(f->p90), "first",
                                  number(f->first)));
    json_object_set_new(report, rt->program->training.unit.rate, number(f->units_per_s));
    json_object_set_new(report, "kernels",
                        json_pack("{s:I, s:o, s:o}", "launches", (json_int_t)m->launches,
                                  "launch_ms", number(m->launch_ms), "ms",
                                  number(profile_ms(rt->profile, PROFILE_KERNEL))));
    json_object_set_new(report, "memsets",
                        json_pack("{s:I, s:o}", "count", (json_int_t)m->memsets, "ms",
                                  number(profile_ms(rt->profile, PROFILE_MEMSET))));
    json_object_set_new(report, "copies", copies_json(rt));
    json_object_set_new(report, "graphs",
                        json_pack("{s:I}", "launches", (json_int_t)m->graph_launches));
    json_object_set_new(
        report, "syncs",
        json_pack("{s:I, s:o}", "count", (json_int_t)m->syncs, "ms", number(m->sync_ms)));
    json_object_set_new(
        report, "waits",
        json_pack("{s:I, s:o}", "count", (json_int_t)m->waits, "ms", number(m->wait_ms)));
    json_object_set_new(report, "feeding", feeding_json(f));
    json_object_set_new(report, "numa", numa_json(&rt->numa));
    json_object_set_new(report, "collectives", collectives_json(m));
    ranks_json(report, rt);
}

/* Empty if there was no such evaluation. */
static json_t *metrics_json(const Rt *rt, const RtEvaluation *found) {
    json_t *metrics = json_object();
    for (int i = 0; i < rt->program->metric_count && !isnan(found->loss); i++)
        json_object_set_new(metrics, rt->program->metrics[i].name, number(found->metrics[i]));
    return metrics;
}

static json_t *step_metrics_json(const Rt *rt, int64_t step) {
    json_t *metrics = json_object();
    for (int i = 0; i < rt->program->metric_count; i++)
        json_object_set_new(metrics, rt->program->metrics[i].name,
                            number(rt_get(rt->program->real, rt->step_metrics[i], step)));
    return metrics;
}

/* Adds the metrics of the first and last training steps. */
static void set_step_metrics(json_t *metrics, const Rt *rt) {
    json_object_set_new(metrics, "first", step_metrics_json(rt, 0));
    json_object_set_new(metrics, "last", step_metrics_json(rt, rt->known_steps - 1));
}

static void set_evaluations(json_t *report, const Rt *rt) {
    json_t *all = json_array();
    for (int i = 0; i < rt->evaluation_count; i++) {
        const RtEvaluation *found = &rt->evaluations[i];
        json_t *one = metrics_json(rt, found);
        json_object_set_new(one, "step", json_integer(found->step));
        json_object_set_new(one, "loss", number(found->loss));
        json_array_append_new(all, one);
    }
    json_object_set_new(report, "evaluations", all);
    if (rt->program->metric_count > 0)
        json_object_set_new(report, rt->step_metrics[0] ? "metrics" : "accuracy",
                            json_pack("{s:o, s:o}", "before",
                                      metrics_json(rt, &rt->measured.before), "after",
                                      metrics_json(rt, &rt->measured.after)));
    if (rt->step_metrics[0] && rt->known_steps > 0)
        set_step_metrics(json_object_get(report, "metrics"), rt);
}

/* Over how many targets held-out means are taken; all evaluations have the same ones. 0: unknown. */
static int64_t heldout_targets(const RtMeasured *m) {
    return m->after.targets ? m->after.targets : m->before.targets;
}

/* Which run the report is of. */
static json_t *identity_json(const Rt *rt) {
    const RtProgram *program = rt->program;
    json_t *report =
        json_pack("{s:s, s:s, s:s, s:{s:s, s:b}, s:i, s:i, s:s, s:I, s:I, s:I}", "experiment",
                  program->name, "spec_sha256", program->spec_sha256, "recipe_sha256",
                  program->recipe_sha256, "device", "name", rt->device.name, "simulated",
                  rt->device.simulated, "ranks", rt->ranks, "cards", rt->ranks * rt->card_count,
                  "precision", program->precision, "steps", (json_int_t)rt->measured.steps,
                  "first_step", (json_int_t)rt->step_at_start, "seed",
                  (json_int_t)rt->options.seed);
    if (!report)
        rt_internal("the report's head cannot be built");
    if (rt->data_sha256[0])
        json_object_set_new(report, "data_sha256", json_string(rt->data_sha256));
    if (rt->state_crc32[0])
        json_object_set_new(report, "state_crc32", json_string(rt->state_crc32));
    /* where --compare finds the spec, wherever the results are */
    json_object_set_new(report, "program", json_string(rt->options.program_dir));
    return report;
}

static json_t *loss_json(const Rt *rt, const Figures *f) {
    const RtMeasured *m = &rt->measured;
    json_t *loss = json_pack("{s:o, s:o, s:o, s:o}", "first", number(f->first_loss), "last",
                             number(f->last_loss), "heldout_before", number(m->before.loss),
                             "heldout_after", number(m->after.loss));
    if (heldout_targets(m) > 0)
        json_object_set_new(loss, "heldout_targets", json_integer(heldout_targets(m)));
    if (rt->program->evaluate_converted.enqueue)
        json_object_set_new(loss, "heldout_quantized", number(m->converted.loss));
    return loss;
}

static json_t *report_json(const Rt *rt, const Figures *f) {
    const RtProgram *program = rt->program;
    const RtMeasured *m = &rt->measured;
    json_t *report = identity_json(rt);
    set_whole_run(report, rt);
    set_times(report, rt, f);
    json_object_set_new(report, "memory", memory_json(&f->memory));
    json_object_set_new(report, "loss", loss_json(rt, f));
    set_evaluations(report, rt);
    if (program->loss_scale)
        json_object_set_new(report, "loss_scale",
                            json_pack("{s:o, s:I}", "final", number(m->loss_scale), "skipped_steps",
                                      (json_int_t)m->skipped_steps));
    json_object_set_new(report, "flops",
                        json_pack("{s:o, s:o}", "per_step", whole(program->predicted.flops),
                                  "share_of_peak", number(f->share_of_peak)));
    json_object_set_new(report, "profiling_window", window_json(rt->profile));
    json_object_set_new(report, "data", data_json(rt));
    json_object_set_new(report, "predicted", predicted_json(rt, &f->memory));
    json_object_set_new(report, "versions", versions_json(rt));
    return report;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Prints a line with a name, the measured and the predicted value; NAN prints as "-". What is too long
 * for a column, as the loss of a run that diverged, has an exponent. */
static void line(FILE *out, const char *name, const char *format, double measured,
                 double predicted) {
    enum { COLUMN = 18 };
    char texts[2][COLUMN + 1];
    const double values[2] = {measured, predicted};
    for (int i = 0; i < 2; i++) {
        if (!isfinite(values[i]))
            snprintf(texts[i], sizeof texts[i], "-");
        else if (snprintf(texts[i], sizeof texts[i], format, values[i]) > COLUMN)
            snprintf(texts[i], sizeof texts[i], "%.6e", values[i]);
    }
    fprintf(out, "%-34s %*s %*s\n", name, COLUMN, texts[0], COLUMN, texts[1]);
}

static int cards_of(const Rt *rt) { return rt->ranks * rt->card_count; }

/* Of which cards most lines are; nothing with one card. */
static void print_columns(FILE *out, const Rt *rt) {
    char of[48] = "";
    if (rt->card_count > 1)
        snprintf(of, sizeof of, "all %d cards", rt->card_count);
    else if (rt->ranks > 1)
        snprintf(of, sizeof of, "first of %d cards", rt->ranks);
    fprintf(out, "%-34s %18s %18s\n", of, rt->device.simulated ? "simulated" : "measured",
            "predicted");
}

/* With several cards the lines that are not as print_columns() says name their own. */
static void print_flops(FILE *out, const Rt *rt, const Figures *f) {
    static const double giga = 1e-9;
    const char *name = rt->card_count > 1 ? "FLOPs a step, one card, 1e9" : "FLOPs a step, 1e9";
    line(out, name, "%.3f", NAN, rt->program->predicted.flops * giga);
    if (cards_of(rt) > 1)
        line(out, "FLOPs a step, all cards, 1e9", "%.3f", NAN, ranks_flops(rt) * giga);
    line(out, "share of peak FLOP/s", "%.3f", f->share_of_peak, NAN);
}

static void print_times(FILE *out, const Rt *rt, const Figures *f) {
    const RtPredicted *p = &rt->program->predicted;
    /* predictions are for a real device, so they are not printed next to simulated times */
    bool comparable = !rt->device.simulated;
    char rate[48];
    snprintf(rate, sizeof rate, "%s a second%s", rt->program->training.unit.plural,
             cards_of(rt) > 1 ? ", all cards" : "");
    line(out, "iteration, median ms", "%.3f", f->median, comparable ? p->iteration_ms : NAN);
    line(out, "iteration, p10 ms", "%.3f", f->p10, NAN);
    line(out, "iteration, p90 ms", "%.3f", f->p90, NAN);
    line(out, "iteration, first ms", "%.3f", f->first, NAN);
    line(out, rate, "%.0f", f->units_per_s, comparable ? predicted_rate(rt) : NAN);
    for (int i = 0; i < FEEDINGS; i++)
        line(out, feedings[i].text, "%.3f", f->feeding[i], NAN);
    fprintf(out, "%-34s %18s %18s\n", "bound by", f->bound_by ? f->bound_by : "-", "-");
    fprintf(out, "%-34s %18s %18s\n", "host memory of input copies", f->host_memory, "-");
    print_flops(out, rt, f);
}

static void print_exchange(FILE *out, const Rt *rt, const char *name, const RtExchanged *all) {
    const RtPredicted *p = &rt->program->predicted;
    double planned = 0;
    for (int i = 0; i < p->exchange_count; i++)
        if (!strcmp(p->exchanges[i].name, name))
            planned = (double)p->exchanges[i].bytes;
    char title[64];
    snprintf(title, sizeof title, "%s a step, bytes", name);
    if (all->count > 0 || planned > 0)
        line(out, title, "%.0f", (double)all->bytes / (double)rt->measured.steps, planned);
}

static void print_a_step(FILE *out, const Rt *rt) {
    const RtMeasured *m = &rt->measured;
    const RtPredicted *p = &rt->program->predicted;
    double steps = m->steps ? (double)m->steps : NAN;
    line(out, "kernel launches a step", "%.1f", (double)m->launches / steps, p->kernel_launches);
    line(out, "graph launches a step", "%.2f", (double)m->graph_launches / steps, p->graph_launches);
    line(out, "launch time a step, host ms", "%.3f", m->launch_ms / steps, NAN);
    line(out, "host to device a step, bytes", "%.0f", (double)m->copies[RT_H2D].bytes / steps,
         p->h2d_bytes);
    line(out, "device to host a step, bytes", "%.0f", (double)m->copies[RT_D2H].bytes / steps, NAN);
    for (int kind = 0; kind < RT_COLLECTIVES; kind++)
        print_exchange(out, rt, collective_name((RtCollective)kind), &m->collectives[kind]);
    for (int i = 0; i < RT_PURPOSES; i++)
        print_exchange(out, rt, purposes[i], &m->peer[i]);
    line(out, "synchronisations a step", "%.2f", (double)m->syncs / steps, NAN);
    line(out, "waits for earlier steps, a step", "%.2f", (double)m->waits / steps, NAN);
}

/* In MiB, as the plan prints it; report.json has bytes. */
static void print_memory(FILE *out, const Rt *rt, const Memory *memory) {
    static const double mib = 1 << 20;
    const RtProgram *program = rt->program;
    bool several = cards_of(rt) > 1;
    line(out, several ? "allocated, most on a card, MiB" : "allocated for arenas, MiB", "%.2f",
         memory->allocated / mib, memory->planned / mib);
    if (program->predicted.decoded_bytes)
        line(out, "weights kept decoded, MiB", "%.2f", NAN,
             (double)program->predicted.decoded_bytes / mib);
    line(out, several ? "process, most on a card, peak MiB" : "process, peak MiB", "%.2f",
         memory->process_peak / mib, memory->process_planned / mib);
}

/* Prints lines with a star, which print_report() explains. */
static void print_window(FILE *out, const Rt *rt) {
    double steps = (double)profile_steps(rt->profile);
    line(out, "kernels a step, device ms *", "%.3f",
         profile_ms(rt->profile, PROFILE_KERNEL) / steps, NAN);
    line(out, "copies h2d a step, device ms *", "%.3f",
         profile_copy_ms(rt->profile, RT_H2D) / steps, NAN);
}

static void print_data(FILE *out, const Rt *rt) {
    const LoaderFacts *facts = loader_facts(rt->loader);
    const RtData *data = &rt->program->data;
    double epochs = epochs_of(rt, rt->step);
    if (epochs > 0)
        line(out, "epochs", epochs_format(epochs), epochs, NAN);
    if (facts->truncated > 0)
        line(out, data->pairs ? "pairs cut" : "samples cut", "%.0f", (double)facts->truncated, NAN);
    if (facts->skipped > 0)
        line(out, data->images ? "images left out" : "pairs left out", "%.0f",
             (double)facts->skipped, NAN);
    if (facts->mean_tokens <= 0)
        return;
    line(out, data->pairs ? "tokens of a pair, mean" : "tokens of a sample, mean", "%.1f",
         facts->mean_tokens, NAN);
    line(out, "padding, share of places", "%.3f", facts->padding_share, NAN);
    line(out, "targets, share of places", "%.3f", facts->target_share, NAN);
}

static void print_heldout(FILE *out, const Rt *rt, const char *when, const RtEvaluation *found) {
    char name[64];
    snprintf(name, sizeof name, "held-out loss %s", when);
    line(out, name, "%.6f", rt_six_decimals(found->loss), NAN);
    for (int i = 0; i < rt->program->metric_count; i++) {
        snprintf(name, sizeof name, "held-out %s %s", rt->program->metrics[i].name, when);
        line(out, name, "%.6f", isnan(found->loss) ? NAN : rt_six_decimals(found->metrics[i]), NAN);
    }
}

static void print_heldout_targets(FILE *out, const Rt *rt) {
    int64_t targets = heldout_targets(&rt->measured);
    char name[64];
    snprintf(name, sizeof name, "held-out %s", targets_name(rt->program));
    if (targets > 0)
        line(out, name, "%.0f", (double)targets, NAN);
}

/* As a shell reads it: '\'' is a quote in quotes. */
static void print_setting(FILE *out, const char *text) {
    fputs("    --set '", out);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fputc(*text, out);
    fputs("'\n", out);
}

static void print_settings(FILE *out, const RtProgram *program) {
    for (int i = 0; i < program->setting_count; i++)
        print_setting(out, program->settings[i]);
    fputc('\n', out);
}

/* Prints what the labels and the columns leave out. */
static void print_notes(FILE *out, const Rt *rt) {
    const RtPredicted *predicted = &rt->program->predicted;
    long long window = (long long)profile_steps(rt->profile);
    if (window > 0)
        fprintf(out, "\n* from a profiled window of %lld step%s, not part of the iteration times\n",
                window, window == 1 ? "" : "s");
    fprintf(out,
            "\n- means no measurement or no prediction: the plan predicts the median time and the "
            "rate, FLOPs,\nmemory, launches of kernels and graphs, and the bytes of batches and "
            "collectives.\n"
            "\nFLOPs are those of the model's own work on %s card: the matrix products, "
            "convolutions and\nattention of forward and backward, without recomputation and products "
            "with zeros. Backward of\nattention counts twice its forward. A frozen weight has no "
            "gradient, so none is counted.\n",
            rt->ranks > 1 ? "the first" : "one");
    if (loader_facts(rt->loader)->mean_tokens > 0)
        fprintf(out,
                "\nTokens a second are places of rows, padding included. Mean tokens, after cutting, "
                "and shares of\nplaces are of the training data; what was cut or left out is counted "
                "in the held-out data too.\n");
    if (rt->numa.node >= 0)
        fprintf(out, "\nThreads and host memory: on NUMA node %d.\n", rt->numa.node);
    else
        fprintf(out, "\nThreads and host memory: not bound to a NUMA node: %s.\n", rt->numa.why);
    if (rt->device.simulated)
        fprintf(out,
                "\nThis ran on the simulated device: its times say nothing about a GPU. For %s "
                "the plan predicts %.3f ms a step.\n",
                predicted->device, predicted->iteration_ms);
}

static void print_whole_run(FILE *out, const Rt *rt) {
    ParamCounts params = ranks_params(rt);
    fprintf(out, "%lld parameters, %lld trainable", (long long)params.total,
            (long long)params.trained);
    if (isfinite(load_s(rt)))
        fprintf(out, "; loaded in %.1f s", load_s(rt));
    if (isfinite(train_s(rt)))
        fprintf(out, "; trained for %.1f s", train_s(rt));
    fputs("\n\n", out);
}

static void print_report(FILE *out, const Rt *rt, const Figures *f) {
    const RtProgram *program = rt->program;
    const RtMeasured *m = &rt->measured;
    fprintf(out, "%s (%s) on %s%s, steps %lld to %lld, seed %lld\n", program->name,
            program->precision, rt->device.name, rt->device.simulated ? ", simulated" : "",
            (long long)rt->step_at_start, (long long)rt->step, (long long)rt->options.seed);
    print_settings(out, program);
    print_whole_run(out, rt);
    print_columns(out, rt);
    print_times(out, rt, f);
    print_a_step(out, rt);
    if (profile_steps(rt->profile) > 0)
        print_window(out, rt);
    print_memory(out, rt, &f->memory);
    print_data(out, rt);
    line(out, "loss, first step", "%.6f", f->first_loss, NAN);
    line(out, "loss, last step", "%.6f", f->last_loss, NAN);
    if (program->loss_scale) {
        line(out, "loss scale, last step", "%.0f", m->loss_scale, NAN);
        line(out, "steps without an update", "%.0f", (double)m->skipped_steps, NAN);
    }
    print_heldout(out, rt, "before", &m->before);
    print_heldout(out, rt, "after", &m->after);
    if (program->evaluate_converted.enqueue)
        print_heldout(out, rt, "quantized", &m->converted);
    print_heldout_targets(out, rt);
    ranks_print(out, rt);
    print_notes(out, rt);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Nine digits distinguish all fp32 values, seventeen all fp64 values. The learning rate follows from
 * the spec, so it needs no more than nine: with seventeen, 0.008 reads 0.0080000000000000002. */
static void print_losses(FILE *out, const Rt *rt, const Figures *figures) {
    (void)figures;
    RtDtype real = rt->program->real;
    int digits = real == RT_F64 ? 17 : 9;
    fputs("step,loss,grad_norm,lr", out);
    for (int k = 0; k < rt->program->metric_count; k++)
        if (rt->step_metrics[k])
            fprintf(out, ",%s", rt->program->metrics[k].name);
    fputc('\n', out);
    for (int64_t i = 0; i < rt->known_steps; i++) {
        fprintf(out, "%lld,%.*g,%.*g,%.9g", (long long)i + 1, digits, rt_figure(real, rt->losses, i),
                digits, rt_figure(real, rt->grad_norms, i), rt->rates[i]);
        for (int k = 0; k < rt->program->metric_count; k++)
            if (rt->step_metrics[k])
                fprintf(out, ",%.*g", digits, rt_figure(real, rt->step_metrics[k], i));
        fputc('\n', out);
    }
}

static void print_json(FILE *out, const Rt *rt, const Figures *figures) {
    json_t *report = report_json(rt, figures);
    json_dumpf(report, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    fputc('\n', out);
    json_decref(report);
}

static void print_evaluations(FILE *out, const Rt *rt, const Figures *figures) {
    (void)figures;
    const RtProgram *program = rt->program;
    int digits = program->real == RT_F64 ? 17 : 9;
    fputs("step,loss", out);
    for (int k = 0; k < program->metric_count; k++)
        fprintf(out, ",%s", program->metrics[k].name);
    fputc('\n', out);
    for (int i = 0; i < rt->evaluation_count; i++) {
        const RtEvaluation *found = &rt->evaluations[i];
        fprintf(out, "%lld,%.*g", (long long)found->step, digits, found->loss);
        for (int k = 0; k < program->metric_count; k++)
            fprintf(out, ",%.*g", digits, found->metrics[k]);
        fputc('\n', out);
    }
}

static const struct {
    const char *name;
    void (*print)(FILE *out, const Rt *rt, const Figures *figures);
} files[] = {{"report.txt", print_report},
             {"loss.csv", print_losses},
             {"eval.csv", print_evaluations},
             {"report.json", print_json}}; /* last: its presence means that all are there */
enum { FILE_COUNT = sizeof files / sizeof *files };

void report_check(const Rt *rt) {
    char error[RT_MAX_PATH + 256];
    for (int i = 0; i < FILE_COUNT; i++)
        if (!outfile_check(rt->options.out_dir, files[i].name, error, sizeof error))
            rt_fail("%s; remove it, or choose another folder with --out", error);
}

bool report_has(const char *name) {
    for (int i = 0; i < FILE_COUNT; i++)
        if (!strcmp(files[i].name, name))
            return true;
    return false;
}

void report_write(Rt *rt) {
    char error[RT_MAX_PATH + 256];
    Figures figures = figures_of(rt);
    figures.memory = ranks_memory(rt);
    if (!rt_make_folder(rt->options.out_dir))
        rt_fail("%s: the folder cannot be created; choose another one with --out",
                rt->options.out_dir);
    for (int i = 0; i < FILE_COUNT; i++) {
        OutFile file;
        if (!outfile_open(&file, rt->options.out_dir, files[i].name, error, sizeof error))
            rt_fail("%s; choose another folder with --out", error);
        files[i].print(file.stream, rt, &figures);
        if (!outfile_finish(&file, error, sizeof error))
            rt_fail("%s; free some space, or choose another folder with --out", error);
    }
}

static void report_path(const Rt *rt, char path[RT_MAX_PATH + 16]) {
    snprintf(path, RT_MAX_PATH + 16, "%s/report.json", rt->options.out_dir);
}

void report_remove(const Rt *rt) {
    char path[RT_MAX_PATH + 16];
    report_path(rt, path);
    unlink(path);
    trace_remove(rt);
}

/* Returns NULL if there is none. A FIFO of that name, which could block the run, is not opened. */
static json_t *read_report(const Rt *rt) {
    json_error_t error;
    char path[RT_MAX_PATH + 16];
    report_path(rt, path);
    return infile_json(path, 0, &error);
}

/* Compares the whole spec, not its recipe: the figures depend on all keys, even on those that leave
 * the weights as they are, such as compile.fusion. The option --seed takes the place of a key. */
bool report_is_of_other(const Rt *rt) {
    json_t *report = read_report(rt);
    const char *sha256 = json_string_value(json_object_get(report, "spec_sha256"));
    const json_t *seed = json_object_get(report, "seed");
    bool other = (sha256 && strcmp(sha256, rt->program->spec_sha256) != 0) ||
                 (seed && json_integer_value(seed) != rt->options.seed);
    json_decref(report);
    return other;
}

bool report_is_of_state(const Rt *rt, const char *state_crc32) {
    json_t *report = read_report(rt);
    const char *reported = json_string_value(json_object_get(report, "state_crc32"));
    bool same = reported && strcmp(reported, state_crc32) == 0;
    json_decref(report);
    return same;
}

int64_t report_last_step(const Rt *rt) {
    json_int_t first = 0, steps = 0;
    json_t *report = read_report(rt);
    bool known =
        report && json_unpack(report, "{s:I, s:I}", "first_step", &first, "steps", &steps) == 0;
    json_decref(report);
    return known ? first + steps : -1;
}
