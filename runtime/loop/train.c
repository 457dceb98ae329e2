/* The training loop.
 *
 *     evaluation -> steps -> checkpoint, evaluation, export, report
 *
 * Steps are enqueued asynchronously: the host continues with the next batch while the device works,
 * and waits only if both input slots are in use. */
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/export.h"
#include "runtime/comm/comm.h"
#include "runtime/data/data.h"
#include "runtime/device/device.h"
#include "runtime/files/outfile.h"
#include "runtime/loop/loop.h"
#include "runtime/loop/reference.h"
#include "runtime/report/profile.h"
#include "runtime/report/report.h"
#include "runtime/report/report_ranks.h"
#include "runtime/step/clock.h"
#include "runtime/step/history.h"
#include "runtime/step/input.h"
#include "runtime/step/step.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- one step -------------------------------------------------------------------------------- */

static bool run_phase(Rt *card, RtPhase phase, int slot, void *context) {
    (void)context;
    rt_run_phase(card, phase, slot);
    return false;
}

static void run_step(Rt *rt) {
    profile_range_push("step");
    rt_step(rt, rt->step, run_phase, NULL);
    profile_range_pop();
    rt->step++;
}

/* Checks and shows losses that have arrived. */
static void look_at_history(Rt *rt) {
    int64_t bad = history_bad_step(rt);
    if (bad >= 0) {
        progress_end();
        bad_step_explain(rt, bad);
    }
    if (rt->known_steps == 0)
        return;
    double loss = rt_figure(rt->program->real, rt->losses, rt->known_steps - 1);
    double norm = rt_get(rt->program->real, rt->grad_norms, rt->known_steps - 1);
    if (!isfinite(loss) && isfinite(norm))
        rt_fail("step %lld: the loss is %g although its gradients are finite; lower optimizer.lr, "
                "or check the data of that step",
                (long long)rt->known_steps, loss);
    progress_show(rt);
}

static void log_step(Rt *rt) {
    const RtTraining *t = &rt->program->training;
    bool due = t->log_every > 0 && (rt->step % t->log_every == 0 || rt->step == 1);
    bool arrived = history_arrived(rt, due);
    /* Several ranks check at the same steps, so that all of them replay a bad step together. */
    if (rt->ranks > 1 ? due : arrived)
        look_at_history(rt);
    else if (arrived)
        progress_show(rt);
    if (due)
        history_request(rt);
}

/* ---- between steps --------------------------------------------------------------------------- */

/* In a run of a few steps the loss of the first one may arrive after the last one was enqueued.
 * It has a line of its own all the same. */
static void show_first_step(Rt *rt) {
    if (history_arrived(rt, true) && rt->known_steps < rt->step && history_bad_step(rt) < 0)
        progress_show_late(rt);
}

/* Waits for all steps enqueued so far and checks them. */
static void settle(Rt *rt) {
    int64_t known = rt->known_steps;
    if (known == 0)
        show_first_step(rt);
    history_complete(rt);
    rt_sync(rt, RT_STREAM_COMPUTE);
    clock_collect(rt);
    inputs_collect(rt);
    process_memory_measure(rt);
    if (rt->known_steps > known)
        look_at_history(rt);
}

/* Whether something is due after every `interval` steps. After the last step finish() does it. */
static bool is_due(const Rt *rt, int64_t interval) {
    return interval > 0 && rt->step % interval == 0 && rt->step < rt->options.steps;
}

/* The profiling window, which begins after start_step steps of this process. The loop settles at both
 * ends, so all ranks have a window, even those that cannot profile. */
typedef struct {
    int64_t first, end;
    bool open;
} Window;

static Window window_of(const Rt *rt) {
    const RtProfiling *p = &rt->program->profiling;
    Window window = {-1, -1, false};
    if (p->enabled) {
        window.first = rt->step + p->start_step;
        window.end = window.first + p->steps;
    }
    return window;
}

/* Says so if the run ends before the window begins, as one that is resumed near its end. */
static void note_no_window(const Rt *rt, const Window *window) {
    long long steps = rt->options.steps - rt->step;
    if (rt->profile && steps > 0 && window->first >= rt->options.steps)
        printf("profiling: no step is recorded, because this run takes %lld step%s and the window "
               "begins after %lld; lower profiling.start_step, or train more steps\n",
               steps, steps == 1 ? "" : "s", (long long)rt->program->profiling.start_step);
}

