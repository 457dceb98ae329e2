/* Whether the plan fits, and what to do if it does not. */
#include "plan/fit.h"

#include "plan/print_plan.h"

#include <stdlib.h>

static const double GIB = 1073741824.0;

int64_t plan_budget_bytes(const Plan *plan) {
    double gib = plan->spec->activation_checkpoint.memory_budget_gib;
    return gib > 0 ? (int64_t)(gib * GIB) : plan->device->memory_bytes;
}

bool plan_fits(const Plan *plan) { return plan->process_bytes <= plan_budget_bytes(plan); }

/* NO_ROLE: memory that belongs to no value, such as the driver's context and libraries. */
enum { NO_ROLE = ROLE_COUNT, CONSUMERS = ROLE_COUNT + 1 };

typedef struct {
    int role;
    int64_t bytes;
} Consumer;

static int larger_first(const void *a, const void *b) {
    const Consumer *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : x->role - y->role;
}

/* Roles that no remedy is for are PART_OTHER. */
static MemoryPart part_of(Role role) {
    static const MemoryPart parts[ROLE_COUNT] = {
        [ROLE_INPUT] = PART_BATCHES,          [ROLE_FROZEN] = PART_FROZEN,
        [ROLE_WEIGHT] = PART_WEIGHTS,         [ROLE_ADAPTER] = PART_ADAPTERS,
        [ROLE_DATASET] = PART_DATASET,        [ROLE_COUNTER] = PART_COUNTERS,
        [ROLE_GRADIENT] = PART_GRADIENTS,     [ROLE_OPTIMIZER] = PART_STATES,
        [ROLE_ACTIVATION] = PART_ACTIVATIONS, [ROLE_STASH] = PART_KEPT,
    };
    return parts[role] ? parts[role] : PART_OTHER;
}

static int64_t bytes_of_no_role(const Plan *plan) {
    return plan->process_bytes - plan_total_bytes(plan);
}

static void largest_first(const Plan *plan, Consumer consumers[CONSUMERS]) {
    for (int r = 0; r < ROLE_COUNT; r++)
        consumers[r] = (Consumer){r, plan->role_bytes[r]};
    consumers[ROLE_ACTIVATION].bytes = plan->arena_bytes[ARENA_SCRATCH];
    consumers[ROLE_STASH].bytes = plan_slots(plan, ARENA_STASH) * plan->arena_bytes[ARENA_STASH];
    consumers[ROLE_INPUT].bytes = plan_slots(plan, ARENA_INPUT) * plan->arena_bytes[ARENA_INPUT];
    consumers[NO_ROLE] = (Consumer){NO_ROLE, bytes_of_no_role(plan)};
    qsort(consumers, CONSUMERS, sizeof *consumers, larger_first);
}

/* Of all slots, which the plan's table counts apart. */
static const char *consumer_title(Consumer consumer) {
    switch (consumer.role) {
    case NO_ROLE:
        return "context and libraries";
    case ROLE_INPUT:
        return "batches";
    case ROLE_STASH:
        return "activations kept for backward";
    default:
        return plan_role_title((Role)consumer.role);
    }
}

/* Context and libraries cannot be made smaller, so the next largest part counts then. */
MemoryPart plan_largest_part(const Plan *plan) {
    Consumer consumers[CONSUMERS];
    if (bytes_of_no_role(plan) > plan_budget_bytes(plan))
        return PART_OTHER;
    largest_first(plan, consumers);
    return part_of((Role)consumers[consumers[0].role == NO_ROLE].role);
}

static const char *hint_without_remedy(const Plan *plan) {
    return bytes_of_no_role(plan) > plan_budget_bytes(plan)
               ? "raise activation_checkpoint.memory_budget_gib: context and libraries alone need more"
               : "use a device with more memory (job.device), or a model with fewer weights";
}

void plan_say_unfit(const Plan *plan, const char *prefix, const char *remedy,
                    void (*say)(Pos, const char *, const char *, ...)) {
    Consumer consumers[CONSUMERS];
    largest_first(plan, consumers);
    bool given = plan->spec->activation_checkpoint.memory_budget_gib > 0;
    Key key = given ? KEY_activation_checkpoint_memory_budget_gib : KEY_job_device;
    say(spec_pos(plan->spec, key), remedy ? remedy : hint_without_remedy(plan),
        "%sthe plan needs %.2f GiB and %s %.2f GiB; the largest parts are %s %.2f, %s %.2f and "
        "%s %.2f GiB",
        prefix, (double)plan->process_bytes / GIB, given ? "the budget is" : "the device has",
        (double)plan_budget_bytes(plan) / GIB, consumer_title(consumers[0]),
        (double)consumers[0].bytes / GIB, consumer_title(consumers[1]),
        (double)consumers[1].bytes / GIB, consumer_title(consumers[2]),
        (double)consumers[2].bytes / GIB);
}

void plan_require_shared_memory(const Plan *plan) {
    int64_t most = device_block_shared_bytes(plan->device);
    for (int i = 0; i < plan->kernel_count; i++)
        if (plan->kernels[i].shared_bytes > most)
            user_error(spec_pos(plan->spec, KEY_job_device),
                       "choose a device with more shared memory",
                       "kernel %s needs %lld bytes of shared memory for a block, and %s can have "
                       "%lld",
                       plan->kernels[i].name, (long long)plan->kernels[i].shared_bytes,
                       plan->device->arch, (long long)most);
}
