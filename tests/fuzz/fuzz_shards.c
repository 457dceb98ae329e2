/* Reads arbitrary bytes as a token shard with samples or pairs: the result is a clear error or
 * samples that keep every promise of data_rows.h, never a crash. Built by `make fuzz` with clang's
 * libFuzzer. */
#include <stdlib.h>

#include "runtime/data/data_rows.h"

enum { SEQ_LEN = 12, VOCABULARY = 300 };

static void check(bool promise) {
    if (!promise)
        abort();
}

static void check_rows(const Samples *samples) {
    char text[512];
    DataError error = {text, sizeof text};
    int32_t ids[SEQ_LEN], labels[SEQ_LEN], positions[SEQ_LEN];
    Rows rows;
    check(rows_of_samples(&rows, samples, 0, samples->count, SEQ_LEN, true, 0, &error));
    for (int64_t row = 0; row < rows.count; row++) {
        row_write(&rows, row, ids, labels, positions);
        for (int i = 0; i < SEQ_LEN; i++) {
            check(ids[i] >= 0 && ids[i] < VOCABULARY);
            check(labels[i] == IGNORED || (i + 1 < SEQ_LEN && labels[i] == ids[i + 1]));
        }
    }
    check(rows.first_sample[rows.count / rows.sides] == samples->count);
    rows_free(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const RtPairs pairs = {.packed = 2};
    for (int kind = 0; kind < 2; kind++) {
        char text[512] = "";
        DataError error = {text, sizeof text};
        Samples samples = {
            .seq_len = SEQ_LEN, .vocab_size = VOCABULARY, .pairs = kind ? &pairs : NULL};
        if (shard_read(&samples, "fuzz.bin", bytes, size, &error)) {
            check(!kind || samples.count % 2 == 0);
            check_rows(&samples);
        } else {
            check(text[0] != '\0');
        }
        samples_free(&samples);
    }
    return 0;
}
