/* A run of an emitted program, from the command line to the exit code. */
#include "runtime/base/launcher.h"
#include "runtime/base/siblings.h"
#include "runtime/base/signals.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/checkpoint_meta.h"
#include "runtime/checkpoint/export.h"
#include "runtime/comm/comm.h"
#include "runtime/comm/mesh.h"
#include "runtime/data/data.h"
#include "runtime/data/data_hash.h"
#include "runtime/device/device.h"
#include "runtime/device/launch.h"
#include "runtime/files/infile.h"
#include "runtime/files/outfile.h"
#include "runtime/loop/loop.h"
#include "runtime/params/params.h"
#include "runtime/report/profile.h"
#include "runtime/report/report_figures.h"
#include "runtime/report/report_ranks.h"
#include "runtime/step/cards.h"
#include "runtime/step/clock.h"
#include "runtime/step/history.h"
#include "runtime/step/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Says if the sources beside the program were generated again since it was built, for another spec:
 * the first line of spec.toml ends with the hash. A program may also be elsewhere, without its
 * sources. */
static void warn_if_older(const Rt *rt) {
    static const char name[] = "spec_sha256 ";
    char path[RT_MAX_PATH], text[RT_MAX_PATH];
    int fd;
    join_path(path, rt->options.program_dir, "spec.toml");
    if (infile_open(path, &fd))
        return;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    const char *hash = strstr(text, name);
    if (hash && strcmp(hash + strlen(name), rt->program->spec_sha256) != 0)
        rt_warn("this program is older than the sources beside it, which were generated for "
                "another spec since: make -C %s builds it",
                rt->options.program_dir);
}

static void open_loader(Rt *rt) {
    char error[1024];
    rt->loader = loader_open(rt->program, rt->options.seed, error, sizeof error);
    if (!rt->loader)
        rt_fail("%s", error);
    int64_t rows = loader_facts(rt->loader)->train_rows;
    if (rows > 0 && rows < rt->data_ranks * rt->card_count)
        rt_fail("%d %s cannot share %lld training row%s; lower the product of "
                "parallelism.data_parallel_replicate_degree and data_parallel_shard_degree to "
                "%lld%s, or add data",
                rt->data_ranks * rt->card_count, rt->card_count > 1 ? "cards" : "processes",
                (long long)rows, rows == 1 ? "" : "s", (long long)rows, rows == 1 ? "" : " or less");
    loader_shard(rt->loader, rt->data_rank, rt->data_ranks);
    if (!loader_set_step(rt->loader, rows_per_step(rt)))
        rt_fail("data.last_batch = \"discard\" leaves nothing: a step takes %lld rows, but there %s "
                "%lld; add data, lower training.per_device_train_batch_size or "
                "gradient_accumulation_steps, or choose \"pad\"",
                (long long)rows_per_step(rt), rows == 1 ? "is" : "are", (long long)rows);
}

/* The folder of the model that the run starts from; NULL: it starts from random weights. */
static const char *first_model(const Rt *rt) {
    return rt->options.init_dir ? rt->options.init_dir : rt->program->checkpoint.init_dir;
}

/* Taken at the start, because the files may change while the run trains. */
static void note_data(Rt *rt) {
    StartWeights weights = {first_model(rt), rt->options.adapter_dir};
    if (!data_hash(&rt->program->data, weights, rt->data_sha256))
        rt->data_sha256[0] = '\0';
}

/* The lines about what the data are too little, or too short, for. */
static void show_shortage(const Rt *rt, const LoaderFacts *facts) {
    const RtData *data = &rt->program->data;
    if (facts->train_rows > 0 && facts->eval_rows == 0 && rt->program->evaluate.enqueue)
        printf("data: data.eval_fraction = %g is less than one row, so there is no held-out loss; "
               "raise it, add data, or set data.validation\n",
               data->eval_fraction);
    if (facts->aimless_rows > 0)
        printf("data: %lld of %lld training rows have no target; steps of only such rows have a "
               "loss of 0\n",
               (long long)facts->aimless_rows, (long long)facts->train_rows);
    if (facts->padding_share > 0.5 && !data->packing)
        printf("data: %.0f %% of the places in rows are padding: a %s has %lld places and, on "
               "average, %.1f tokens; data.packing = true puts several into a row\n",
               100 * facts->padding_share, data->pairs ? "pair" : "sample",
               (long long)rt->program->training.seq_len, facts->mean_tokens);
}

/* A held-out loss of samples that were trained on does not show what was learnt. */
static void show_reused(const RtData *data) {
    for (int i = 0; i < data->validation_count; i++)
        for (int k = 0; k < data->train_count; k++)
            if (strcmp(data->validation[i], data->train[k]) == 0 ||
                rt_same_file(data->validation[i], data->train[k]))
                printf("data: %s is in data.train and in data.validation, so the held-out loss is "
                       "of samples that were trained on\n",
                       data->validation[i]);
}

