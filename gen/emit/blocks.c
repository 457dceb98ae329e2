/* Three steps: find repeated runs (roll.h); cut the launches between them where the module changes,
 * and join neighbours that are too small for a function of their own; then cut what is too long.
 *
 * A launch has a label, which says what it belongs to: the name of its first op, or in backward of
 * the weight that it reads, because the gradient of an operand is named after the operand. It belongs
 * to the module up to the first number of its label: "features.3" for features.3.conv.0.1. */
#include "emit/blocks.h"

#include "base/dotted.h"
#include "emit/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Groups of up to FEW launches may be joined to a neighbour; a function has up to about
 * MOST_LINES. */
enum { FEW = 3, MOST_LINES = 80 };

/* Consecutive launches of one run. */
typedef struct {
    int first, count; /* in the entry */
    bool whole;       /* all of the run, or of its part in one module */
} Group;

typedef struct {
    Arena *arena;
    const Plan *plan;
    const PlanEntry *entry;
    const char *container; /* "model." if modules are named model.layers.0 */
    int first_backward;    /* launch of the entry; launch_count: none */
    const char **label;    /* of each launch of the entry */
    Group *groups;         /* of the run being cut; */
    int group_count;
    Group *of_block; /* the launches of each block */
    const char **subject;
    Blocks out;
} Cut;

static const Op *op_at(const Cut *c, int launch) {
    ENSURE(c->entry->launches[launch].op_count > 0, "a launch of no op in %s", c->entry->name);
    return c->entry->launches[launch].ops[0];
}

/* ---- labels: what launches belong to --------------------------------------------------------- */

static bool is_backward(const Op *op) { return op->phase == PHASE_BACKWARD; }

/* Length of the label up to and including its first number; 0 if it has none. */
static size_t module_length(const char *label) {
    const char *number = first_number(label);
    return number ? (size_t)(number - label) + part_length(number) : 0;
}

static int parts_in(const char *label, size_t length) {
    int parts = length > 0;
    for (size_t i = 0; i < length; i++)
        parts += label[i] == '.';
    return parts;
}

/* Returns the container in the name of the entry's first numbered module. */
static const char *container_of(const Cut *c) {
    for (int i = 0; i < c->entry->launch_count; i++) {
        const char *name = op_at(c, i)->name, *number = first_number(name);
        if (number && number > name)
            return arena_strndup(c->arena, name, (size_t)(previous_part(name, number) - name));
    }
    return "";
}

static const Op *last_time(const Cut *c, const Run *run, int launch) {
    return launch_last_op(
        &c->entry->launches[run->first + launch + (run->times - 1) * run->stride]);
}

/* Returns "layers." for a repeated run that begins with layers.0.mlp. */
static const char *counted_module(const Cut *c, const Run *run) {
    const char *name =
        starred_name(c->arena, op_at(c, run->first)->name, last_time(c, run, 0)->name);
    return arena_strndup(c->arena, name, strcspn(name, "*"));
}

/* Whether another run of the entry counts the same modules in the same direction. */
static bool needs_range(const Cut *c, const Rolled *rolled, const Run *run) {
    for (int r = 0; r < rolled->count; r++) {
        const Run *other = &rolled->runs[r];
        if (other != run && other->times > 1 &&
            is_backward(op_at(c, other->first)) == is_backward(op_at(c, run->first)) &&
            strcmp(counted_module(c, other), counted_module(c, run)) == 0)
            return true;
    }
    return false;
}

/* Returns "8_to_10", the numbers of the run's first and last iteration; "*" if nothing is
 * counted. */
static const char *range_of(const Cut *c, const Run *run) {
    int from, to;
    for (int i = 0; i < run->length; i++)
        if (counted_name(c->arena, op_at(c, run->first + i)->name, last_time(c, run, i)->name,
                         &from, &to))
            return arena_printf(c->arena, "%d_to_%d", from, to);
    return "*";
}

