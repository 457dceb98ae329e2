/* Tries the remedies of spec/less_memory.c. A changed spec may be refused like any other, which ends
 * the process: each is planned in a child process. */
#include "remedy.h"

#include "plan/fit.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* A remedy that saves less is not worth a change. */
static const double LEAST_SHARE = 0.01;

static void leave(int code) { _exit(code); }

/* Leaves without running what was registered for the exit of the compiler. */
static _Noreturn void plan_in_child(const Spec *spec, const Remedy *remedy, int result) {
    Arena arena = {0};
    OneCards known = {.arena = &arena};
    diag_stream = fopen("/dev/null", "w");
    diag_exit = leave;
    const Spec *changed = spec_changed(&arena, spec, remedy->sets, remedy->nsets);
    compile_device(&arena, changed);
    int64_t bytes = plans_fullest(compile_spec(&arena, &known, changed, NULL, NULL))->process_bytes;
    _exit(write(result, &bytes, sizeof bytes) != sizeof bytes);
}

/* Returns what a process of the changed experiment needs; INT64_MAX if it is refused. */
static int64_t bytes_with(const Spec *spec, const Remedy *remedy) {
    int ends[2];
    int64_t bytes;
    if (pipe(ends))
        return INT64_MAX;
    pid_t child = fork();
    if (child == 0)
        plan_in_child(spec, remedy, ends[1]);
    close(ends[1]);
    if (child < 0 || read(ends[0], &bytes, sizeof bytes) != sizeof bytes)
        bytes = INT64_MAX;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return bytes;
}

typedef struct {
    const Remedy *remedy; /* NULL: none helps */
    int64_t bytes;
} Choice;

/* Of the remedies that are another technique, or of those that are not. */
static Choice choose(const Plan *unfit, const Remedy *remedies, int count, bool other_technique) {
    Choice best = {NULL, INT64_MAX};
    double most = (1 - LEAST_SHARE) * (double)unfit->process_bytes;
    for (int i = 0; i < count; i++) {
        if (remedies[i].other_technique != other_technique)
            continue;
        int64_t bytes = bytes_with(unfit->spec, &remedies[i]);
        bool fits = bytes <= plan_budget_bytes(unfit);
        if (fits || (!best.remedy && (double)bytes <= most))
            best = (Choice){&remedies[i], bytes};
        if (fits)
            break;
    }
    return best;
}

/* "optimizer.state = \"int8\" keeps the moments in 8 bits: 12.34 GiB in all" */
static const char *describe(Arena *arena, Choice choice) {
    return choice.remedy ? arena_printf(arena, "%s: %.2f GiB in all", choice.remedy->text,
                                        (double)choice.bytes / (1 << 30))
                         : NULL;
}

const char *remedy_for(Arena *arena, const Plan *unfit) {
    int count;
    const Remedy *all = spec_less_memory(arena, unfit->spec, plan_largest_part(unfit), &count);
    const char *other = describe(arena, choose(unfit, all, count, true));
    const char *same = describe(arena, choose(unfit, all, count, false));
    return other && same ? arena_printf(arena, "%s; or %s", other, same) : other ? other : same;
}