static void window_begin(Rt *rt, Window *window) {
    if (rt->step != window->first)
        return;
    settle(rt);
    comm_barrier(rt, "the start of the profiling window");
    profile_begin(rt->profile, rt->step + 1);
    clock_restart(rt);
    window->open = true;
}

/* Evaluations and checkpoints within the window are not part of it. */
static void window_pause(const Rt *rt, const Window *window) {
    if (window->open)
        profile_pause(rt->profile);
}

/* Ranks that wait for another one, as for rank 0's checkpoint, do so before they record again. */
static void window_resume(Rt *rt, const Window *window) {
    if (!window->open)
        return;
    comm_barrier(rt, "the rest of the profiling window");
    profile_resume(rt->profile);
}

static void window_end(Rt *rt, Window *window) {
    if (!window->open || (rt->step < window->end && rt->step < rt->options.steps))
        return;
    settle(rt);
    profile_end(rt->profile, rt->step - window->first);
    clock_restart(rt);
    window->open = false;
}

static void save(Rt *rt, const Window *window) {
    settle(rt);
    progress_end();
    window_pause(rt, window);
    profile_range_push("checkpoint");
    checkpoint_save(rt);
    profile_range_pop();
    window_resume(rt, window);
    clock_restart(rt);
    progress_start(rt);
}

