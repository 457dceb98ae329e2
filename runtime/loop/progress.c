/* The progress line: on a terminal one line that is overwritten, elsewhere plain lines. */
#include "runtime/base/rt.h"
#include "runtime/loop/loop.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The weight of the newest line in the estimate of the time left. */
static const double SMOOTHING = 0.3;

static struct {
    double since_ms; /* when the measurement of speed began */
    int64_t steps;   /* known steps at that time */
    double step_ms;  /* smoothed time of a step; 0: not known yet */
    bool warm;       /* the first steps, which create graphs and fill caches, have been shown */
    bool live;       /* the terminal shows a line without its newline */
} shown;

/* 12345 -> "12,345" */
static void print_grouped(char *text, size_t size, double value) {
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%.0f", value);
    size_t used = 0;
    for (int i = 0; i < length && used + 2 < size; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
}

static void print_duration(char *text, size_t size, double seconds) {
    long s = lround(seconds);
    if (s >= 3600)
        snprintf(text, size, "%ldh%02ldm", s / 3600, s / 60 % 60);
    else if (s >= 60)
        snprintf(text, size, "%ldm%02lds", s / 60, s % 60);
    else
        snprintf(text, size, "%lds", s);
}

/* The speed since the previous line. The time left uses a moving average, since one line may have
 * been slow. */
static void print_speed(const Rt *rt, double now, char *text, size_t size) {
    const RtTraining *t = &rt->program->training;
    int64_t steps = rt->known_steps - shown.steps;
    *text = '\0';
    if (!shown.warm || steps <= 0 || now <= shown.since_ms)
        return;
    double step_ms = (now - shown.since_ms) / (double)steps;
    shown.step_ms =
        shown.step_ms > 0 ? shown.step_ms + SMOOTHING * (step_ms - shown.step_ms) : step_ms;
    double remaining = (double)(rt->options.steps - rt->known_steps);
    double amount = (double)(rows_per_step(rt) * t->seq_len);
    char rate[48], left[32];
    print_grouped(rate, sizeof rate, amount / step_ms * 1e3);
    print_duration(left, sizeof left, shown.step_ms * 1e-3 * remaining);
    snprintf(text, size, "  %s %s/s  eta %s", rate, t->unit.brief, left);
}

/* Prints the first per-step metrics; the line has no room for more. */
static void print_metrics(const Rt *rt, int64_t step, char *text, size_t size) {
    enum { SHOWN = 2 };
    *text = '\0';
    for (int i = 0; i < SHOWN && i < rt->program->metric_count; i++) {
        size_t used = strlen(text);
        if (rt->step_metrics[i])
            snprintf(text + used, size - used, "  %s %.4g", rt->program->metrics[i].name,
                     rt_figure(rt->program->real, rt->step_metrics[i], step));
    }
}

void progress_show(Rt *rt) {
    if (rt->known_steps <= shown.steps)
        return;
    char speed[128], metrics[128];
    double now = rt_now_ms();
    int64_t last = rt->known_steps - 1;
    /* mpirun gives its ranks a terminal even if its own output goes elsewhere. */
    bool terminal = rt->ranks == 1 && isatty(STDOUT_FILENO);
    print_speed(rt, now, speed, sizeof speed);
    print_metrics(rt, last, metrics, sizeof metrics);
    double loss = rt_figure(rt->program->real, rt->losses, last);
    printf("%sstep %lld/%lld  loss ", terminal ? "\r\033[K" : "", (long long)rt->known_steps,
           (long long)rt->options.steps);
    printf(fabs(loss) < 1e9 ? "%.4f" : "%.4g", loss); /* a run that diverges */
    printf("  norm %.4g%s%s%s",
           rt_figure(rt->program->real, rt->grad_norms, last), metrics, speed, terminal ? "" : "\n");
    fflush(stdout);
    shown.live = terminal;
    shown.warm = true;
    shown.since_ms = now;
    shown.steps = rt->known_steps;
}

void progress_show_late(Rt *rt) {
    progress_show(rt);
    shown.warm = false;
}

void progress_start(Rt *rt) {
    shown.since_ms = rt_now_ms();
    shown.steps = rt->known_steps;
}

void progress_end(void) {
    if (shown.live)
        putchar('\n');
    shown.live = false;
}
