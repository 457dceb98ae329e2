/* Pairs in one row each: prompt, chosen, rejected, the prompt once (dpo.shared_prompt).
 *
 * What both sequences begin with, up to the first place that has a target in one of them, lies at the
 * row's start. The prompt's last token has one, another one in each sequence, so it stands in both:
 *
 *     places            p0 p1 | p2 c0 c1 | p2 r0 | padding
 *     labels            -  -  | c0 c1 -  | r0 -  | -
 *     positions         0  1  | 2  3  4  | 2  3  | 0
 *     sample_positions  0  1  | 0  1  2  | 0  1  | 0
 *     prefix            0  0  | 2  2  2  | 2  2  | 0
 *
 * A place sees its part up to itself, and the row's first `prefix` places. */
#include "runtime/data/data_rows.h"

#include "runtime/base/rt.h"

static int64_t shared_by(const Samples *samples, int64_t a, int64_t b, int64_t length) {
    int64_t count = 0;
    while (count + 1 < length && samples->ids[a + count] == samples->ids[b + count] &&
           samples->labels[a + count + 1] == IGNORED && samples->labels[b + count + 1] == IGNORED)
        count++;
    return count;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

int64_t pair_shared(const Samples *samples, const Sample *chosen, const Sample *rejected) {
    return shared_by(samples, chosen->start, rejected->start,
                     smaller(chosen->length, rejected->length));
}

int64_t pair_room(const Samples *samples, int64_t first, int64_t second, int64_t end) {
    int64_t shorter = smaller(second - first, end - second), longer = end - first - shorter;
    int64_t shared = shared_by(samples, first, second, shorter);
    int64_t room = samples->seq_len - shared; /* of both, behind what they share */
    shorter -= shared;
    longer -= shared;
    if (shorter + longer <= room)
        return shared + longer;
    int64_t most = 2 * shorter <= room ? room - shorter : room / 2;
    return shared + (most > 0 ? most : 0);
}

bool rows_of_shared(Rows *rows, const Samples *samples, int64_t first, int64_t end, int64_t seq_len,
                    int64_t max_targets, DataError *error) {
    int64_t pairs = (end - first) / 2;
    *rows = (Rows){.count = pairs,
                   .seq_len = seq_len,
                   .samples = samples,
                   .first_sample = rt_alloc((size_t)(pairs + 1) * sizeof(int64_t)),
                   .sides = 1,
                   .shared = true};
    for (int64_t i = 0; i <= pairs; i++)
        rows->first_sample[i] = first + 2 * i;
    for (int64_t row = 0; max_targets && row < pairs; row++) {
        const Sample *pair = &samples->items[first + 2 * row];
        if (row_targets(rows, row) > max_targets)
            return data_fail(error,
                             "%s%s%lld: the pair has %lld target tokens, but "
                             "data.max_target_tokens leaves %lld a row; raise it",
                             pair->path, samples->mark, (long long)pair->number,
                             (long long)row_targets(rows, row), (long long)max_targets);
    }
    return true;
}

/* A part of a row behind what is shared. */
static void put_part(int64_t count, int64_t shared, int32_t *position, int32_t *prefix) {
    for (int64_t i = 0; i < count; i++) {
        position[i] = (int32_t)i;
        prefix[i] = (int32_t)shared;
    }
}

void row_prefix(const Rows *rows, int64_t row, int32_t *position, int32_t *prefix) {
    const Sample *pair = &rows->samples->items[rows->first_sample[row]];
    int64_t shared = pair_shared(rows->samples, &pair[0], &pair[1]);
    put_part(shared, 0, position, prefix);
    int64_t place = shared;
    for (int i = 0; i < 2; i++) {
        put_part(pair[i].length - shared, shared, position + place, prefix + place);
        place += pair[i].length - shared;
    }
    prefix_pad(rows->seq_len - place, position + place, prefix + place);
}

void prefix_pad(int64_t places, int32_t *position, int32_t *prefix) {
    for (int64_t i = 0; i < places; i++)
        position[i] = prefix[i] = 0;
}
