/* Finds the kernels of a preprocessed kernels.cu, and which of them may wait.
 *
 * The text is split into top-level definitions, each a name and the identifiers of its body. A
 * definition blocks if its body names a waiting primitive or another definition that blocks.
 * Overloads share one name, so the scan may report waiting where there is none, which only costs
 * time; the opposite error is detected at run time. Text of system headers is skipped.
 */
#include "simcc_scan.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Token {
    const char *text;
    size_t length;
} Token;

typedef struct Tokens {
    Token *at;
    size_t count, capacity;
} Tokens;

typedef struct Definition {
    Token name;
    size_t first, last; /* the tokens of its body */
    bool blocks;
    bool kernel;
    Token bounds_first, bounds_last;
} Definition;

typedef struct Source {
    Tokens tokens;
    Definition *definitions;
    size_t count, capacity;
    Scan *scan;
    const char *error;
} Source;

static void *need(void *p) {
    if (!p) {
        fprintf(stderr, "simcc: out of memory\n");
        exit(1);
    }
    return p;
}

static char *copy_text(const char *from, size_t length) {
    char *copy = need(malloc(length + 1));
    memcpy(copy, from, length);
    copy[length] = 0;
    return copy;
}

static bool is(Token t, const char *word) {
    return t.length == strlen(word) && !memcmp(t.text, word, t.length);
}

static bool same(Token a, Token b) {
    return a.length == b.length && !memcmp(a.text, b.text, a.length);
}

static bool is_name(Token t) {
    return t.length && (isalpha((unsigned char)*t.text) || *t.text == '_');
}

/* ---- Tokens ------------------------------------------------------------------------------ */

static void push_token(Tokens *tokens, const char *text, size_t length) {
    if (tokens->count == tokens->capacity) {
        tokens->capacity = tokens->capacity ? 2 * tokens->capacity : 4096;
        tokens->at = need(realloc(tokens->at, tokens->capacity * sizeof *tokens->at));
    }
    tokens->at[tokens->count++] = (Token){text, length};
}

static const char *end_of_quoted(const char *p) {
    const char quote = *p++;
    while (*p && *p != quote)
        p += *p == '\\' && p[1] ? 2 : 1;
    return *p ? p + 1 : p;
}

/* A line marker is: # LINE "FILE" FLAGS, with flag 3 for system headers. */
static bool marks_system(const char *line, const char *end) {
    const char *flags = memchr(line, '"', (size_t)(end - line));
    if (!flags)
        return false;
    for (const char *p = end_of_quoted(flags); p < end; p++)
        if (*p == '3')
            return true;
    return false;
}

static void tokenize(const char *p, Tokens *tokens) {
    bool system = false;
    while (*p) {
        const char *start = p;
        if (*p == '#' && (p[1] == ' ' || !strncmp(p, "#pragma", 7))) {
            p += strcspn(p, "\n");
            if (start[1] == ' ' && isdigit((unsigned char)start[2]))
                system = marks_system(start, p);
            continue;
        }
        if (isspace((unsigned char)*p)) {
            p++;
            continue;
        }
        if (isalnum((unsigned char)*p) || *p == '_')
            while (isalnum((unsigned char)*p) || *p == '_')
                p++;
        else if (*p == '"' || *p == '\'')
            p = end_of_quoted(p);
        else
            p++;
        if (!system)
            push_token(tokens, start, (size_t)(p - start));
    }
}

/* ---- Definitions ------------------------------------------------------------------------- */

/* Returns the token after the one that closes the group opened at `i`. */
static size_t skip_group(const Tokens *tokens, size_t i, const char *open, const char *close) {
    size_t depth = 0;
    for (; i < tokens->count; i++) {
        depth += is(tokens->at[i], open);
        if (is(tokens->at[i], close) && --depth == 0)
            return i + 1;
    }
    return i;
}

static bool is_attribute(Token t) {
    return is(t, "__attribute__") || is(t, "__launch_bounds__") || is(t, "alignas") ||
           is(t, "static_assert");
}

typedef struct Head {
    Token name; /* of the function or type; empty for others */
    Token last_name;
    Token bounds_first, bounds_last;
    bool global, device, is_extern_c, is_template, is_function, is_type, initialises;
} Head;

static void read_word(Head *head, const Tokens *tokens, size_t *i, size_t end) {
    const Token t = tokens->at[*i];
    const bool called = *i + 1 < end && is(tokens->at[*i + 1], "(");
    if (is(t, "__global__"))
        head->global = true;
    else if (is(t, "__device__") || is(t, "__constant__"))
        head->device = true;
    else if (is(t, "struct") || is(t, "class") || is(t, "union") || is(t, "enum"))
        head->is_type = !head->is_function;
    else if (is_attribute(t) && called) {
        const size_t close = skip_group(tokens, *i + 1, "(", ")");
        if (is(t, "__launch_bounds__") && close >= *i + 4) {
            head->bounds_first = tokens->at[*i + 2];
            head->bounds_last = tokens->at[close - 2];
        }
        *i = close - 1;
    } else if (called && !head->is_function && !head->is_type) {
        head->is_function = true;
        head->name = t;
    } else if (head->is_type && !head->name.length)
        head->name = t;
    else if (!head->is_function && !head->initialises)
        head->last_name = t;
}

