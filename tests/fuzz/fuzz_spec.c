/* Reads arbitrary bytes as a spec, or (from the first '{' on) as the config.json that a spec names:
 * they are accepted, or refused with a message. An abort, a sanitizer's report or a hang is a
 * finding. Good seeds: tests/error and tests/error/parts. */
#include "base/diag.h"
#include "base/fileio.h"
#include "spec/sweep.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf back;
/* A private folder with the input as a spec, a good spec that names model/, and the input as its
 * model/config.json. */
static char folder[] = "/tmp/fuzz_spec_XXXXXX";
static char spec_path[64], tune_path[64], model_path[64], config_path[64];

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void jump_back(int code) { longjmp(back, code); }

static void put(const char *path, const void *bytes, size_t size) {
    if (file_write(path, bytes, size))
        abort();
}

static void put_tune(void) {
    char text[256];
    int length = snprintf(text, sizeof text,
                          "[model]\nconfig = \"%s\"\n[training]\nseq_len = 8\nsteps = 1\n"
                          "[data]\nformat = \"synthetic\"\n",
                          model_path);
    put(tune_path, text, (size_t)length);
}

static void remove_folder(void) {
    const char *paths[] = {spec_path, tune_path, config_path, model_path, folder};
    for (int i = 0; i < 5; i++)
        remove(paths[i]);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    diag_exit = jump_back;
    diag_stream = fopen("/dev/null", "w");
    if (!diag_stream || !mkdtemp(folder))
        abort();
    snprintf(spec_path, sizeof spec_path, "%s/spec.toml", folder);
    snprintf(tune_path, sizeof tune_path, "%s/tune.toml", folder);
    snprintf(model_path, sizeof model_path, "%s/model", folder);
    snprintf(config_path, sizeof config_path, "%s/model/config.json", folder);
    if (make_folder(model_path))
        abort();
    put_tune();
    return atexit(remove_folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static Arena arena; /* static: its value must outlive the jump */
    bool json = size > 0 && data[0] == '{';
    put(json ? config_path : spec_path, data, size);
    if (!setjmp(back)) {
        const Sweep *sweep = sweep_read(&arena, json ? tune_path : spec_path, NULL, 0);
        StrBuf text = {0};
        spec_print(sweep->points[0].spec, &text);
        sb_free(&text);
    }
    arena_free(&arena);
    diag_forget_sources();
    return 0;
}
