#include "tests/unit/spec_files.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/diag.h"
#include "base/fileio.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

Arena arena;
jmp_buf spec_error;
static char *message;
static size_t message_size;

static void jump_back(int code) { longjmp(spec_error, code); }

/* An unexpected error fails only the current test, whereas exit would end all tests. */
static void fail_test(int code) { fail_msg("unexpected user_error, exit %d", code); }

void begin_catch(void) {
    free(message);
    message = NULL;
    diag_stream = open_memstream(&message, &message_size);
    diag_exit = jump_back;
}

void end_catch(void) {
    fclose(diag_stream);
    diag_stream = NULL;
    diag_exit = fail_test;
}

void assert_says(const char *text) {
    if (!strstr(message, text))
        fail_msg("\"%s\" is not in: %s", text, message);
}

void assert_says_nothing(void) { assert_string_equal(message, ""); }

void write_text(const char *path, const char *text) {
    const char *why = file_write(path, text, strlen(text));
    if (why)
        fail_msg("%s: %s", path, why);
}

static char folder[] = "/tmp/test_spec_XXXXXX";

int enter_folder(void **state) {
    (void)state;
    diag_exit = fail_test;
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk) {
    (void)info, (void)type, (void)walk;
    return remove(path);
}

int leave_folder(void **state) {
    (void)state;
    return chdir("/") ? -1 : nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

int clean(void **state) {
    (void)state;
    arena_free(&arena);
    diag_forget_sources();
    free(message);
    message = NULL;
    return 0;
}

const char MODEL[] = "[model]\n"
                            "vocab_size = 256\n"
                            "hidden_size = 64\n"
                            "intermediate_size = 176\n"
                            "num_hidden_layers = 2\n"
                            "num_attention_heads = 4\n";
static const char REST[] = "[training]\n"
                           "seq_len = 32\n"
                           "steps = 10\n"
                           "[data]\n"
                           "format = \"synthetic\"\n";

void write_spec(const char *path, const char *before, const char *model, const char *after) {
    write_text(path, arena_printf(&arena, "%s%s%s%s%s", before, MODEL, model, REST, after));
}

Spec *read_plain(const char *path) { return spec_read(&arena, path, NULL, 0); }