static bool is_part(const char *part, const char *const *words) {
    for (; *words; words++)
        if (strlen(*words) == part_length(part) && strncmp(part, *words, part_length(part)) == 0)
            return true;
    return false;
}

/* Returns the name without parts that say only which tensor of a module it is. */
static const char *module_name(Arena *arena, const char *name) {
    static const char *const words[] = {"weight", "bias", "biased", "bordered",
                                        "grad",   "part", NULL};
    char *module = arena_strdup(arena, name);
    size_t length = 0;
    for (const char *part = name; *part; part = next_part(part)) {
        if (part > name && is_part(part, words))
            continue;
        if (part > name)
            module[length++] = '.';
        memcpy(module + length, part, part_length(part));
        length += part_length(part);
    }
    module[length] = '\0';
    return module;
}

static bool is_weight(const Value *v) {
    static const char *const words[] = {"weight", NULL};
    if (v->role == ROLE_FROZEN || v->role == ROLE_WEIGHT || v->role == ROLE_ADAPTER)
        return true;
    return v->role == ROLE_ACTIVATION && is_part(name_last_part(v->name), words); /* gathered */
}

/* Whether an embedding reads it. The output layer may have the same weight. */
static bool is_embedded(const Plan *plan, const Value *v) {
    for (int e = 0; e < ENTRY_COUNT; e++)
        for (int i = 0; i < plan->entry[e].launch_count; i++) {
            const Op *op = plan->entry[e].launches[i].ops[0];
            for (int k = 0; op->kind == OP_embedding && k < op->in_count; k++)
                if (op->in[k]->storage == v->storage)
                    return true;
        }
    return false;
}

/* Returns which argument of a backward launch is a weight; -1: none, so that its op has a name of its
 * own. */
static int weight_of(const Cut *c, const Launch *launch) {
    for (int a = 0; is_backward(launch->ops[0]) && a < launch->arg_count; a++)
        if (!launch->written[a] && is_weight(launch->arg[a]))
            return is_embedded(c->plan, launch->arg[a]) ? -1 : a;
    return -1;
}

/* Returns the label of a launch of the run, without the container. */
static const char *label_of(const Cut *c, const Run *run, int launch, const char *range) {
    const Launch *first = &c->entry->launches[run->first + launch];
    const Launch *last = first + (run->times - 1) * run->stride;
    int weight = weight_of(c, first);
    const char *from = weight < 0 ? first->ops[0]->name : first->arg[weight]->name;
    const char *to = weight < 0 ? launch_last_op(last)->name : last->arg[weight]->name;
    const char *name = starred_name(c->arena, from, to), *star = strchr(name, '*');
    if (star)
        name = arena_printf(c->arena, "%.*s%s%s", (int)(star - name), name, range, star + 1);
    else if (run->times > 1 && strcmp(to, from) != 0) /* not numbered in each iteration */
        name = without_numbers(c->arena, first_number(from) ? from : to);
    const char *module = module_name(c->arena, name);
    size_t outer = strlen(c->container);
    return strncmp(module, c->container, outer) == 0 ? module + outer : module;
}

/* ---- lines of code --------------------------------------------------------------------------- */

/* Whether an earlier argument, from launch `first` on, has already declared this argument's
 * local. */
static bool is_declared(const Launch *first, int index, int arg) {
    const Value *v = first[index].arg[arg];
    for (int i = 0; i <= index; i++)
        for (int a = 0; a < (i < index ? first[i].arg_count : arg); a++)
            if (first[i].arg[a] == v)
                return true;
    return false;
}

/* Estimates the lines of these launches: each has a comment, declarations, a call and a blank
 * line. */
