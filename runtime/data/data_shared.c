/* Pairs in one row (dpo.shared_prompt): the prompt once, then chosen, then rejected; with packing,
 * one pair after the other.
 *
 * The common start of both sequences, up to the first place that has a target in either, comes
 * first. The prompt's last token has a different target in each sequence, so both sequences repeat
 * it:
 *
 *     places            p0 p1 | p2 c0 c1 | p2 r0 | q0 | q1 c0 | q1 r0 | padding
 *     labels            -  -  | c0 c1 -  | r0 -  | -  | c0 -  | r0 -  | -
 *     positions         0  1  | 2  3  4  | 2  3  | 0  | 1  2  | 1  2  | 0
 *     sample_positions  0  1  | 0  1  2  | 0  1  | 0  | 0  1  | 0  1  | 0
 *     prefix from       0  0  | 0  0  0  | 0  0  | 0  | 7  7  | 7  7  | 0
 *            to         0  0  | 2  2  2  | 2  2  | 0  | 8  8  | 8  8  | 0
 *
 * A place sees its part up to itself, and the places of the row that its prefix names. */
#include "runtime/data/data_rows.h"

static int64_t shared_by(const SampleFile *file, int64_t a, int64_t b, int64_t length) {
    int64_t count = 0;
    while (count + 1 < length && token_id(file, a + count) == token_id(file, b + count) &&
           token_label(file, a + count + 1) == IGNORED &&
           token_label(file, b + count + 1) == IGNORED)
        count++;
    return count;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

int64_t pair_shared(const Sample *chosen, const Sample *rejected) {
    return shared_by(chosen->file, chosen->start, rejected->start,
                     smaller(chosen->length, rejected->length));
}

int64_t pair_room(const SampleFile *file, int64_t seq_len, int64_t first, int64_t second,
                  int64_t end) {
    int64_t shorter = smaller(second - first, end - second), longer = end - first - shorter;
    int64_t shared = shared_by(file, first, second, shorter);
    int64_t room = seq_len - shared; /* for both, after their common start */
    shorter -= shared;
    longer -= shared;
    if (shorter + longer <= room)
        return shared + longer;
    int64_t most = 2 * shorter <= room ? room - shorter : room / 2;
    return shared + (most > 0 ? most : 0);
}

int64_t pair_length(const Sample *pair) {
    return pair[0].length + pair[1].length - pair_shared(&pair[0], &pair[1]);
}

/* Writes the places of a part, all with the prefix [from, to). */
static void put_part(int64_t count, int64_t from, int64_t to, int32_t *position, int32_t *prefix) {
    for (int64_t i = 0; i < count; i++) {
        position[i] = (int32_t)i;
        prefix[2 * i] = (int32_t)from;
        prefix[2 * i + 1] = (int32_t)to;
    }
}

void row_prefix(const Rows *rows, int64_t row, int32_t *position, int32_t *prefix) {
    int64_t place = 0;
    for (int64_t s = rows->first_sample[row]; s < rows->first_sample[row + 1]; s += 2) {
        const Sample *pair = &rows->samples->items[s];
        int64_t shared = pair_shared(&pair[0], &pair[1]);
        int64_t from = shared ? place : 0, to = from + shared;
        put_part(shared, 0, 0, position + place, prefix + 2 * place);
        place += shared;
        for (int i = 0; i < 2; i++) {
            int64_t count = pair[i].length - shared;
            put_part(count, from, to, position + place, prefix + 2 * place);
            place += count;
        }
    }
    prefix_pad(rows->seq_len - place, position + place, prefix + 2 * place);
}

void prefix_pad(int64_t places, int32_t *position, int32_t *prefix) {
    for (int64_t i = 0; i < places; i++)
        put_part(1, 0, 0, position + i, prefix + 2 * i);
}
