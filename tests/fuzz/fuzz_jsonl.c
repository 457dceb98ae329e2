/* Reads arbitrary bytes as a JSON-lines file: the result is a clear error or samples that keep
 * every promise of data_rows.h, never a crash. Built by `make fuzz` with clang's libFuzzer. */
#include <stdlib.h>

#include "runtime/base/rt.h"
#include "runtime/data/data_rows.h"

enum { SEQ_LEN = 12, VOCABULARY = 300 };

static void check(bool promise) {
    if (!promise)
        abort();
}

static void check_rows(const Rows *rows, const Samples *samples) {
    int32_t ids[SEQ_LEN], labels[SEQ_LEN], positions[SEQ_LEN];
    int64_t seen = 0;
    for (int64_t row = 0; row < rows->count; row++) {
        int64_t targets = 0;
        row_write(rows, row, ids, labels, positions);
        for (int i = 0; i < SEQ_LEN; i++) {
            check(ids[i] >= 0 && ids[i] < VOCABULARY);
            check(labels[i] == IGNORED || (labels[i] >= 0 && labels[i] < VOCABULARY));
            check(positions[i] == 0 || (i > 0 && positions[i] == positions[i - 1] + 1));
            targets += labels[i] != IGNORED;
        }
        check(targets == row_targets(rows, row));
        seen += rows->first_sample[row + 1] - rows->first_sample[row];
    }
    check(seen == samples->count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char text[512] = "";
    DataError error = {text, sizeof text};
    Samples samples = {.seq_len = SEQ_LEN, .vocab_size = VOCABULARY};
    if (lines_read(&samples, "fuzz.jsonl", bytes, size, &error)) {
        for (int packing = 0; packing < 2; packing++) {
            Rows rows;
            check(rows_of_samples(&rows, &samples, 0, samples.count, SEQ_LEN, packing, 0, &error));
            check_rows(&rows, &samples);
            rows_free(&rows);
        }
    } else {
        check(text[0] != '\0');
    }
    samples_free(&samples);
    return 0;
}
