/* The plan's predictions for growing numbers of cards, each with batches of its own. */
#include "study/study.h"

#include "base/rounding.h"
#include "plan/figures.h"
#include "plan/fit.h"
#include "plan/print_plan.h"

#include <stdio.h>

enum { STEP_MS, SPEEDUP, EFFICIENCY, COMM_MS, EXPOSED_MS, COMM_BYTES, RANK_BYTES, FIGURES };

static const Figure figures[FIGURES] = {
    [STEP_MS] = {"step_ms", 0, "step, predicted", "ms", ONE_STEP},
    [SPEEDUP] = {"speedup", 0, "speed-up over one card", "", ONE_STEP},
    [EFFICIENCY] = {"efficiency", 0, "efficiency: speed-up per card", "", ONE_STEP},
    [COMM_MS] = {"communication_ms", 0, "communication of a step", "ms", ONE_STEP},
    [EXPOSED_MS] = {"exposed_ms", 0, "exposed communication of a step", "ms", ONE_STEP},
    [COMM_BYTES] = {"communication_bytes", 0, NULL, "bytes", ONE_STEP},
    [RANK_BYTES] = {"process_bytes", 0, "memory per rank", "bytes", WHOLE_RUN},
};

/* ---- as rows of a comparison ----------------------------------------------------------------- */

static Row row_of(Arena *arena, const Plan *plan) {
    Run *run = arena_alloc(arena, sizeof *run);
    Row row = {.run = run,
               .keys = arena_array(arena, 1, sizeof *row.keys),
               .values = arena_array(arena, 1, sizeof *row.values),
               .figures = arena_array(arena, FIGURES, sizeof *row.figures),
               .device = arena_strdup(arena, plan->device->title)};
    Toml *cards = arena_alloc(arena, sizeof *cards);
    *cards = (Toml){.kind = TOML_INT, .integer = plan_cards(plan)};
    row.values[0] = cards;
    row.keys[0] = arena_printf(arena, "%d", plan_cards(plan));
    const char *plural = plan_cards(plan) > 1 ? "s" : "";
    *run = (Run){.name = arena_printf(arena, "%d card%s", plan_cards(plan), plural),
                 .state = plan_fits(plan) ? "fits" : "too large",
                 .repeats = 1};
    const double values[FIGURES] = {
        [STEP_MS] = plan->step.ms,
        [SPEEDUP] = plan_speedup(plan),
        [EFFICIENCY] = plan_speedup(plan) / plan_cards(plan),
        [COMM_MS] = plan_exchanged(plan).ms,
        [EXPOSED_MS] = plan->exposed_ms,
        [COMM_BYTES] = plan_exchanged(plan).bytes,
        [RANK_BYTES] = (double)plan->process_bytes,
    };
    for (int i = 0; i < FIGURES; i++)
        row.figures[i] = spread_of_one(values[i]);
    return row;
}

static Comparison comparison_of(Arena *arena, const char *name, const Plan *const *plans,
                                int count) {
    static const char *keys[] = {"cards"};
    Comparison c = {.title = arena_printf(arena, "%s, predicted", name),
                    .device = plans[0]->device->title,
                    .keys = keys,
                    .key_count = 1,
                    .figures = figures,
                    .figure_count = FIGURES,
                    .rows = arena_array(arena, (size_t)count, sizeof *c.rows),
                    .count = count,
                    .reference = -1,
                    .predicted = true};
    for (int i = 0; i < count; i++)
        c.rows[i] = row_of(arena, plans[i]);
    return c;
}

/* ---- text ------------------------------------------------------------------------------------ */

static double at(const Comparison *c, int row, int figure) {
    return c->rows[row].figures[figure].median;
}

static void put_row(const Comparison *c, int i, const Plan *plan, StrBuf *out) {
    int node = device_node_cards(plan->device), cards = plan_cards(plan);
    sb_printf(out, "%5d %6d %11.3f %9.2f %10.1f %% %9.3f %11.3f %11.2f%s\n", cards,
              (int)ceil_div(cards, node), at(c, i, STEP_MS), at(c, i, SPEEDUP),
              100 * at(c, i, EFFICIENCY), at(c, i, COMM_MS), at(c, i, EXPOSED_MS),
              at(c, i, RANK_BYTES) / MIB, plan_fits(plan) ? "" : "   too large");
}

static void put_warnings(const Comparison *c, const Plan *const *plans, StrBuf *out) {
    for (int i = 1; i < c->count; i++)
        if (at(c, i, SPEEDUP) < at(c, i - 1, SPEEDUP))
            sb_printf(
                out,
                "slower: %d cards do %.2f x the work of %d, because they wait for each other "
                "longer than they work\n",
                plan_cards(plans[i]), at(c, i, SPEEDUP) / at(c, i - 1, SPEEDUP),
                plan_cards(plans[i - 1]));
}

static void put_text(const Comparison *c, const Plan *const *plans, const char *name,
                     StrBuf *out) {
    const Device *device = plans[0]->device;
    sb_printf(out, "%s on %s, %s: predicted, each replica with its own batches\n\n",
              name, device->title,
              choice_name(KEY_precision_dtype, (int)plans[0]->spec->precision.dtype));
    sb_puts(out,
            "cards  nodes     step ms  speed-up   efficiency   comm ms  exposed ms  MiB / rank\n");
    for (int i = 0; i < c->count; i++)
        put_row(c, i, plans[i], out);
    sb_printf(out, "\na node has %d cards; between nodes: %.0f GB/s per card, latency %.0f us\n",
              device_node_cards(device), device->network_rate / 1e9, device->network_ms * 1e3);
    if (plans[c->count - 1]->program->cards == 1)
        sb_printf(out, "several cards: MiB / rank include %.0f for each of NCCL's communicators\n",
                  (double)device->collective_bytes / MIB);
    if (plans[0]->program->stage.count > 1)
        sb_puts(out,
                "communication and memory are those of the stage that needs the most memory\n");
    sb_puts(out, "speed-up is relative to one card, ");
    print_one_card(plans[0], out);
    put_warnings(c, plans, out);
}

void scaling_print(Arena *arena, const char *name, const Plan *const *plans, int count,
                   const char *format) {
    PrintComparison print = comparison_format(format);
    Comparison c = comparison_of(arena, name, plans, count);
    StrBuf text = {0};
    if (print == comparison_text)
        put_text(&c, plans, name, &text);
    else
        print(&c, &text);
    fputs(text.text, stdout);
    sb_free(&text);
}
