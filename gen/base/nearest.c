/* Edit distance for "did you mean". */
#include "base/nearest.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { MAX_NAME = 63, SLIP = 2 }; /* SLIP: most edits that are surely a slip of the fingers */

static int min3(int a, int b, int c) {
    int least = a < b ? a : b;
    return least < c ? least : c;
}

/* Levenshtein distance; names are at most MAX_NAME long. */
static int edit_distance(const char *a, const char *b) {
    int row[MAX_NAME + 1];
    int columns = (int)strlen(b);
    for (int j = 0; j <= columns; j++)
        row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= columns; j++) {
            int replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = min3(row[j] + 1, row[j - 1] + 1, replaced);
        }
    }
    return row[columns];
}

/* Whether all words of the name, which end at '_', are words of the candidate: "num_layers" and
 * "num_hidden_layers". */
static bool has_words(const char *candidate, const char *name) {
    char padded[MAX_NAME + 3], word[MAX_NAME + 3];
    snprintf(padded, sizeof padded, "_%s_", candidate);
    do {
        int length = (int)strcspn(name, "_");
        snprintf(word, sizeof word, "_%.*s_", length, name);
        if (length == 0 || !strstr(padded, word))
            return false;
        name += length + (name[length] == '_');
    } while (*name);
    return true;
}

static const char *shortest_with_words(const char *name, const char *const *candidates, int count) {
    const char *shortest = NULL;
    for (int i = 0; i < count; i++)
        if (strlen(candidates[i]) <= MAX_NAME && has_words(candidates[i], name) &&
            (!shortest || strlen(candidates[i]) < strlen(shortest)))
            shortest = candidates[i];
    return shortest;
}

const char *nearest_name(const char *name, const char *const *candidates, int count) {
    size_t length = strlen(name);
    if (length > MAX_NAME)
        return NULL;
    const char *nearest = NULL;
    int least = (int)(length + 2) / 3 + 1;
    for (int i = 0; i < count; i++) {
        if (strlen(candidates[i]) > MAX_NAME)
            continue;
        int distance = edit_distance(name, candidates[i]);
        if (distance < least) {
            least = distance;
            nearest = candidates[i];
        }
    }
    bool slip = nearest && least <= SLIP;
    const char *longer = slip ? NULL : shortest_with_words(name, candidates, count);
    return longer ? longer : nearest;
}
