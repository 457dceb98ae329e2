/* Keys that count steps, and before which training ends. They are no error, because a program's
 * --steps may train for longer. But who wrote both numbers probably meant something else. */
#include "spec/resolve.h"

typedef struct {
    Key key;
    int64_t value;
    int64_t before;   /* steps that do not count towards it */
    int64_t most;     /* the largest value that has its whole effect */
    const char *what; /* does not happen */
} Late;

enum { LATE_KEYS = 4 };

static void list_late(const Spec *spec, Late late[LATE_KEYS]) {
    int64_t steps = spec->training.steps, warmup = spec->lr_scheduler.warmup_steps;
    late[0] = (Late){KEY_lr_scheduler_warmup_steps, warmup, 0, steps,
                     "the learning rate does not reach optimizer.lr"};
    /* The step after these has the new rate. They may be all steps, as in a trial of one epoch. */
    late[1] = (Late){KEY_lr_scheduler_step_size, spec->lr_scheduler.step_size, warmup,
                     steps - warmup - 1, "the learning rate is not multiplied by gamma"};
    late[2] = (Late){KEY_training_eval_every, spec->training.eval_every, 0, steps,
                     "nothing is evaluated during training"};
    late[3] = (Late){KEY_checkpoint_interval, spec->checkpoint.interval, 0, steps,
                     "no checkpoint is written during training"};
}

static bool is_late(const Spec *spec, const Late *late) {
    int64_t steps = spec->training.steps; /* 0: nothing trains */
    return steps > 0 && late->before + late->value > steps && spec_effective(spec, late->key);
}

bool spec_is_late(const Spec *spec, Key key) {
    Late late[LATE_KEYS];
    list_late(spec, late);
    for (int i = 0; i < LATE_KEYS; i++)
        if (late[i].key == key)
            return is_late(spec, &late[i]);
    return false;
}

/* Inherited keys are exempt, as in mark_in_vain. */
static bool is_told(const Spec *spec, const Late *late) {
    return is_late(spec, late) && spec_given(spec, late->key) && !spec->origin[late->key].inherited;
}

static void warn_of(Arena *arena, const Spec *spec, const Late *late) {
    long long steps = spec->training.steps;
    const char *remedy = "raise training.steps";
    if (late->most > 0)
        remedy =
            arena_printf(arena, "set it to at most %lld, or %s", (long long)late->most, remedy);
    warn_at(spec_pos(spec, late->key), remedy, "%s = %lld, but training ends after %lld step%s: %s",
            key_name(late->key), (long long)late->value, steps, steps == 1 ? "" : "s", late->what);
}

void warn_of_late(Arena *arena, const Spec *const *points, int count) {
    for (int k = 0; k < LATE_KEYS; k++) {
        Late late[LATE_KEYS];
        int told = 0;
        for (int i = 0; i < count; i++) {
            list_late(points[i], late);
            told += is_told(points[i], &late[k]);
        }
        if (told == count)
            warn_of(arena, points[count - 1], &late[k]);
    }
}
