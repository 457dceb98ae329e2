/* A function is named after the module that most of its launches belong to, and forward, backward or
 * the entry. If that does not tell it from others, the name has the first and the last part of the
 * module that it contains. */
#include "emit/block_names.h"

#include "base/dotted.h"
#include "graph/op_table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const Labels *labels;
    const Group *of_block; /* the launches of each block */
    const char **subject;  /* what most of them belong to */
    Blocks *out;
} Naming;

/* ---- parts of labels ------------------------------------------------------------------------- */

static const char *label_at(const Labels *l, const Group *g, int i) {
    return l->label[g->first + i];
}

static bool is_below(const char *label, const char *module) {
    return common_length(label, module) == strlen(module);
}

/* The part after the module, as in the label; "" for the module itself. */
static const char *child_of(const char *label, const char *module) {
    size_t length = strlen(module);
    return label[length] ? label + length + (length > 0) : "";
}

/* The part after the module in the label of a launch; "" if there is none. */
static const char *child_at(const Labels *l, const Group *g, int i, const char *module) {
    const char *label = label_at(l, g, i);
    return is_below(label, module) ? child_of(label, module) : "";
}

/* Returns the module with its part that more than two thirds of the launches belong to; NULL if there
 * is none. */
static const char *main_child(const Labels *l, const Group *g, const char *module) {
    for (int i = 0; i < g->count; i++) {
        const char *part = child_at(l, g, i, module);
        int count = 0;
        if (!*part || part_is_number(part))
            continue;
        for (int k = 0; k < g->count; k++)
            count += common_length(child_at(l, g, k, module), part) >= part_length(part);
        if (3 * count > 2 * g->count)
            return arena_printf(l->arena, "%s.%.*s", module, (int)part_length(part), part);
    }
    return NULL;
}

/* Returns what most of the launches belong to: "layers.*.mlp", or "" if it is not one module. */
static const char *subject_of(const Labels *l, const Group *g) {
    size_t common = common_of_group(l, g), module = label_module(l->label[g->first]);
    if (g->whole && module > 0)
        common = module < common ? module : common;
    const char *subject = arena_strndup(l->arena, l->label[g->first], common);
    for (const char *child = subject; child && *subject && !g->whole;
         child = main_child(l, g, subject))
        subject = child;
    return subject;
}

/* Returns up to `parts` parts that follow the prefix in the label of launch i. A number stays with
 * the word before it. After an empty prefix it is the whole module: "layer1.0", or "update" for one
 * in backward, which may be of several modules. If nothing follows, as in the label of self_attn's own
 * attention, returns the kind of the op. */
static const char *piece_at(const Labels *l, const Group *g, int i, size_t prefix, int parts) {
    const char *label = label_at(l, g, i), *begin = label + prefix + (prefix > 0), *end = begin;
    bool beside_backward = l->first_backward < l->entry->launch_count;
    if (prefix == 0 && beside_backward &&
        op_is(l->entry->launches[g->first + i].ops[0], TRAIT_UPDATES))
        return "update";
    if (strlen(label) <= prefix)
        return op_title(l->entry->launches[g->first + i].ops[0]);
    for (int k = 0; k < parts || (*end && part_is_number(end)); k++)
        end = next_part(end);
    size_t length = (size_t)(end - begin) - (*end != '\0' && end > begin);
    if (prefix == 0 && label_module(label) > 0)
        length = label_module(label);
    return arena_strndup(l->arena, begin, length);
}

/* Gets the different ones of the group; returns how many. `own`: of launches, too, after whose label
 * nothing follows. */
static int pieces_of(const Labels *l, const Group *g, size_t prefix, int parts, bool own,
                     const char **piece) {
    int count = 0;
    for (int i = 0; i < g->count; i++) {
        if (!own && strlen(label_at(l, g, i)) <= prefix)
            continue;
        const char *text = piece_at(l, g, i, prefix, parts);
        int k = 0;
        while (k < count && strcmp(piece[k], text) != 0)
            k++;
        if (k == count)
            piece[count++] = text;
    }
    return count;
}

/* Returns "layer4.*.conv1_to_bn2" or "lm_head_and_loss": the subject with the first and the last of
 * its parts. */
