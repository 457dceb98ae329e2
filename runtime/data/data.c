/* The loader: which rows make which batch, and what a batch says besides its rows. */
#include "runtime/data/data_kind.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/rt.h"

struct Loader {
    const RtProgram *program;
    uint64_t seed;
    const DataKind *kind;
    void *set; /* the kind's */
    int64_t rank, ranks;
    LoaderFacts facts;
    Ring *ring;              /* NULL unless started */
    const RtInput *attached; /* NULL: none */
    double *values[LOADER_SPLITS];
};

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
    loader->facts.epoch_rows = loader->facts.train_rows;
    uint64_t order = program->data.shuffle | (uint64_t)program->data.last_batch << 1;
    loader->facts.fingerprint = mix64(kind->fingerprint(set), order);
    kind->facts(set, &loader->facts);
    return loader;
}

void loader_close(Loader *loader) {
    if (!loader)
        return;
    loader_stop(loader);
    loader->kind->close(loader->set);
    for (int split = 0; split < LOADER_SPLITS; split++)
        free(loader->values[split]);
    free(loader);
}

void loader_shard(Loader *loader, int rank, int ranks) {
    loader->rank = rank;
    loader->ranks = ranks;
}

bool loader_set_step(Loader *loader, int64_t step_rows) {
    int64_t rows = loader->facts.train_rows, whole = rows / step_rows * step_rows;
    RtLastBatch last = loader->program->data.last_batch;
    if (last == RT_LAST_DISCARD)
        loader->facts.epoch_rows = whole;
    else if (last == RT_LAST_PAD)
        loader->facts.epoch_rows = whole < rows ? whole + step_rows : rows;
    return rows == 0 || loader->facts.epoch_rows > 0;
}

void loader_attach(Loader *loader, const char *name, LoaderSplit split, double *values) {
    loader->attached = program_input(loader->program, name);
    loader->values[split] = values;
}

const LoaderFacts *loader_facts(const Loader *loader) { return &loader->facts; }

/* ---- all samples ----------------------------------------------------------------------------- */

typedef struct {
    const Loader *loader;
    int64_t first, failed; /* failed: index of the first sample that failed, else the count */
    uint8_t *to;
    DataError error; /* of that sample */
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

/* Returns the row of the files that is row `index` of the training stream. */
static DataRow train_row(const Loader *loader, int64_t index) {
    int64_t count = loader->facts.train_rows;
    if (count == 0)
        return (DataRow){LOADER_TRAIN, 0, index};
    int64_t epoch = index / loader->facts.epoch_rows;
    int64_t place = index % loader->facts.epoch_rows % count; /* padding repeats the first rows */
    if (loader->program->data.shuffle)
        place = permute(place, count, mix64(loader->seed, (uint64_t)epoch));
    return (DataRow){LOADER_TRAIN, epoch, place};
}

/* Number of held-out batches of all ranks together. */
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

int64_t loader_rows(const Loader *loader, LoaderSplit split) {
    int64_t most = all_eval_batches(loader) * loader->program->training.batch;
    if (split == LOADER_TRAIN)
        return loader->facts.train_rows;
    return loader->facts.eval_rows < most ? loader->facts.eval_rows : most;
}

/* Returns a batch's number among the batches of all ranks. */
static int64_t number_of(const Loader *loader, LoaderBatch which) {
    return which.index * loader->ranks + loader->rank;
}

/* ---- batches --------------------------------------------------------------------------------- */

static void write_attached(const Loader *loader, DataRow row, int64_t entry, void *slot) {
    const RtInput *input = loader->attached;
    if (!input)
        return;
    int64_t each = input->count / loader->program->training.batch;
    const double *values = loader->values[row.split];
    for (int64_t i = 0; i < each; i++)
        rt_set(input->dtype, (char *)slot + input->offset, entry * each + i,
               row.row < 0 ? 0 : values[row.row * each + i]);
}

static bool write_row(const Loader *loader, DataRow row, int64_t entry, void *slot,
                      DataError *error) {
    write_attached(loader, row, entry, slot);
    return loader->kind->write(loader->set, row, entry, slot, error);
}

static bool fill_part(const void *context, LoaderBatch which, int64_t part, int64_t parts,
                      void *slot, DataError *error) {
    const Loader *loader = context;
    int64_t batch = loader->program->training.batch;
    bool ok = true;
    for (int64_t b = batch * part / parts; ok && b < batch * (part + 1) / parts; b++) {
        int64_t index = number_of(loader, which) * batch + b;
        DataRow row =
            which.split == LOADER_TRAIN ? train_row(loader, index) : eval_row(loader, index);
        ok = write_row(loader, row, b, slot, error);
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

/* Counts the pairs in packed or shared rows; each pair is one target, whatever its length. A pair
 * begins where the number of a first sequence, which is even, begins. */
static int64_t count_packed(const Loader *loader, const int32_t *sequence) {
    int64_t count = program_input(loader->program, "sequence")->count, pairs = 0;
    for (int64_t i = 0; i < count; i++)
        pairs +=
            sequence[i] >= 0 && sequence[i] % 2 == 0 && (i == 0 || sequence[i] != sequence[i - 1]);
    return pairs;
}

static int64_t count_targets(const Loader *loader, void *slot) {
    const int32_t *labels = place(loader, slot, "labels");
    const int32_t *sequence = place(loader, slot, "sequence");
    if (sequence)
        return count_packed(loader, sequence);
    int64_t count = labels ? program_input(loader->program, "labels")->count : 0, targets = 0;
    int64_t each = loader->program->data.pairs ? loader->program->training.seq_len : 1;
    for (int64_t i = 0; i < count; i += each)
        targets += has_target(labels + i, each);
    return targets;
}

/* Writes the list of places that have a target, and its inverse. */
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

/* Number of cards in this process; each takes its own batches. */
static int64_t cards_of(const Loader *loader) {
    return loader->program->cards > 1 ? loader->program->cards : 1;
}

/* Number of batches in a step, over all ranks and cards. */
static int64_t step_batches(const Loader *loader) {
    return loader->program->training.micro_steps * cards_of(loader) * loader->ranks;
}

/* Returns the number of targets in the whole step to which batch `number` belongs. */
static int64_t step_targets(const Loader *loader, int64_t number) {
    int64_t rows = loader->program->training.batch * step_batches(loader), targets = 0;
    int64_t first = number / step_batches(loader) * rows;
    for (int64_t i = 0; i < rows; i++)
        targets +=
            loader->kind->targets(loader->set, LOADER_TRAIN, train_row(loader, first + i).row);
    return targets;
}

/* Writes the inputs that concern the batch as a whole, after its rows; returns its target count. */
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

bool loader_fill_rows(const Loader *loader, LoaderSplit split, int64_t first, void *slot,
                      char *error, size_t error_size) {
    int64_t rows = loader_rows(loader, split);
    for (int64_t b = 0; b < loader->program->training.batch; b++) {
        DataRow row = {split, 0, first + b < rows ? first + b : -1};
        if (!loader->kind->write(loader->set, row, b, slot, &(DataError){error, error_size}))
            return false;
    }
    put_targets(loader, slot);
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