/* A model with many more tokens than there are bytes has a tokenizer of its own. */
static void show_bytes(const Rt *rt, const LoaderFacts *facts) {
    long long tokens = rt->program->data.vocab_size;
    if (facts->bytes && tokens > 2 * 256)
        printf("data: text is read as bytes, but the model has %lld tokens; if it has a tokenizer, "
               "make token shards with runtime/data/tokenize_jsonl.py\n",
               tokens);
}

/* An adapter of a random model learns little; only speed and memory are as they should be. */
static void show_random_base(const Rt *rt) {
    if (rt->program->checkpoint.adapter_json && !first_model(rt) &&
        rt->program->data.format != RT_DATA_SYNTHETIC)
        printf("weights: the model that the adapter is for has random weights; name one with "
               "model.weights or --init\n");
}

/* Counts those of both files, trained on and held out. */
static void show_overlong(const LoaderFacts *facts, const char *unit) {
    if (facts->truncated > 0)
        printf("data: %lld %s%s cut, longer than a row\n", (long long)facts->truncated, unit,
               facts->truncated == 1 ? " was" : "s were");
}

/* "20 steps of 8 rows: 0.123 epochs", which users of other tools set instead of steps. */
static void show_epochs(const Rt *rt) {
    long long steps = rt->options.steps, rows = rows_per_step(rt);
    char epochs[32];
    snprintf(epochs, sizeof epochs, epochs_format(epochs_of(rt, steps)), epochs_of(rt, steps));
    printf("; %lld step%s of %lld row%s: %s epoch%s", steps, steps == 1 ? "" : "s", rows,
           rows == 1 ? "" : "s", epochs, strcmp(epochs, "1") == 0 ? "" : "s");
    if (loader_facts(rt->loader)->epoch_rows != loader_facts(rt->loader)->train_rows)
        printf(" of %lld", (long long)loader_facts(rt->loader)->epoch_rows);
}

static void show_rows(const Rt *rt, const LoaderFacts *facts) {
    if (facts->train_rows == 0)
        return;
    printf("data: %lld training row%s, %lld held out", (long long)facts->train_rows,
           facts->train_rows == 1 ? "" : "s", (long long)facts->eval_rows);
    if (rt->options.steps > 0)
        show_epochs(rt);
    printf("\n");
}

static void show_start(const Rt *rt) {
    const LoaderFacts *facts = loader_facts(rt->loader);
    char cards[16] = "";
    if (rt->card_count > 1)
        snprintf(cards, sizeof cards, "%d x ", rt->card_count);
    printf("%s on %s%s%s\n", rt->program->name, cards, rt->device.name,
           rt->device.simulated ? " (simulated)" : "");
    if (rt->device.tuned)
        printf("matrix products use the algorithms that --tune found fastest\n");
    show_random_base(rt);
    show_rows(rt, facts);
    show_bytes(rt, facts);
    show_shortage(rt, facts);
    show_reused(&rt->program->data);
    show_overlong(facts, rt->program->data.pairs ? "pair" : "sample");
    if (facts->skipped > 0 && rt->program->data.pairs)
        printf("data: %lld pair%s left out, longer than a row\n", (long long)facts->skipped,
               facts->skipped == 1 ? " was" : "s were");
    else if (facts->skipped > 0)
        printf("data: %lld of %lld images could not be used and were left out\n",
               (long long)facts->skipped,
               (long long)(facts->skipped + facts->train_rows + facts->eval_rows));
    if (rt->program->data.dataset)
        printf("data: all samples are kept on the device\n");
}

/* Copies the data set to the device in chunks: decoded, it may be larger than host memory. */
static void fill_dataset(Rt *rt) {
    enum { CHUNK_BYTES = 1 << 26 };
    const RtDataset *dataset = rt->program->data.dataset;
    const LoaderFacts *facts = loader_facts(rt->loader);
    int64_t samples = facts->train_samples + facts->eval_samples;
    if (!dataset)
        return;
    char error[1024];
    size_t bytes = (size_t)dataset->sample_bytes;
    int64_t chunk = CHUNK_BYTES / dataset->sample_bytes + 1;
    uint8_t *buffer = rt_alloc((size_t)chunk * bytes);
    for (int64_t first = 0; first < samples; first += chunk) {
        int64_t count = samples - first < chunk ? samples - first : chunk;
        if (!loader_samples(rt->loader, first, count, buffer, error, sizeof error))
            rt_fail("%s", error);
        rt_write_state(rt, dataset->offset + (size_t)first * bytes, (size_t)count * bytes, buffer);
    }
    free(buffer);
}