static const char *with_ends(const Labels *l, const Group *g, const char *subject) {
    const char **piece = arena_array(l->arena, (size_t)g->count, sizeof *piece);
    int below = 0;
    Group within = *g; /* without what the subject leaves out */
    while (within.count > 0 && !is_below(label_at(l, &within, 0), subject))
        within.first++, within.count--;
    while (below < within.count && is_below(label_at(l, &within, below), subject))
        below++;
    within.count = below;
    int count = pieces_of(l, &within, strlen(subject), 1, false, piece);
    if (count == 0)
        return subject;
    const char *dot = *subject ? "." : "", *between = count == 2 ? "and" : "to";
    if (count == 1)
        return arena_printf(l->arena, "%s%s%s", subject, dot, piece[0]);
    return arena_printf(l->arena, "%s%s%s_%s_%s", subject, dot, piece[0], between,
                        piece[count - 1]);
}

static bool is_recomputed(const Op *op) { return op->phase == PHASE_RECOMPUTE; }

/* Returns "forward", "backward" or "recompute"; the entry's name if nothing in it is backward. */
static const char *course(const Labels *l, const Group *g) {
    bool backward = l->entry == &l->plan->entry[ENTRY_BACKWARD];
    if (l->first_backward == l->entry->launch_count)
        return l->entry->name;
    if (mostly(l, g, is_recomputed))
        return "recompute";
    bool behind = g->first > l->first_backward;
    return backward || behind || mostly(l, g, is_backward) ? "backward" : "forward";
}

