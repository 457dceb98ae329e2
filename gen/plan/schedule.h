/* What a stage of a pipeline does in a step, in order.
 *
 * GPipe (Huang et al., arXiv 1811.06965): all forwards, then all backwards. 1F1B (Narayanan et al.,
 * arXiv 1806.03377, as Megatron-LM has it): a stage goes back as soon as it can, so that no more
 * micro-batches are in flight than stages follow. Backwards come in one order, so both add gradients
 * up alike. Neighbouring exchanges begin together: a stage that sends while the next one sends back
 * would otherwise wait for ever. */
#ifndef PLAN_SCHEDULE_H
#define PLAN_SCHEDULE_H

#include "base/arena.h"
#include "spec/spec.h"

typedef enum {
    ACTION_FORWARD,
    ACTION_BACKWARD,
    ACTION_RECEIVE_ACTIVATION,
    ACTION_SEND_ACTIVATION,
    ACTION_RECEIVE_GRADIENT,
    ACTION_SEND_GRADIENT,
    ACTION_KINDS
} ActionKind;

typedef struct {
    ActionKind kind;
    int micro_batch;
} Action;

typedef struct {
    Action *actions;
    int count, capacity;
    int slots; /* micro-batches in flight at most: number m has slot m % slots */
} StageSchedule;

StageSchedule schedule_of(Arena *, PipelineSchedule, int stage, int stages, int micro_batches);
bool action_exchanges(ActionKind);
/* How often exchanges begin, those that begin together counted once. */
int schedule_exchanges(const StageSchedule *);

typedef struct {
    double forward_ms, backward_ms, exchange_ms; /* of one micro-batch; one exchange */
    double busy_ms, wait_ms;                     /* found: in its own work, for the others */
} StageTime;

/* When the last stage is done, each beginning at 0; -1: they wait for each other for ever. */
double schedule_ms(const StageSchedule *stages, StageTime *times, int count);

#endif
