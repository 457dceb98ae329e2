/* What a stage of a pipeline does in a step, in order.
 *
 * GPipe (Huang et al., arXiv 1811.06965): all forwards, then all backwards. 1F1B (Narayanan et al.,
 * arXiv 1806.03377, as in Megatron-LM): a stage runs each backward as soon as it can, so that the
 * micro-batches in flight never outnumber the stages from this one to the last. Both run backwards
 * in the same order, so they accumulate gradients in the same order. Consecutive exchanges begin
 * together; otherwise a stage that sends forward while its neighbour sends back would deadlock. */
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
    int slots; /* most micro-batches in flight; micro-batch m uses slot m % slots */
} StageSchedule;

/* The arena owns the actions. */
StageSchedule schedule_of(Arena *, PipelineSchedule, int stage, int stages, int micro_batches);
/* Whether it sends to or receives from another stage. */
bool action_exchanges(ActionKind);
/* Number of exchanges; those that begin together count as one. */
int schedule_exchanges(const StageSchedule *);

typedef struct {
    double forward_ms, backward_ms, exchange_ms; /* of one micro-batch; one exchange */
    double busy_ms, wait_ms;                     /* results: own work, waiting for other stages */
} StageTime;

/* Time at which the last stage finishes if all begin at 0; -1 if they deadlock. */
double schedule_ms(const StageSchedule *stages, StageTime *times, int count);

#endif