static bool has_label(const Labels *l, const Group *g, const char *label) {
    for (int i = 0; i < g->count; i++)
        if (strcmp(label_at(l, g, i), label) == 0)
            return true;
    return false;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* Returns the first label of a loop's function in which something is counted; NULL: none. */
static const char *counted_label(const Naming *n, int block) {
    const Block *b = &n->out->blocks[block];
    for (int i = 0; b->times > 1 && i < n->of_block[block].count; i++) {
        const char *label = label_at(n->labels, &n->of_block[block], i);
        if (strchr(label, '*'))
            return label;
    }
    return NULL;
}

static bool same_count(const char *a, const char *b) {
    size_t star = strcspn(a, "*");
    return star == strcspn(b, "*") && memcmp(a, b, star) == 0;
}

/* Returns "8_to_10", and these numbers: of the first and of the last call of a loop's function. NULL
 * if nothing is counted. */
static const char *range_of(const Naming *n, int block, int *from, int *to) {
    Arena *arena = n->labels->arena;
    const Run *run = &n->out->blocks[block].pointers.run;
    const Launch *first = &n->labels->entry->launches[run->first];
    const Launch *last = first + (run->times - 1) * run->stride;
    for (int i = 0; i < run->length; i++)
        if (counted_name(arena, first[i].ops[0]->name, launch_last_op(&last[i])->name, from, to))
            return arena_printf(arena, "%d_to_%d", *from, *to);
    return NULL;
}

/* Whether the entry has a module beyond these of the label's: layers.3 if they are layers 0 to 2. */
static bool has_more(const Labels *l, const char *label, int from, int to) {
    size_t outer = strlen(l->container), star = strcspn(label, "*");
    for (int i = 0; i < l->entry->launch_count; i++) {
        const char *name = l->entry->launches[i].ops[0]->name;
        name += strncmp(name, l->container, outer) == 0 ? outer : 0;
        if (strncmp(name, label, star) != 0 || !part_is_number(name + star))
            continue;
        long number = strtol(name + star, NULL, 10);
        if (number < (from < to ? from : to) || number > (from < to ? to : from))
            return true;
    }
    return false;
}

/* Returns the range that tells a loop's function from those of another loop that counts the same
 * modules; NULL: there is no such loop, or the function is called for all of the modules. */
static const char *needed_range(const Naming *n, int block) {
    const char *label = counted_label(n, block);
    const char *own = course(n->labels, &n->of_block[block]);
    int from, to;
    for (int i = 0; label && i < n->out->count; i++) {
        const char *other = counted_label(n, i);
        if (n->out->blocks[i].loop == n->out->blocks[block].loop || !other ||
            !same_count(label, other) || strcmp(own, course(n->labels, &n->of_block[i])) != 0)
            continue;
        const char *range = range_of(n, block, &from, &to);
        return range && has_more(n->labels, label, from, to) ? range : NULL;
    }
    return NULL;
}

/* Puts ranges into the labels of functions that need them, once calls after loops are known. */
static void put_ranges(const Naming *n) {
    const Labels *l = n->labels;
    const char **range = arena_array(l->arena, (size_t)n->out->count + 1, sizeof *range);
    for (int b = 0; b < n->out->count; b++)
        range[b] = needed_range(n, b);
    for (int b = 0; b < n->out->count; b++)
        for (int i = n->of_block[b].first, end = i + n->of_block[b].count; range[b] && i < end; i++)
            l->label[i] = with_range(l->arena, l->label[i], range[b]);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Returns the text as an identifier, without stars. */
static char *identifier(Arena *arena, const char *text) {
    char *name = arena_strdup(arena, text), *to = name;
    for (const char *from = text; *from; from++)
        if (from[0] == '.' && from[1] == '*')
            from++;
        else
            *to++ = isalnum((unsigned char)*from) ? *from : '_';
    *to = '\0';
    return name;
}

/* Whether the subject does not tell the block from others. One that holds the op after which the
 * module is named, such as self_attn, may have the module's name although others have parts of it. */
static bool is_ambiguous(const Naming *n, int block) {
    const Group *g = &n->of_block[block];
    const char *subject = n->subject[block];
    for (int i = 0; i < n->out->count; i++) {
        if (i == block || n->out->blocks[i].called >= 0 || !is_below(n->subject[i], subject) ||
            strcmp(course(n->labels, g), course(n->labels, &n->of_block[i])) != 0)
            continue;
        if (strcmp(n->subject[i], subject) == 0 || !has_label(n->labels, g, subject))
            return true;
    }
    return !*subject;
}

static bool is_taken(const Naming *n, int blocks, const char *function) {
    for (int i = 0; i < blocks; i++)
        if (strcmp(n->out->blocks[i].function, function) == 0)
            return true;
    return false;
}

static const char *function_name(const Naming *n, int block) {
    const Group *g = &n->of_block[block];
    const char *what = n->subject[block];
    if (is_ambiguous(n, block))
        what = with_ends(n->labels, g, what);
    const char *letter = isdigit((unsigned char)*what) ? "module_" : "";
    bool early =
        n->labels->entry == &n->labels->plan->entry[ENTRY_EARLY_MICRO_STEP]; /* like micro_step */
    const char *name =
        identifier(n->labels->arena, arena_printf(n->labels->arena, "%s%s_%s%s", letter, what,
                                                  early ? "early_" : "", course(n->labels, g)));
    const char *unique = name;
    for (int i = 2; is_taken(n, block, unique); i++)
        unique = arena_printf(n->labels->arena, "%s_%d", name, i);
    return unique;
}

/* "model.", if the group is of a module in it. */
static const char *container_of(const Labels *l, const Group *g) {
    const char *label = l->label[g->first];
    size_t outer = strlen(l->container);
    for (int i = g->first; label_module(label) > 0 && i < g->first + g->count; i++) {
        const char *name = l->entry->launches[i].ops[0]->name;
        if (strncmp(name, l->container, outer) == 0 && same_part(name + outer, label))
            return l->container;
    }
    return "";
}

/* Lists what the block has parts of, if it is more than one. */
static void list_contents(const Naming *n, int block) {
    enum { FEW_PARTS = 6 };
    const Group *g = &n->of_block[block];
    const char **piece = arena_array(n->labels->arena, (size_t)g->count, sizeof *piece);
    size_t prefix = common_of_group(n->labels, g);
    bool deep = prefix > label_module(n->labels->label[g->first]);
    int count = pieces_of(n->labels, g, prefix, deep ? 1 : 2, true, piece);
    if (count > FEW_PARTS)
        count = pieces_of(n->labels, g, prefix, 1, true, piece);
    if (count < 2)
        return;
    if (prefix > 0)
        piece[0] = arena_printf(n->labels->arena, "%s%.*s: %s", container_of(n->labels, g),
                                (int)prefix, n->labels->label[g->first], piece[0]);
    n->out->blocks[block].contents = piece;
    n->out->blocks[block].content_count = count;
}

void name_blocks(const Labels *labels, const Group *of_block, Blocks *blocks) {
    Naming n = {labels, of_block, NULL, blocks};
    n.subject = arena_array(labels->arena, (size_t)blocks->count + 1, sizeof *n.subject);
    put_ranges(&n);
    for (int i = 0; i < blocks->count; i++)
        n.subject[i] = subject_of(labels, &of_block[i]);
    for (int i = 0; i < blocks->count; i++) {
        int called = blocks->blocks[i].called;
        if (called < 0)
            list_contents(&n, i);
        blocks->blocks[i].function =
            called < 0 ? function_name(&n, i) : blocks->blocks[called].function;
    }
}