static void fill_state(Rt *rt) {
    params_init(rt);
    note_frozen(rt);
    if (rt->program->reference.enqueue)
        note_start(rt);
    if (rt->options.resume) {
        checkpoint_load(rt, rt->options.resume_dir);
        params_tables(rt);
    }
    fill_dataset(rt);
    rt_enqueue(rt, &rt->program->load, 0);
    params_done(rt);
}

static void agree_on_data(Rt *rt) {
    char text[32];
    snprintf(text, sizeof text, "fingerprint %016llx",
             (unsigned long long)loader_facts(rt->loader)->fingerprint);
    comm_agree(rt, "the data", text, "give all ranks the same files");
    const char *hash = rt->data_sha256[0] ? rt->data_sha256 : "no hash";
    comm_agree(rt, "the data or the initial weights", hash, "give all ranks the same files");
}

static void agree_on_step(Rt *rt) {
    char text[32];
    snprintf(text, sizeof text, "step %lld", (long long)rt->step);
    comm_agree(rt, "the step to resume from", text, "let all ranks see the same checkpoints");
}

/* Values that several ranks compute redundantly stay equal only if all use the same algorithms. */
static void agree_on_products(Rt *rt) {
    int first = mesh_writer(rt->program, rt->rank);
    int64_t mine = rt->device.tuned ? (int64_t)gemms_crc32(rt) : -1;
    if (rt->ranks == 1)
        return;
    int64_t *all = rt_alloc((size_t)rt->ranks * sizeof mine);
    comm_gather(rt, &mine, all, sizeof mine, "the comparison of algorithms");
    if (all[first] != mine)
        rt_fail("products.json differs from rank %d's, or one of the two has none: give all ranks "
                "the same file, or none",
                first);
    free(all);
}

/* With JIT, rank 0 compiles, and the other ranks then find the result in the cache. */
static void find_module(Rt *rt) {
    static const char what[] = "the compilation of kernels.cu";
    if (rt->options.jit && rt->rank > 0)
        comm_barrier(rt, what);
    device_find_modules(rt);
    if (rt->options.jit && rt->rank == 0)
        comm_barrier(rt, what);
}

static void open_all(Rt *rt) {
    device_choose(rt);
    comm_open(rt);
    warn_if_older(rt);
    device_take(rt); /* before large host allocations: it binds them to the card's NUMA node */
    open_loader(rt);
    note_data(rt);
    agree_on_data(rt);
    find_module(rt);
    device_open(rt);
    rt->profile = profile_open(rt);
    comm_connect(rt);
    inputs_open(rt);
    history_open(rt);
    clock_open(rt);
    gemms_open(rt);
    agree_on_products(rt);
    show_start(rt);
    fill_state(rt);
    agree_on_step(rt);
    cards_open(rt);
    for (int card = 0; card < rt->card_count; card++)
        profile_know_streams(card_at(rt, card));
    graphs_open(rt);
}

/* Needs no data. All ranks measure at the same time, so that all cards are busy as in training; the
 * results of each stage's first rank are kept. */
static int tune(Rt *rt) {
    device_choose(rt);
    comm_open(rt);
    warn_if_older(rt);
    device_take(rt);
    find_module(rt);
    device_open(rt);
    gemms_open(rt);
    gemms_tune(rt, mesh_writer(rt->program, rt->rank) == rt->rank);
    gemms_close(rt);
    comm_close(rt);
    device_close(rt);
    return 0;
}

static void close_all(Rt *rt) {
    profile_close(rt->profile);
    ranks_free(rt);
    cards_close(rt);
    graphs_close(rt);
    gemms_close(rt);
    clock_close(rt);
    history_close(rt);
    inputs_close(rt);
    comm_close(rt);
    device_close(rt);
    loader_close(rt->loader);
    free(rt->evaluations);
}

/* Several processes may be started on other machines. */
static int probe(Rt *rt) {
    merge_check(rt);
    if (mesh_ranks(rt->program) == 1)
        device_choose(rt);
    return 0;
}

int rt_main(const RtProgram *program, int argc, char **argv) {
    Rt rt = {.program = program, .card_count = program->cards > 1 ? program->cards : 1};
    rt.first = &rt;
    if (launched_ranks() > 1)
        siblings_share_errors(launched_rank());
    options_read(&rt.options, program, argc, argv);
    if (rt.options.probe)
        return probe(&rt);
    if (rt.options.tune)
        return tune(&rt); /* before signals are handled: there is nothing to save */
    signals_install();
    merge_check(&rt);
    double start = rt_now_ms();
    open_all(&rt);
    rt.measured.load_ms = rt_now_ms() - start;
    int code = train(&rt);
    if (code == 0)
        merge_run(&rt);
    close_all(&rt);
    return code;
}
