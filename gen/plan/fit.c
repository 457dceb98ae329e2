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

static const char *activation_hint(const Spec *s) {
    if (s->activation_checkpoint.mode == RECOMPUTE_NONE)
        return "activation_checkpoint.mode = \"auto\" recomputes activations instead of keeping "
               "them";
    if (s->training.per_device_train_batch_size > 1)
        return "halve training.per_device_train_batch_size and double "
               "training.gradient_accumulation_steps: the same step in half the activations";
    return spec_effective(s, KEY_training_seq_len)
               ? "a shorter training.seq_len needs fewer activations"
               : "a smaller model.image_size needs fewer activations";
}

/* For trained tensors, their gradients and moments. */
static const char *training_hint(const Spec *s) {
    if (spec_effective(s, KEY_optimizer_beta2))
        return "optimizer.name = \"sgd\" keeps no second moments; a model with fewer weights needs "
               "less of everything";
    return "use a model with fewer weights, or a device with more memory (job.device)";
}

/* Whether backward could update the weights if gradients were not clipped. */
static bool clipping_keeps_gradients(const Plan *plan) {
    const Program *p = plan->program;
    return plan->spec->training.max_grad_norm > 0 && !p->counters.loss_scale &&
           p->micro_steps == 1 && spec_trains_alone(plan->spec);
}

static const char *hint_for(const Plan *plan, Role largest) {
    bool wide = plan->program->activation == DT_F64 || plan->program->activation == DT_F32;
    bool adaptable = spec_effective(plan->spec, KEY_adapter_type) && !plan->program->adapter_json;
    switch (largest) {
    case ROLE_ACTIVATION:
    case ROLE_STASH:
        return activation_hint(plan->spec);
    case ROLE_GRADIENT:
    case ROLE_OPTIMIZER:
    case ROLE_WEIGHT:
        if (!adaptable)
            return training_hint(plan->spec);
        return clipping_keeps_gradients(plan)
                   ? "with an adapter (adapter.type) only its weights need gradients and optimizer "
                     "state; with training.max_grad_norm = 0 the gradients of few modules exist at "
                     "the same time"
                   : "with an adapter (adapter.type) only its weights need gradients and optimizer "
                     "state";
    case ROLE_COUNTER:
        return "these tables have rows for each step: fewer training.steps need less; a later run "
               "can go on from the weights of this one";
    case ROLE_DATASET:
        return "data.device_resident = false sends each batch instead of keeping the data set on "
               "the device";
    default:
        return wide ? "precision.dtype = \"bf16\" halves the frozen weights"
                    : "use a device with more memory (job.device), or fewer "
                      "model.num_hidden_layers";
    }
}

static int64_t bytes_of_no_role(const Plan *plan) {
    return plan->process_bytes - plan_total_bytes(plan);
}

static void largest_first(const Plan *plan, Consumer consumers[CONSUMERS]) {
    for (int r = 0; r < ROLE_COUNT; r++)
        consumers[r] = (Consumer){r, plan->role_bytes[r]};
    consumers[ROLE_ACTIVATION].bytes = plan->arena_bytes[ARENA_SCRATCH];
    consumers[ROLE_STASH].bytes = plan_slots(plan, ARENA_STASH) * plan->arena_bytes[ARENA_STASH];
    consumers[NO_ROLE] = (Consumer){NO_ROLE, bytes_of_no_role(plan)};
    qsort(consumers, CONSUMERS, sizeof *consumers, larger_first);
}

static const char *consumer_title(Consumer consumer) {
    return consumer.role == NO_ROLE ? "context and libraries"
                                    : plan_role_title((Role)consumer.role);
}

/* Context and libraries cannot be made smaller, so the hint is about the next largest part. */
static const char *unfit_hint(const Plan *plan, const Consumer *largest) {
    if (bytes_of_no_role(plan) > plan_budget_bytes(plan))
        return "raise activation_checkpoint.memory_budget_gib: context and libraries alone need "
               "more";
    return hint_for(plan, (Role)(largest->role == NO_ROLE ? largest[1].role : largest->role));
}

void plan_say_unfit(const Plan *plan, const char *prefix,
                    void (*say)(Pos, const char *, const char *, ...)) {
    Consumer consumers[CONSUMERS];
    largest_first(plan, consumers);
    bool given = plan->spec->activation_checkpoint.memory_budget_gib > 0;
    Key key = given ? KEY_activation_checkpoint_memory_budget_gib : KEY_job_device;
    say(spec_pos(plan->spec, key), unfit_hint(plan, consumers),
        "%sthe plan needs %.2f GiB and %s %.2f GiB; the largest parts are %s %.2f, %s %.2f and "
        "%s %.2f GiB",
        prefix, (double)plan->process_bytes / GIB, given ? "the budget is" : "the device has",
        (double)plan_budget_bytes(plan) / GIB, consumer_title(consumers[0]),
        (double)consumers[0].bytes / GIB, consumer_title(consumers[1]),
        (double)consumers[1].bytes / GIB, consumer_title(consumers[2]),
        (double)consumers[2].bytes / GIB);
}

void plan_require_fit(const Plan *plan) {
    if (!plan_fits(plan))
        plan_say_unfit(plan, "", user_error);
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
