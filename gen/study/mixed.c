/* Finds the rows that change several things at a time, so that their ratios isolate none of
 * them. */
#include "study/study.h"

#include <string.h>

/* The tables whose keys say how a model is tuned. */
static const char *const tables[] = {"training.", "adapter.", "quantization.", "qat."};
enum { TABLES = sizeof tables / sizeof *tables };

static bool is_of(const char *key, const char *table) {
    return strncmp(key, table, strlen(table)) == 0;
}

/* Returns a bit per table in which the rows differ, or 0 if they also differ in other tables. The
 * optimizer's keys belong to the technique and are ignored. */
static unsigned changes(const Comparison *c, const Row *a, const Row *b) {
    unsigned found = 0;
    for (int k = 0; k < c->key_count; k++) {
        int t = 0;
        if (!values_differ(a->keys[k], b->keys[k]) || is_of(c->keys[k], "optimizer."))
            continue;
        while (t < TABLES && !is_of(c->keys[k], tables[t]))
            t++;
        if (t == TABLES)
            return 0;
        found |= 1u << t;
    }
    return found;
}

/* "[adapter], [quantization] and [qat]" */
static void put_tables(unsigned found, StrBuf *out) {
    bool first = true;
    for (int t = 0; t < TABLES; t++) {
        if (!(found & 1u << t))
            continue;
        bool last = found >> t == 1;
        sb_printf(out, "%s[%.*s]", first ? " " : last ? " and " : ", ", (int)strlen(tables[t]) - 1,
                  tables[t]);
        first = false;
    }
}

void put_mixed(const Comparison *c, StrBuf *out) {
    for (int i = 0; c->reference >= 0 && i < c->count; i++) {
        const Row *row = &c->rows[i], *reference = &c->rows[c->reference];
        unsigned found = changes(c, reference, row);
        if (!(found & (found - 1)))
            continue;
        sb_printf(out, "\n%s differs from %s in more than one respect:", row->run->name,
                  reference->run->name);
        put_tables(found, out);
        sb_puts(out, ".\n");
    }
}
