/* Messages: position, fact, source line with a caret, remedy. */
#include "base/diag.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SHOWN = 120, POS_TEXT_SIZE = 512 };

typedef struct Source Source;
struct Source {
    Source *next;
    char *file, *text;
};

void (*diag_exit)(int code) = exit;
FILE *diag_stream;
const char *diag_command = "gpuopt-gen";
static Source *sources;

typedef struct Noted Noted;
struct Noted {
    Noted *next;
    Pos at;
    char *fact, *hint; /* hint may be NULL */
};

static Noted *noted; /* sorted by file and line */

static FILE *stream(void) { return diag_stream ? diag_stream : stderr; }

static Source *find_source(const char *file) {
    for (Source *source = sources; source; source = source->next)
        if (!strcmp(source->file, file))
            return source;
    return NULL;
}

static char *copy_text(const char *text) {
    char *copy = strdup(text);
    ENSURE(copy, "out of memory for a message's source text");
    return copy;
}

void diag_source(const char *file, const char *text) {
    Source *source = find_source(file);
    if (!source) {
        source = calloc(1, sizeof *source);
        ENSURE(source, "out of memory for a message's source text");
        source->file = copy_text(file);
        source->next = sources;
        sources = source;
    }
    free(source->text);
    source->text = copy_text(text);
}

void diag_forget_sources(void) {
    while (sources) {
        Source *source = sources;
        sources = source->next;
        free(source->file);
        free(source->text);
        free(source);
    }
}

const char *pos_text(Pos at) {
    static char texts[2][POS_TEXT_SIZE];
    static int turn;
    char *text = texts[turn ^= 1];
    if (!at.file)
        snprintf(text, POS_TEXT_SIZE, "gpuopt-gen");
    else if (at.line <= 0)
        snprintf(text, POS_TEXT_SIZE, "%s", at.file);
    else
        snprintf(text, POS_TEXT_SIZE, "%s:%d:%d", at.file, at.line, at.col);
    return text;
}

/* Returns the line without its newline, to be freed by the caller; NULL if there is no such
 * line. */
static char *line_of_text(const char *text, int line) {
    for (; line > 1 && text; line--) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return text ? strndup(text, strcspn(text, "\n")) : NULL;
}

static char *line_of_file(const char *path, int line) {
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    char *text = NULL;
    size_t capacity = 0;
    ssize_t length = 0;
    for (; line > 0 && length >= 0; line--)
        length = getline(&text, &capacity, file);
    fclose(file);
    if (length < 0) {
        free(text);
        return NULL;
    }
    text[strcspn(text, "\n")] = 0;
    return text;
}

static bool starts_character(char byte) { return ((unsigned char)byte & 0xC0) != 0x80; }

/* Returns the offset of the col-th character, or of the line's end if it has fewer. */
static size_t byte_of_column(const char *line, int col) {
    size_t i = 0;
    for (int seen = 0; line[i]; i++)
        if (starts_character(line[i]) && ++seen >= col)
            break;
    return i;
}

/* Prints the line, of a long one the part around col, and a caret under col. */
static void print_excerpt(const char *line, int col) {
    size_t length = strlen(line), column = byte_of_column(line, col);
    size_t first = column > MAX_SHOWN / 2 && length > MAX_SHOWN ? column - MAX_SHOWN / 2 : 0;
    size_t last = length - first > MAX_SHOWN ? first + MAX_SHOWN : length;
    for (size_t i = first; i < last; i++) {
        unsigned char byte = (unsigned char)line[i];
        fputc(byte == '\t' || (byte >= ' ' && byte != 127) ? byte : '?', stream());
    }
    fputc('\n', stream());
    for (size_t i = first; i < column; i++)
        if (starts_character(line[i]))
            fputc(line[i] == '\t' ? '\t' : ' ', stream());
    fputs("^\n", stream());
}

static void print_source_line(Pos at) {
    if (!at.file || at.line <= 0)
        return;
    const Source *source = find_source(at.file);
    char *line = source ? line_of_text(source->text, at.line) : line_of_file(at.file, at.line);
    if (line)
        print_excerpt(line, at.col);
    free(line);
}

static void print_hint(const char *hint) {
    static const char command[] = "gpuopt-gen ";
    fputs("  hint: ", stream());
    for (const char *at; (at = strstr(hint, command)); hint = at + strlen(command))
        fprintf(stream(), "%.*s%s ", (int)(at - hint), hint, diag_command);
    fprintf(stream(), "%s\n", hint);
}

/* In a pipe that takes both outputs, what was printed before the message stays before it. */
static void print_message(Pos at, const char *kind, const char *hint, const char *fact) {
    fflush(stdout);
    fprintf(stream(), "%s: %s: %s\n", pos_text(at), kind, fact);
    print_source_line(at);
    if (hint)
        print_hint(hint);
    fflush(stream());
}

/* The caller frees the result. */
static char *fact_text(const char *format, va_list args) {
    char *text;
    ENSURE(vasprintf(&text, format, args) >= 0, "out of memory for a message");
    return text;
}

/* ---- errors, reported together ---- */

static int compare_files(const char *a, const char *b) {
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int compare_places(Pos a, Pos b) {
    int files = compare_files(a.file, b.file);
    return files ? files : a.line != b.line ? a.line - b.line : a.col - b.col;
}

/* Takes ownership of fact. An error found twice, as in a file of several points, is noted once. */
static void note(Pos at, const char *hint, char *fact) {
    Noted **place = &noted;
    for (; *place && compare_places((*place)->at, at) <= 0; place = &(*place)->next)
        if (!compare_places((*place)->at, at) && !strcmp((*place)->fact, fact)) {
            free(fact);
            return;
        }
    Noted *error = malloc(sizeof *error);
    ENSURE(error, "out of memory for a message");
    *error = (Noted){*place, at, fact, hint ? copy_text(hint) : NULL};
    *place = error;
}

void error_at(Pos at, const char *hint, const char *format, ...) {
    va_list args;
    va_start(args, format);
    note(at, hint, fact_text(format, args));
    va_end(args);
}

static void print_and_forget_noted(void) {
    while (noted) {
        Noted *error = noted;
        noted = error->next;
        print_message(error->at, "error", error->hint, error->fact);
        free(error->fact);
        free(error->hint);
        free(error);
    }
}

void exit_if_errors(void) {
    if (!noted)
        return;
    print_and_forget_noted();
    diag_exit(1);
    abort();
}

void user_error(Pos at, const char *hint, const char *format, ...) {
    va_list args;
    va_start(args, format);
    note(at, hint, fact_text(format, args));
    va_end(args);
    exit_if_errors();
    abort();
}

void warn_at(Pos at, const char *hint, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *fact = fact_text(format, args);
    va_end(args);
    print_message(at, "warning", hint, fact);
    free(fact);
}

void internal_fault(const char *file, int line, const char *format, ...) {
    va_list args;
    fprintf(stream(), "gpuopt-gen: internal fault (ours, not yours) at %s:%d: ", file, line);
    va_start(args, format);
    vfprintf(stream(), format, args);
    va_end(args);
    fputs("\n  hint: please report this with the spec that caused it\n", stream());
    fflush(stream());
    abort();
}