/* Reads the tokens before a definition's brace or a declaration's semicolon. */
static Head read_head(const Tokens *tokens, size_t first, size_t end) {
    Head head = {0};
    for (size_t i = first; i < end; i++) {
        const Token t = tokens->at[i];
        if (is(t, "template") && i + 1 < end && is(tokens->at[i + 1], "<")) {
            head.is_template = true;
            i = skip_group(tokens, i + 1, "<", ">") - 1;
        } else if (is(t, "extern") && i + 1 < end && is(tokens->at[i + 1], "\"C\"")) {
            head.is_extern_c = true;
            i++;
        } else if (is(t, "=") && !head.is_function) {
            head.initialises = true;
        } else if (is_name(t)) {
            read_word(&head, tokens, &i, end);
        }
    }
    return head;
}

static void add_variable(Scan *scan, Token name) {
    scan->variables =
        need(realloc(scan->variables, (scan->variable_count + 1) * sizeof *scan->variables));
    scan->variables[scan->variable_count++] = copy_text(name.text, name.length);
}

static void add_definition(Source *source, const Head *head, size_t first, size_t last,
                           bool extern_c) {
    if (source->count == source->capacity) {
        source->capacity = source->capacity ? 2 * source->capacity : 256;
        source->definitions =
            need(realloc(source->definitions, source->capacity * sizeof *source->definitions));
    }
    if (head->global && !head->is_template && !extern_c)
        source->error = "a __global__ function is not extern \"C\"";
    source->definitions[source->count++] = (Definition){head->name,
                                                        first,
                                                        last,
                                                        false,
                                                        head->global && !head->is_template,
                                                        head->bounds_first,
                                                        head->bounds_last};
}

/* Reads one declaration or definition, or the begin or end of a namespace or extern "C" block.
 * Returns the token after it. `*extern_c` is set inside an extern "C" block. */
static size_t read_item(Source *source, size_t first, bool *extern_c) {
    const Tokens *tokens = &source->tokens;
    size_t i = first;
    if (is(tokens->at[i], "}")) {
        *extern_c = false;
        return i + 1;
    }
    while (i < tokens->count && !is(tokens->at[i], ";") && !is(tokens->at[i], "{"))
        i = is(tokens->at[i], "(") ? skip_group(tokens, i, "(", ")") : i + 1;
    const Head head = read_head(tokens, first, i);
    if (i < tokens->count && is(tokens->at[i], "{")) {
        if (is(tokens->at[first], "namespace") || is(tokens->at[first], "inline") ||
            (head.is_extern_c && i == first + 2)) {
            *extern_c |= head.is_extern_c;
            if (head.is_extern_c || is(tokens->at[first], "namespace"))
                return i + 1;
        }
        const size_t end = skip_group(tokens, i, "{", "}");
        if (head.name.length && !head.initialises)
            add_definition(source, &head, i, end, head.is_extern_c || *extern_c);
        i = end - 1;
    }
    if (head.device && !head.is_function && !head.is_type && head.last_name.length)
        add_variable(source->scan, head.last_name);
    return i + 1;
}

/* ---- Waiting functions ------------------------------------------------------------------- */

static bool waits_by_itself(Token t) {
    static const char *const primitives[] = {"sim_barrier",         "sim_warp",
                                             "sim_warp_waiting",    "sim_cp_async",
                                             "sim_cp_async_commit", "sim_cp_async_wait"};
    for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++)
        if (is(t, primitives[i]))
            return true;
    return false;
}

static bool named_blocks(const Source *source, Token t) {
    for (size_t i = 0; i < source->count; i++)
        if (source->definitions[i].blocks && same(source->definitions[i].name, t))
            return true;
    return false;
}

static bool body_blocks(const Source *source, const Definition *d) {
    for (size_t i = d->first; i < d->last; i++) {
        const Token t = source->tokens.at[i];
        if (is_name(t) && (waits_by_itself(t) || named_blocks(source, t)))
            return true;
    }
    return false;
}

static void spread(Source *source) {
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < source->count; i++) {
            Definition *d = &source->definitions[i];
            if (!d->blocks && body_blocks(source, d))
                d->blocks = changed = true;
        }
    }
}

static void list_kernels(const Source *source) {
    Scan *scan = source->scan;
    scan->kernels = need(calloc(source->count + 1, sizeof *scan->kernels));
    for (size_t i = 0; i < source->count; i++) {
        const Definition *d = &source->definitions[i];
        if (!d->kernel)
            continue;
        const char *from = d->bounds_first.text;
        const char *to = from ? d->bounds_last.text + d->bounds_last.length : from;
        scan->kernels[scan->kernel_count++] = (ScannedKernel){
            copy_text(d->name.text, d->name.length),
            from ? copy_text(from, (size_t)(to - from)) : copy_text("", 0), d->blocks};
    }
}

const char *scan_source(const char *text, Scan *scan) {
    Source source = {.scan = scan};
    *scan = (Scan){0};
    tokenize(text, &source.tokens);
    bool extern_c = false;
    for (size_t i = 0; i < source.tokens.count;)
        i = read_item(&source, i, &extern_c);
    spread(&source);
    list_kernels(&source);
    free(source.tokens.at);
    free(source.definitions);
    return source.error;
}