static void evaluate_between(Rt *rt, const Window *window) {
    settle(rt);
    progress_end();
    double start = rt_now_ms();
    window_pause(rt, window);
    evaluate(rt, NULL);
    window_resume(rt, window);
    rt->measured.train_ms -= rt_now_ms() - start;
    clock_restart(rt);
    progress_start(rt);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Whether the present step was evaluated: a resumed run may have saved it, as its last step at that
 * time, without the evaluation that is due. */
static bool was_evaluated(const Rt *rt) {
    int count = rt->evaluation_count;
    return count > 0 && rt->evaluations[count - 1].step == rt->step;
}

/* Returns the signal that ended training, or 0. */
static int run_steps(Rt *rt) {
    Window window = window_of(rt);
    int signal = 0;
    note_no_window(rt, &window);
    double start = rt_now_ms();
    clock_restart(rt);
    progress_start(rt);
    if (is_due(rt, rt->program->training.eval_every) && rt->step > 0 && !was_evaluated(rt))
        evaluate_between(rt, &window);
    while (rt->step < rt->options.steps && !(signal = comm_first_signal(rt))) {
        window_begin(rt, &window);
        run_step(rt);
        clock_step(rt, window.open);
        window_end(rt, &window);
        log_step(rt);
        if (is_due(rt, rt->program->training.eval_every))
            evaluate_between(rt, &window);
        if (is_due(rt, rt->program->checkpoint.interval))
            save(rt, &window);
    }
    if (window.open) {
        window.end = rt->step;
        window_end(rt, &window);
    }
    settle(rt);
    progress_end();
    rt->measured.train_ms += rt_now_ms() - start;
    if (rt->options.steps == 0) /* only an evaluation: nothing to save */
        return 0;
    return signal ? signal : comm_first_signal(rt);
}

static void measure_loss_scale(Rt *rt) {
    const RtLossScale *at = rt->program->loss_scale;
    double scale = 0;
    int32_t skipped = 0;
    if (!at)
        return;
    rt_read_state(rt, at->scale, rt_dtype_bytes(rt->program->real), &scale);
    rt_read_state(rt, at->skipped_steps, sizeof skipped, &skipped);
    rt->measured.loss_scale = rt_get(rt->program->real, &scale, 0);
    rt->measured.skipped_steps = skipped;
}

/* Occasional overflows are how the loss scale adapts, but one in the last step deserves a
 * warning. */
static void warn_of_skipped_steps(const Rt *rt) {
    long long skipped = rt->measured.skipped_steps, steps = rt->step;
    if (!rt->program->loss_scale || rt->known_steps == 0 ||
        isfinite(rt_get(rt->program->real, rt->grad_norms, rt->known_steps - 1)))
        return;
    if (skipped == steps)
        rt_warn("no step applied an update: the gradients of all %lld were not finite. The loss "
                "scale is now %g; set precision.init_scale to it, or train more steps, which lower "
                "it further; if that does not help, check the initial weights and the data",
                steps, rt->measured.loss_scale);
    else
        rt_warn("%lld of %lld steps applied no update, including the last: their gradients were "
                "not finite. The loss scale is now %g; lower optimizer.lr, or check the data",
                skipped, steps, rt->measured.loss_scale);
}

/* A run that trains nothing keeps the results of an earlier training run, unless --out is given. */
static bool keeps_results(const Rt *rt) {
    if (rt->options.steps > 0 || rt->options.out_given || report_last_step(rt) <= 0)
        return false;
    printf("%s: keeping the results of the earlier training run; to write this run's, use --out "
           "DIR\n",
           rt->options.out_dir);
    return true;
}

/* The results' folder as one would type it here, unless --out gave it. */
static const char *shown_folder(const Rt *rt) {
    char here[RT_MAX_PATH];
    const char *dir = rt->options.out_dir;
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
    bool below = length > 1 && strncmp(dir, here, length) == 0 && dir[length] == '/';
    return below && !rt->options.out_given ? dir + length + 1 : dir;
}

/* Writes the checkpoint first, so that nothing after it can lose the training. Rank 0 writes, with
 * the parts of the other ranks. */
static void finish(Rt *rt) {
    bool trained = rt->step > rt->step_at_start, results_due = trained || rt->options.resume;
    if (trained)
        checkpoint_save(rt);
    if (results_due) {
        rt->measured.after = evaluate(rt, "after");
        if (rt->rank == 0)
            report_remove(rt); /* no report while the files that it is of are replaced */
        export_run(rt);
        if (convert_run(rt))
            rt->measured.converted = evaluate_converted(rt);
    }
    process_memory_measure(rt);
    ranks_gather(rt);
    if (rt->rank > 0) {
        trace_write(rt);
        return;
    }
    measure_loss_scale(rt);
    warn_of_skipped_steps(rt);
    bool kept = keeps_results(rt);
    if (!kept) {
        report_remove(rt); /* and the window of an earlier run: this one may have none */
        report_write(rt);
    }
    trace_write(rt); /* last, because nothing has checked that its files can be written */
    if (!kept)
        printf("results: %s\n", shown_folder(rt));
}

static void check_checkpoints(const char *dir) {
    char path[RT_MAX_PATH];
    join_path(path, dir, CHECKPOINTS);
    const char *problem = rt_folder_problem(path);
    if (problem)
        rt_fail("%s: cannot write checkpoints there: %s; choose another folder with --out", path,
                problem);
}

/* Checks the out folder now, before there is something to lose. It stays open, and locked if its
 * file system supports locks, until the process ends. */
static void take_out_folder(const Rt *rt) {
    const char *dir = rt->options.out_dir;
    int folder = rt_make_folder(dir) ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (folder < 0 || access(dir, W_OK | X_OK) != 0)
        rt_fail("%s: cannot write results there: %s; choose another folder with --out", dir,
                strerror(errno));
    if (flock(folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        rt_fail("%s: another run is writing its results there; wait for it, or choose another "
                "folder with --out",
                dir);
    check_checkpoints(dir);
    if (rt->options.steps > 0 || rt->options.resume)
        export_check(rt);
    report_check(rt);
}

/* Says so if a run starts from the beginning where there is a checkpoint that is not that of the
 * results, as a run leaves it that was stopped. The folder is named because this run, if it is
 * stopped too, leaves a newer checkpoint, which --resume alone would choose. */
static void note_stopped_run(const Rt *rt) {
    char dir[RT_MAX_PATH], crc32[9];
    bool starts_over = !rt->options.resume && rt->options.steps > 0;
    int64_t step = starts_over ? checkpoint_newest(rt, dir, crc32) : -1;
    if (step <= 0 || report_is_of_state(rt, crc32))
        return;
    printf("%s: there is a checkpoint of step %lld, but this run starts from the beginning, and its "
           "own checkpoints may replace that one; to go on from it instead, give its folder to "
           "--resume (make run: ARGS='--resume DIR')\n",
           dir, (long long)step);
}

/* The compiler warns too, but a program may be run long after it was generated. A run of as many steps
 * as that of the results, or more, loses nothing. */
static void note_other_results(const Rt *rt) {
    char what[96] = "with other settings";
    if (rt->options.resume || rt->options.steps == 0)
        return;
    int64_t reported = report_last_step(rt);
    if (!report_is_of_other(rt) && reported > rt->options.steps)
        snprintf(what, sizeof what, "of %lld steps, more than this one's %lld", (long long)reported,
                 (long long)rt->options.steps);
    else if (!report_is_of_other(rt))
        return;
    printf("%s: the results there are of a run %s; this run will replace them when it ends; to keep "
           "them, use --out DIR (make run: ARGS='--out DIR')\n",
           rt->options.out_dir, what);
}

/* Whether a resumed run has nothing to do: it is past its last step, or at its last step with its own
 * report written. Its files are then left alone. */
static bool is_done(Rt *rt) {
    long long step = rt->step, steps = rt->options.steps;
    if (!rt->options.resume || step < steps)
        return false;
    int8_t whole = rt->rank == 0 && (step > steps || report_is_of_state(rt, rt->state_crc32));
    comm_broadcast(rt, &whole, sizeof whole, "the end of the run");
    if (!whole)
        return false;
    printf(step == steps ? "already at step %lld of %lld: nothing to do\n"
                         : "already at step %lld, past the %lld of --steps: nothing to do\n",
           step, steps);
    return true;
}

/* A resumed run takes the figures from its checkpoint. */
static RtEvaluation evaluate_before(Rt *rt) {
    if (rt->evaluation_count > 0 && rt->evaluations[0].step == 0)
        return rt->evaluations[0];
    return rt->step == 0 ? evaluate(rt, "before") : (RtEvaluation){.loss = NAN};
}

/* Returns the signal that ended it, or 0. */
static int begin_and_run(Rt *rt) {
    int signal = reference_prepare(rt);
    if (signal)
        return signal;
    rt->measured.before = evaluate_before(rt);
    if (rt->options.steps == 0 && !isfinite(rt->measured.before.loss) &&
        loader_eval_batches(rt->loader) > 0 && rt->step == 0)
        rt_fail("the held-out loss is %g: the weights or the adapter contain non-finite numbers",
                rt->measured.before.loss);
    if (rt->options.dump_file && rt->step == 0)
        dump_first_step(rt);
    return run_steps(rt);
}

/* How to go on after a stop. make run says it where it runs this program for another one, which starts
 * from what is trained here. */
static void print_go_on(const Rt *rt) {
    const char *told = getenv("GPUOPT_GO_ON"), *out = rt->options.out_dir;
    if (told)
        fputs(told, stderr);
    else if (rt->options.out_given)
        fprintf(stderr, "--resume --out %s (make run: ARGS='--resume --out %s')", out, out);
    else
        fputs("--resume (make run: ARGS=--resume)", stderr);
}

/* A stopped run leaves the results of an earlier one, next to its own checkpoint. */
static void say_stopped(const Rt *rt, int signal) {
    int64_t reported = report_last_step(rt);
    fprintf(stderr, "%s: stopped after step %lld of %lld, checkpoint written; go on with ",
            strsignal(signal), (long long)rt->step, (long long)rt->options.steps);
    print_go_on(rt);
    fprintf(stderr, "%s\n",
            rt->step < rt->options.steps ? "" : ", which evaluates it and writes the results");
    if (reported >= 0)
        fprintf(stderr,
                "%s: the results there are still those of an earlier run, which ended at step "
                "%lld\n",
                rt->options.out_dir, (long long)reported);
}

int train(Rt *rt) {
    if (is_done(rt))
        return 0;
    if (rt->rank == 0) {
        take_out_folder(rt);
        note_stopped_run(rt);
        note_other_results(rt);
        if (rt->options.dump_file)
            dump_check(rt);
    }
    rt->measured.before = rt->measured.after = rt->measured.converted =
        (RtEvaluation){.loss = NAN};
    int signal = begin_and_run(rt);
    if (!signal) {
        finish(rt);
        return 0;
    }
    checkpoint_save(rt);
    if (rt->rank == 0)
        say_stopped(rt, signal);
    return RT_EXIT_RESUMABLE;
}
