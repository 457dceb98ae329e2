/* The loader: which rows make which batch, and what a batch says besides its rows. */
#include "runtime/data_kind.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/rt.h"

struct Loader {
    const RtProgram *program;
    uint64_t seed;
    const DataKind *kind;
    void *set; /* the kind's */
    int64_t rank, ranks;
    LoaderFacts facts;
    Ring *ring; /* NULL unless started */
};

const RtInput *program_input(const RtProgram *program, const char *name) {
    for (int i = 0; i < program->input_count; i++)
        if (strcmp(program->inputs[i].name, name) == 0)
            return &program->inputs[i];
    return NULL;
}

/* ---- opening --------------------------------------------------------------------------------- */

Loader *loader_open(const RtProgram *program, int64_t seed, char *error, size_t error_size) {
    const DataKind *kind = program->data.images ? &image_data : &token_data;
    void *set = kind->open(program, (uint64_t)seed, &(DataError){error, error_size});
    if (!set)
        return NULL;
    Loader *loader = rt_alloc(sizeof *loader);
    *loader =
        (Loader){.program = program, .seed = (uint64_t)seed, .kind = kind, .set = set, .ranks = 1};
    loader->facts.train_rows = kind->rows(set, LOADER_TRAIN);
    loader->facts.eval_rows = kind->rows(set, LOADER_EVAL);
    loader->facts.fingerprint = mix64(kind->fingerprint(set), program->data.shuffle);
    kind->facts(set, &loader->facts);
    return loader;
}

void loader_close(Loader *loader) {
    if (!loader)
        return;
    loader_stop(loader);
    loader->kind->close(loader->set);
    free(loader);
}

void loader_shard(Loader *loader, int rank, int ranks) {
    loader->rank = rank;
    loader->ranks = ranks;
}

const LoaderFacts *loader_facts(const Loader *loader) { return &loader->facts; }

/* ---- all samples ----------------------------------------------------------------------------- */

typedef struct {
    const Loader *loader;
    int64_t first, failed; /* the first one that failed, or behind the last */
    uint8_t *to;
    DataError error; /* its */
    pthread_mutex_t lock;
} Samples;

static void write_sample(int64_t i, void *context) {
    Samples *samples = context;
    const Loader *loader = samples->loader;
    size_t bytes = (size_t)loader->program->data.dataset->sample_bytes;
    char text[1024] = "";
    if (loader->kind->sample(loader->set, samples->first + i, samples->to + (size_t)i * bytes,
                             &(DataError){text, sizeof text}))
        return;
    pthread_mutex_lock(&samples->lock);
    if (i < samples->failed) {
        samples->failed = i;
        data_fail(&samples->error, "%s", text);
    }
    pthread_mutex_unlock(&samples->lock);
}

bool loader_samples(const Loader *loader, int64_t first, int64_t count, uint8_t *to, char *error,
                    size_t error_size) {
    Samples samples = {.loader = loader,
                       .first = first,
                       .failed = count,
                       .to = to,
                       .error = {error, error_size},
                       .lock = PTHREAD_MUTEX_INITIALIZER};
    each_in_parallel(count, loader->program->data.num_workers, write_sample, &samples);
    return samples.failed == count;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014) over both words. */
