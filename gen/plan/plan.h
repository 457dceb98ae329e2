/* The plan: what runs, in which order, where every byte lies and what it should cost.
 *
 * Made once from a lowered Program, by the steps that plan_steps.h lists, and const afterwards.
 * launch.h says what it runs. Its readers are figures.h, fit.h, print_plan.h and the emitter. Nothing
 * here knows a model or a tuning technique. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "devices/device.h"
#include "plan/launch.h"
#include "plan/schedule.h"
#include "spec/spec.h"

/* INPUT and STASH have slots: INPUT one per batch on the device, STASH one per micro-batch in
 * flight. */
typedef enum { ARENA_STATE, ARENA_SCRATCH, ARENA_INPUT, ARENA_STASH, ARENA_COUNT } ArenaKind;

/* How many batches, in a pipeline steps, the device has: one is computed while the next is copied. The
 * runtime captures its graphs once for each. */
enum { INPUT_SLOTS = 2 };

/* Slots follow one another, so their sizes are multiples of it too. */
enum { PLACE_ALIGNMENT = 256 };

typedef struct {
    ArenaKind arena;
    int64_t offset; /* bytes, a multiple of PLACE_ALIGNMENT; -1: never used */
} Place;

/* All collectives of one kind in a step. Bytes are sizes as nccl-tests counts them: the parts of
 * all ranks together where ranks have parts. */
typedef struct {
    int count;
    double bytes, ms;
} Exchanged;

/* The launch at which most bytes of SCRATCH are live, and how many are. */
typedef struct {
    Entry entry;
    int launch;
    int64_t bytes;
} Peak;

typedef struct {
    Program *program;
    const Spec *spec;
    const Device *device;
    PlanEntry entry[ENTRY_COUNT];
    Kernel *kernels;
    int kernel_count, kernel_capacity;
    Gemm *gemms;
    int gemm_count, gemm_capacity;
    Collective *collectives;
    int collective_count, collective_capacity;
    Place *place;                     /* by storage id */
    int64_t arena_bytes[ARENA_COUNT]; /* of one slot */
    int64_t replica_bytes;            /* of STATE, on each card but the first */
    StageSchedule schedule;           /* of a pipeline's stage */
    /* Workspaces of matrix products, at the end of SCRATCH: one per stream that has products. */
    int64_t gemm_workspace_offset, gemm_workspace_bytes;
    int gemm_workspaces;
    int64_t role_bytes[ROLE_COUNT]; /* of all storages in use, as if none shared bytes */
    /* Device memory that the process should use: arenas and the device file's overheads. On the
     * first card, and on each other card. */
    int64_t process_bytes, replica_process_bytes;
    Peak peak;
    Cost step;                             /* one training step: micro-steps and update */
    /* Parts of step.ms: the device's work; copies of batches, to one card; the host's launches of
     * graphs. They overlap as plan_step_ms says. */
    double device_ms, copying_ms, launching_ms;
    double beside_ms; /* what running launches beside others saves, exchanges between cards apart */
    int64_t beside_bytes; /* what the side stream adds to the arenas */
    Exchanged exchanged[COLLECTIVE_KINDS]; /* in that step */
    Exchanged copies[PURPOSE_COUNT];       /* between cards in that step, all cards together */
    /* Time of what cards exchange while the device does nothing else; the rest overlaps other work. */
    double exposed_ms;
    double alone_ms;       /* step time of a single card with one rank's batches */
    bool alone_fits;       /* whether these fit a single card */
    bool alone_recomputes; /* whether it makes activations again that it has no room for */
    StageTime stage_time; /* of a pipeline's stage */
    double bubble;        /* share of forward and backward in which the pipeline's cards wait */
    /* As a report has them, means over a pipeline's stages: exposed_ms, and the share of a whole step
     * in which cards wait. */
    double mean_exposed_ms, mean_bubble;
} Plan;

/* The first launch of a kernel or matrix product; none is an internal fault. */
const Launch *plan_first_launch(const Plan *, LaunchKind, int index);
/* Name of its kernel or product, or "[memset]" and the like. */
const char *launch_name(const Plan *, const Launch *);
/* Offset of a stream's workspace in SCRATCH. */
int64_t plan_gemm_workspace(const Plan *, int stream);
int64_t plan_slots(const Plan *, ArenaKind); /* slots of an arena that the runtime allocates */
int64_t plan_total_bytes(const Plan *);      /* all arenas with all slots */
/* The arena in which a value lies, and the offset of its first byte. */
static inline Place plan_place(const Plan *plan, const Value *value) {
    Place place = plan->place[value->storage->id];
    if (place.offset >= 0)
        place.offset += value_begin(value);
    return place;
}

#endif
