/* Any bytes whatever as a spec, or (from a first '{' on) as the config.json that a spec names: they
 * are read, or refused with a message. An abort, a sanitizer's report or a hang is a finding.
 * Good seeds: tests/error and tests/error/parts. */
#include "base/diag.h"
#include "base/fileio.h"
#include "spec/sweep.h"
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char TUNE[] = "[model]\nconfig = \"model\"\n[training]\nseq_len = 8\nsteps = 1\n"
                           "[data]\nformat = \"synthetic\"\n";
static jmp_buf back;

static void jump_back(int code)
{
    longjmp(back, code);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(const char *path, const void *bytes, size_t size)
{
    if (file_write(path, bytes, size, NULL))
        abort();
}

/* Works in a folder of its own, so that an input that names files finds only what we put there. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    static char folder[] = "/tmp/fuzz_spec_XXXXXX";
    diag_exit = jump_back;
    diag_stream = fopen("/dev/null", "w");
    if (!diag_stream || !mkdtemp(folder) || chdir(folder) || make_folder("model"))
        abort();
    put("tune.toml", TUNE, strlen(TUNE));
    put("model/config.json", "{}", 2);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Arena arena; /* static: its value must outlive the jump */
    bool json = size > 0 && data[0] == '{';
    put(json ? "model/config.json" : "spec.toml", data, size);
    if (!setjmp(back)) {
        const Sweep *sweep = sweep_read(&arena, json ? "tune.toml" : "spec.toml", NULL, 0);
        StrBuf text = {0};
        spec_print(sweep->points[0].spec, &text);
        sb_free(&text);
    }
    arena_free(&arena);
    diag_forget_sources();
    return 0;
}