uint64_t mix64(uint64_t a, uint64_t b) {
    uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A Feistel network permutes the smallest square of a power of two that holds `count`; what falls
 * outside is sent through again until it falls inside. So a shuffle needs no memory and no state.
 */
int64_t permute(int64_t index, int64_t count, uint64_t key) {
    int half = 1;
    while ((uint64_t)1 << (2 * half) < (uint64_t)count)
        half++;
    uint64_t mask = ((uint64_t)1 << half) - 1, x = (uint64_t)index;
    do {
        uint64_t left = x >> half, right = x & mask;
        for (uint64_t round = 0; round < 6; round++) {
            uint64_t mixed = left ^ (mix64(key + round, right) & mask);
            left = right;
            right = mixed;
        }
        x = left << half | right;
    } while (x >= (uint64_t)count);
    return (int64_t)x;
}

/* The row of the files that the training stream's row `index` is. */
static DataRow train_row(const Loader *loader, int64_t index) {
    int64_t count = loader->facts.train_rows;
    if (count == 0)
        return (DataRow){LOADER_TRAIN, 0, index};
    int64_t epoch = index / count, place = index % count;
    if (loader->program->data.shuffle)
        place = permute(place, count, mix64(loader->seed, (uint64_t)epoch));
    return (DataRow){LOADER_TRAIN, epoch, place};
}

/* Held-out batches of all ranks. */
static int64_t all_eval_batches(const Loader *loader) {
    int64_t batch = loader->program->training.batch, wanted = loader->program->data.eval_batches;
    int64_t there = (loader->facts.eval_rows + batch - 1) / batch;
    return there < wanted ? there : wanted;
}

/* Row -1: padding. */
static DataRow eval_row(const Loader *loader, int64_t index) {
    int64_t end = all_eval_batches(loader) * loader->program->training.batch;
    bool there = index < end && index < loader->facts.eval_rows;
    return (DataRow){LOADER_EVAL, 0, there ? index : -1};
}

int64_t loader_eval_batches(const Loader *loader) {
    return (all_eval_batches(loader) + loader->ranks - 1) / loader->ranks;
}

/* A batch's number among those of all ranks. */
static int64_t number_of(const Loader *loader, LoaderBatch which) {
    return which.index * loader->ranks + loader->rank;
}

/* ---- batches --------------------------------------------------------------------------------- */

static bool fill_part(const void *context, LoaderBatch which, int64_t part, int64_t parts,
                      void *slot, DataError *error) {
    const Loader *loader = context;
    int64_t batch = loader->program->training.batch;
    bool ok = true;
    for (int64_t b = batch * part / parts; ok && b < batch * (part + 1) / parts; b++) {
        int64_t index = number_of(loader, which) * batch + b;
        DataRow row =
            which.split == LOADER_TRAIN ? train_row(loader, index) : eval_row(loader, index);
        ok = loader->kind->write(loader->set, row, b, slot, error);
    }
    return ok;
}

static void *place(const Loader *loader, void *slot, const char *name) {
    const RtInput *input = program_input(loader->program, name);
    return input ? (char *)slot + input->offset : NULL;
}

static void put_scalar(const Loader *loader, void *slot, const char *name, double value) {
    void *at = place(loader, slot, name);
    if (at)
        rt_set(program_input(loader->program, name)->dtype, at, 0, value);
}

static bool has_target(const int32_t *labels, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (labels[i] != IGNORED)
            return true;
    return false;
}

/* A pair is one, whatever its length. */
static int64_t count_targets(const Loader *loader, void *slot) {
    const int32_t *labels = place(loader, slot, "labels");
    int64_t count = labels ? program_input(loader->program, "labels")->count : 0, targets = 0;
    int64_t each = loader->program->data.pairs ? loader->program->training.seq_len : 1;
    for (int64_t i = 0; i < count; i += each)
        targets += has_target(labels + i, each);
    return targets;
}

/* Which places have a target, and where each of them went. */
static void put_targets(const Loader *loader, void *slot) {
    const RtInput *rows = program_input(loader->program, "target_rows");
    const RtInput *places = program_input(loader->program, "target_places");
    if (!rows || !places)
        return;
    const int32_t *labels = place(loader, slot, "labels");
    int32_t *row = place(loader, slot, "target_rows"), *at = place(loader, slot, "target_places");
    int32_t count = 0;
    for (int32_t t = 0; t < places->count; t++) {
        at[t] = labels[t] >= 0 ? count : -1;
        if (labels[t] >= 0 && count < rows->count)
            row[count++] = t;
    }
    for (int64_t i = count; i < rows->count; i++)
        row[i] = -1;
}

/* Each takes batches of its own. */
static int64_t cards_of(const Loader *loader) {
    return loader->program->cards > 1 ? loader->program->cards : 1;
}

/* Batches of a step, all ranks' and cards' together. */
static int64_t step_batches(const Loader *loader) {
    return loader->program->training.micro_steps * cards_of(loader) * loader->ranks;
}

/* Target tokens of the whole step that a batch belongs to. */
static int64_t step_targets(const Loader *loader, int64_t number) {
    int64_t rows = loader->program->training.batch * step_batches(loader), targets = 0;
    int64_t first = number / step_batches(loader) * rows;
    for (int64_t i = 0; i < rows; i++)
        targets +=
            loader->kind->targets(loader->set, LOADER_TRAIN, train_row(loader, first + i).row);
    return targets;
}

/* What concerns the batch as a whole; its rows are there. */
static int64_t finish(const Loader *loader, LoaderBatch which, void *slot) {
    const RtTraining *t = &loader->program->training;
    bool training = which.split == LOADER_TRAIN;
    int64_t number = number_of(loader, which);
    int64_t of_step = training ? step_targets(loader, number) : 1;
    int64_t before = training ? number % step_batches(loader) * t->batch * t->seq_len : 0;
    put_scalar(loader, slot, "loss_weight", of_step ? 1.0 / (double)of_step : 0.0);
    put_scalar(loader, slot, "first_row", (double)before);
    put_targets(loader, slot);
    return count_targets(loader, slot);
}

bool loader_fill(const Loader *loader, LoaderBatch which, void *slot, int64_t *targets, char *error,
                 size_t error_size) {
    if (!fill_part(loader, which, 0, 1, slot, &(DataError){error, error_size}))
        return false;
    *targets = finish(loader, which, slot);
    return true;
}

/* ---- ahead of time --------------------------------------------------------------------------- */

static RingJob ring_job(const Loader *loader) {
    const RtData *data = &loader->program->data;
    int64_t workers = data->num_workers, batch = loader->program->training.batch;
    return (RingJob){.fill = fill_part,
                     .context = loader,
                     .parts = workers < 1       ? 1
                              : workers < batch ? workers
                                                : batch,
                     .ahead = workers > 0 ? data->prefetch_batches : 0,
                     .in_use = RT_SLOTS * cards_of(loader),
                     .workers = workers,
                     .eval_batches = loader_eval_batches(loader)};
}

int loader_ring_size(const Loader *loader) {
    RingJob job = ring_job(loader);
    return (int)ring_buffers(&job);
}

void loader_start(Loader *loader, void *const *buffers) {
    RingJob job = ring_job(loader);
    loader->ring = ring_open(&job, buffers);
}

void loader_stop(Loader *loader) {
    if (loader->ring)
        ring_close(loader->ring);
    loader->ring = NULL;
}

void *loader_take(Loader *loader, LoaderBatch which, int64_t *targets, char *error,
                  size_t error_size) {
    void *slot = ring_take(loader->ring, which, &(DataError){error, error_size});
    if (slot)
        *targets = finish(loader, which, slot);
    return slot;
}