static int lines_of(const Launch *first, int count) {
    enum { LONG_NAME = 35 }; /* needs a second line */
    int lines = 0;
    for (int i = 0; i < count; i++) {
        lines += 3 + first[i].arg_count / 5;
        for (int a = 0; a < first[i].arg_count; a++)
            if (!is_declared(first, i, a))
                lines += 1 + (strlen(first[i].arg[a]->name) > LONG_NAME);
    }
    return lines;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool same_module(const char *a, const char *b) {
    size_t length = module_length(a);
    return length == module_length(b) && memcmp(a, b, length) == 0;
}

/* Whether `is` holds for the ops of most of the group's launches. */
static bool mostly(const Cut *c, const Group *g, bool is(const Op *)) {
    int count = 0;
    for (int i = 0; i < g->count; i++)
        count += is(op_at(c, g->first + i));
    return 2 * count > g->count;
}

/* Makes one group per module, with separate groups for the forward and the backward pass. */
static void cut_at_modules(Cut *c, const Run *run) {
    for (int i = run->first, first = i, end = i + run->length; i < end; i++)
        if (i + 1 == end || !same_module(c->label[i], c->label[i + 1]) ||
            i + 1 == c->first_backward) {
            c->groups[c->group_count++] = (Group){first, i + 1 - first, true};
            first = i + 1;
        }
}

static void join_small(Cut *c) {
    int kept = 0;
    for (int i = 1; i < c->group_count; i++) {
        Group *to = &c->groups[kept], *g = &c->groups[i];
        bool small = to->count <= FEW || g->count <= FEW;
        int lines = lines_of(&c->entry->launches[to->first], to->count + g->count);
        if (small && mostly(c, to, is_backward) == mostly(c, g, is_backward) &&
            lines <= MOST_LINES) {
            to->count += g->count;
            to->whole = false;
        } else {
            c->groups[++kept] = *g;
        }
    }
    c->group_count = kept + 1;
}

static size_t common_of_group(const Cut *c, const Group *g) {
    const char *label = c->label[g->first];
    size_t common = strlen(label);
    for (int i = 1; i < g->count; i++) {
        size_t length = common_length(label, c->label[g->first + i]);
        common = length < common ? length : common;
    }
    return common;
}

/* ---- cuts ------------------------------------------------------------------------------------ */

/* What cuts cost, in lines that a function is too long: a function more; for each buffer that both
 * sides of a cut use; and the same within a part of the module, such as layers.0.self_attn, with the
 * cut itself for each level of parts. */
enum { FUNCTION_COST = 15, BUFFER_COST = 3, PART_COST = 20, BUFFER_IN_PART_COST = 8 };

static bool touches(const Launch *launch, const Storage *storage) {
    for (int a = 0; a < launch->arg_count; a++)
        if (launch->arg[a]->storage == storage)
            return true;
    return false;
}

/* Whether a launch of [from, to) does. */
static bool any_touches(const Cut *c, int from, int to, const Storage *storage) {
    for (int i = from; i < to; i++)
        if (touches(&c->entry->launches[i], storage))
            return true;
    return false;
}

/* How many buffers of the entry are used both before the launch and from it on. */
static int buffers_across(const Cut *c, const Group *g, int at) {
    int count = 0, end = g->first + g->count;
    for (int i = g->first; i < at; i++)
        for (int a = 0; a < c->entry->launches[i].arg_count; a++) {
            const Storage *storage = c->entry->launches[i].arg[a]->storage;
            count += !role_persistent(storage->role) && storage->role != ROLE_INPUT &&
                     !any_touches(c, i + 1, at, storage) && any_touches(c, at, end, storage);
        }
    return count;
}

static int cut_cost(const Cut *c, const Group *g, int at) {
    const char **label = &c->label[at];
    size_t all = common_of_group(c, g), module = module_length(label[0]);
    size_t common = common_length(label[-1], label[0]), free = all > module ? all : module;
    int parts = common > free ? parts_in(label[0], common) - parts_in(label[0], free) : 0;
    int each = parts ? BUFFER_IN_PART_COST : BUFFER_COST;
    return PART_COST * parts + each * buffers_across(c, g, at);
}

static int function_cost(const Cut *c, int first, int count) {
    int lines = lines_of(&c->entry->launches[first], count);
    bool too_long = count > 1 && lines > MOST_LINES;
    return FUNCTION_COST + (too_long ? lines - MOST_LINES : 0);
}

static void add_block(Cut *c, Group g, const Run *run, int loop) {
    Run part = {g.first, g.count, run->times, run->stride};
    c->of_block[c->out.count] = g;
    c->out.blocks[c->out.count++] =
        (Block){.pointers = pointers_of(c->arena, c->plan, c->entry, part), .loop = loop};
}

/* Adds the functions of the first `count` launches; from[i]: where the last one of i begins. */
static void add_parts(Cut *c, const Group *g, const int *from, int count, const Run *run,
                      int loop) {
    if (count == 0)
        return;
    add_parts(c, g, from, from[count], run, loop);
    int first = from[count];
    add_block(c, (Group){g->first + first, count - first, g->whole && count - first == g->count},
              run, loop);
}

/* Cuts the group so that all costs are least. Of the functions that its first i launches become,
 * least[i] is the cost, and from[i] where the last one begins. */
static void add_blocks(Cut *c, Group g, const Run *run, int loop) {
    int *least = arena_array(c->arena, (size_t)g.count + 1, sizeof *least);
    int *from = arena_array(c->arena, (size_t)g.count + 1, sizeof *from);
    int *cut = arena_array(c->arena, (size_t)g.count + 1, sizeof *cut);
    bool fits = function_cost(c, g.first, g.count) == FUNCTION_COST;
    for (int i = 1; !fits && i < g.count; i++)
        cut[i] = cut_cost(c, &g, g.first + i);
    from[g.count] = 0;
    for (int i = 1; !fits && i <= g.count; i++)
        for (int k = i - 1; k >= 0; k--) {
            int cost = least[k] + cut[k] + function_cost(c, g.first + k, i - k);
            if (k == i - 1 || cost < least[i]) {
                least[i] = cost;
                from[i] = k;
            }
        }
    add_parts(c, &g, from, g.count, run, loop);
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char *label_at(const Cut *c, const Group *g, int i) { return c->label[g->first + i]; }

static bool is_below(const char *label, const char *module) {
    return common_length(label, module) == strlen(module);
}

/* The part after the module, as in the label; "" for the module itself. */
static const char *child_of(const char *label, const char *module) {
    size_t length = strlen(module);
    return label[length] ? label + length + (length > 0) : "";
}

static bool has_word(const char *part, const char *word, size_t length) {
    for (const char *end = part + part_length(part); part < end;) {
        size_t own = strcspn(part, "_.");
        if (own == length && memcmp(part, word, length) == 0)
            return true;
        part += own + 1;
    }
    return false;
}

/* Whether every word of the second part is one of the first, and the last one is the same: q_k_proj
 * covers k_proj. */
static bool covers(const char *part, const char *other) {
    const char *last = other;
    for (const char *end = other + part_length(other); other < end;) {
        size_t length = strcspn(other, "_.");
        if (!has_word(part, other, length))
            return false;
        last = other;
        other += length + 1;
    }
    size_t length = strcspn(last, "_."), own = part_length(part);
    return own >= length && memcmp(part + own - length, last, strcspn(last, "_.")) == 0;
}

/* The part after the module in the label of a launch; "" if there is none. */
static const char *child_at(const Cut *c, const Group *g, int i, const char *module) {
    const char *label = label_at(c, g, i);
    return is_below(label, module) ? child_of(label, module) : "";
}

/* Returns the module with its part that more than two thirds of the launches belong to; NULL if there
 * is none. The name of joined projections in the order of forward, q_k_v_proj, comes last. */
static const char *main_child(const Cut *c, const Group *g, const char *module) {
    for (int i = g->count - 1; i >= 0; i--) {
        const char *part = child_at(c, g, i, module);
        int count = 0;
        if (!*part || part_is_number(part))
            continue;
        for (int k = 0; k < g->count; k++) {
            const char *other = child_at(c, g, k, module);
            count += *other && covers(part, other);
        }
        if (3 * count > 2 * g->count)
            return arena_printf(c->arena, "%s.%.*s", module, (int)part_length(part), part);
    }
    return NULL;
}

/* Returns what most of the launches belong to: "layers.*.mlp", or "" if it is not one module. */
static const char *subject_of(const Cut *c, const Group *g) {
    size_t common = common_of_group(c, g), module = module_length(c->label[g->first]);
    if (g->whole && module > 0)
        common = module < common ? module : common;
    const char *subject = arena_strndup(c->arena, c->label[g->first], common);
    for (const char *child = subject; child && *subject && !g->whole;
         child = main_child(c, g, subject))
        subject = child;
    return subject;
}

/* Gets the different parts that follow the prefix in labels of the group; returns how many. A number
 * stays with the word before it. After an empty prefix these are whole modules: "layer1.0". */
static int pieces_of(const Cut *c, const Group *g, size_t prefix, int parts, const char **piece) {
    int count = 0;
    for (int i = 0; i < g->count; i++) {
        const char *label = label_at(c, g, i), *begin = label + prefix + (prefix > 0);
        if (strlen(label) <= prefix)
            continue;
        const char *end = begin;
        for (int k = 0; k < parts || (*end && part_is_number(end)); k++)
            end = next_part(end);
        size_t length = (size_t)(end - begin) - (*end != '\0' && end > begin);
        if (prefix == 0 && module_length(label) > 0)
            length = module_length(label);
        const char *text = arena_strndup(c->arena, begin, length);
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
static const char *with_ends(const Cut *c, const Group *g, const char *subject) {
    const char **piece = arena_array(c->arena, (size_t)g->count, sizeof *piece);
    int below = 0;
    Group within = *g; /* without what the subject leaves out */
    while (within.count > 0 && !is_below(label_at(c, &within, 0), subject))
        within.first++, within.count--;
    while (below < within.count && is_below(label_at(c, &within, below), subject))
        below++;
    within.count = below;
    int count = pieces_of(c, &within, strlen(subject), 1, piece);
    if (count == 0)
        return subject;
    const char *dot = *subject ? "." : "", *between = count == 2 ? "and" : "to";
    if (count == 1)
        return arena_printf(c->arena, "%s%s%s", subject, dot, piece[0]);
    return arena_printf(c->arena, "%s%s%s_%s_%s", subject, dot, piece[0], between,
                        piece[count - 1]);
}

static bool is_recomputed(const Op *op) { return op->phase == PHASE_RECOMPUTE; }

/* Returns "forward", "backward" or "recompute"; the entry's name if nothing in it is backward. */
static const char *course(const Cut *c, const Group *g) {
    bool backward = c->entry == &c->plan->entry[ENTRY_BACKWARD];
    if (c->first_backward == c->entry->launch_count)
        return c->entry->name;
    if (mostly(c, g, is_recomputed))
        return "recompute";
    bool behind = g->first > c->first_backward;
    return backward || behind || mostly(c, g, is_backward) ? "backward" : "forward";
}

static bool has_label(const Cut *c, const Group *g, const char *label) {
    for (int i = 0; i < g->count; i++)
        if (strcmp(label_at(c, g, i), label) == 0)
            return true;
    return false;
}

/* Whether the subject does not tell the block from others. One that holds the op after which the
 * module is named, such as self_attn, may have the module's name although others have parts of it. */
static bool is_ambiguous(const Cut *c, int block) {
    const Group *g = &c->of_block[block];
    const char *subject = c->subject[block];
    for (int i = 0; i < c->out.count; i++) {
        if (i == block || !is_below(c->subject[i], subject) ||
            strcmp(course(c, g), course(c, &c->of_block[i])) != 0)
            continue;
        if (strcmp(c->subject[i], subject) == 0 || !has_label(c, g, subject))
            return true;
    }
    return !*subject;
}

static bool is_taken(const Cut *c, int blocks, const char *function) {
    for (int i = 0; i < blocks; i++)
        if (strcmp(c->out.blocks[i].function, function) == 0)
            return true;
    return false;
}

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

static const char *function_name(const Cut *c, int block) {
    const Group *g = &c->of_block[block];
    const char *what = c->subject[block];
    if (is_ambiguous(c, block))
        what = with_ends(c, g, what);
    const char *letter = isdigit((unsigned char)*what) ? "module_" : "";
    bool early = c->entry == &c->plan->entry[ENTRY_EARLY_MICRO_STEP]; /* like micro_step */
    const char *name = identifier(c->arena, arena_printf(c->arena, "%s%s_%s%s", letter, what,
                                                         early ? "early_" : "", course(c, g)));
    const char *unique = name;
    for (int n = 2; is_taken(c, block, unique); n++)
        unique = arena_printf(c->arena, "%s_%d", name, n);
    return unique;
}

/* Lists what the block has parts of, if it is more than one. */
static void list_contents(const Cut *c, int block) {
    enum { FEW_PARTS = 6 };
    const Group *g = &c->of_block[block];
    const char **piece = arena_array(c->arena, (size_t)g->count, sizeof *piece);
    size_t prefix = common_of_group(c, g);
    bool deep = prefix > module_length(c->label[g->first]);
    int count = pieces_of(c, g, prefix, deep ? 1 : 2, piece);
    if (count > FEW_PARTS)
        count = pieces_of(c, g, prefix, 1, piece);
    if (count < 2)
        return;
    if (prefix > 0)
        piece[0] = arena_printf(c->arena, "%s%.*s: %s", c->container, (int)prefix,
                                c->label[g->first], piece[0]);
    c->out.blocks[block].contents = piece;
    c->out.blocks[block].content_count = count;
}

static void name_blocks(Cut *c) {
    for (int i = 0; i < c->out.count; i++)
        c->subject[i] = subject_of(c, &c->of_block[i]);
    for (int i = 0; i < c->out.count; i++) {
        c->out.blocks[i].function = function_name(c, i);
        list_contents(c, i);
    }
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void cut_run(Cut *c, const Rolled *rolled, int loop) {
    const Run *run = &rolled->runs[loop];
    const char *range = needs_range(c, rolled, run) ? range_of(c, run) : "*";
    for (int i = 0; i < run->length; i++)
        c->label[run->first + i] = label_of(c, run, i, range);
    if (run->times > 1) {
        add_blocks(c, (Group){run->first, run->length, true}, run, loop);
        return;
    }
    c->group_count = 0;
    cut_at_modules(c, run);
    join_small(c);
    for (int i = 0; i < c->group_count; i++)
        add_blocks(c, c->groups[i], run, loop);
}

Blocks blocks_of(Arena *arena, const Plan *plan, const PlanEntry *entry) {
    size_t room = (size_t)entry->launch_count + 1;
    Cut c = {.arena = arena, .plan = plan, .entry = entry};
    c.label = arena_array(arena, room, sizeof *c.label);
    c.groups = arena_array(arena, room, sizeof *c.groups);
    c.of_block = arena_array(arena, room, sizeof *c.of_block);
    c.subject = arena_array(arena, room, sizeof *c.subject);
    c.out.blocks = arena_array(arena, room, sizeof *c.out.blocks);
    c.container = container_of(&c);
    while (c.first_backward < entry->launch_count && !is_backward(op_at(&c, c.first_backward)))
        c.first_backward++;
    Rolled rolled = roll_entry(arena, entry);
    for (int r = 0; r < rolled.count; r++)
        cut_run(&c, &rolled, r);
    name_blocks(&c);
    return c.out;
}
