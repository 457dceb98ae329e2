/* The simulated libnvrtc.so.13: the same calls, implemented with simcc, which is in the same
 * folder. */
#include <cuda.h>
#include <nvrtc.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_PATH = 4096, MAX_WORDS = 128, MAX_HEADERS = 64 };

extern char **environ;

typedef struct Text {
    char *data;
    size_t bytes;
} Text;

struct _nvrtcProgram {
    Text source, log, image;
    char *name;
    int header_count;
    Text headers[MAX_HEADERS];
    char *header_names[MAX_HEADERS];
};

static const char *const result_names[] = {"NVRTC_SUCCESS",
                                           "NVRTC_ERROR_OUT_OF_MEMORY",
                                           "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                           "NVRTC_ERROR_INVALID_INPUT",
                                           "NVRTC_ERROR_INVALID_PROGRAM",
                                           "NVRTC_ERROR_INVALID_OPTION",
                                           "NVRTC_ERROR_COMPILATION"};

const char *nvrtcGetErrorString(nvrtcResult result) {
    const size_t count = sizeof result_names / sizeof *result_names;
    return (size_t)result < count ? result_names[result] : "NVRTC_ERROR unknown";
}

nvrtcResult nvrtcVersion(int *major, int *minor) {
    if (!major || !minor)
        return NVRTC_ERROR_INVALID_INPUT;
    *major = CUDA_VERSION / 1000;
    *minor = CUDA_VERSION % 1000 / 10;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int *count) {
    *count = 1;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *architectures) {
    *architectures = 90;
    return NVRTC_SUCCESS;
}

/* ---- Programs ---------------------------------------------------------------------------- */

static Text text_of(const char *from) {
    Text text = {strdup(from), strlen(from)};
    return text;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program) {
    if (!program || !*program)
        return NVRTC_ERROR_INVALID_PROGRAM;
    nvrtcProgram p = *program;
    free(p->source.data);
    free(p->log.data);
    free(p->image.data);
    free(p->name);
    for (int i = 0; i < p->header_count; i++) {
        free(p->headers[i].data);
        free(p->header_names[i]);
    }
    free(p);
    *program = NULL;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name,
                               int header_count, const char *const *headers,
                               const char *const *header_names) {
    if (!program || !source || header_count < 0 || header_count > MAX_HEADERS)
        return NVRTC_ERROR_INVALID_INPUT;
    nvrtcProgram p = calloc(1, sizeof *p);
    if (!p)
        return NVRTC_ERROR_OUT_OF_MEMORY;
    p->source = text_of(source);
    p->name = strdup(name ? name : "default_program");
    p->log = text_of("");
    for (int i = 0; i < header_count; i++, p->header_count++) {
        p->headers[i] = text_of(headers[i]);
        p->header_names[i] = strdup(header_names[i]);
    }
    *program = p;
    return NVRTC_SUCCESS;
}

/* ---- Files ------------------------------------------------------------------------------- */

static bool write_text(const char *path, Text text) {
    FILE *f = fopen(path, "w");
    const bool written = f && fwrite(text.data, 1, text.bytes, f) == text.bytes;
    return f && !fclose(f) && written;
}

static Text read_text(const char *path) {
    Text text = {0};
    FILE *f = fopen(path, "rb");
    struct stat status;
    if (f && !fstat(fileno(f), &status) && (text.data = malloc((size_t)status.st_size + 1))) {
        text.bytes = fread(text.data, 1, (size_t)status.st_size, f);
        text.data[text.bytes] = 0;
    }
    if (f)
        fclose(f);
    return text;
}

/* Headers are written under their base names, because programs include them by plain names. */
static const char *base(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool write_sources(nvrtcProgram p, const char *folder) {
    char path[MAX_PATH];
    snprintf(path, sizeof path, "%s/%s", folder, base(p->name));
    bool written = write_text(path, p->source);
    for (int i = 0; i < p->header_count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, base(p->header_names[i]));
        written &= write_text(path, p->headers[i]);
    }
    return written;
}

static void remove_sources(nvrtcProgram p, const char *folder) {
    char path[MAX_PATH];
    const char *const made[] = {base(p->name), "module.sim", "log"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, made[i]);
        unlink(path);
    }
    for (int i = 0; i < p->header_count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, base(p->header_names[i]));
        unlink(path);
    }
    rmdir(folder);
}

/* ---- Compiling --------------------------------------------------------------------------- */

typedef struct Words {
    char *at[MAX_WORDS + 1];
    int count;
} Words;

static void add(Words *words, const char *prefix, const char *rest) {
    size_t size = strlen(prefix) + strlen(rest) + 1;
    char *word = malloc(size);
    if (word && words->count < MAX_WORDS) {
        snprintf(word, size, "%s%s", prefix, rest);
        words->at[words->count++] = word;
    }
}

/* Passes folders and macros on to simcc; -I may name the toolkit's headers, which simcc also finds
 * by itself. Options for architecture and rounding are ignored: there is only one choice here. */
static void add_options(Words *words, int count, const char *const *options) {
    static const struct {
        const char *spelled, *passed;
    } known[] = {{"--include-path=", "-I"}, {"--define-macro=", "-D"}, {"-I", "-I"}, {"-D", "-D"}};
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
            const size_t length = strlen(known[k].spelled);
            if (strncmp(options[i], known[k].spelled, length))
                continue;
            const char *rest = options[i] + length;
            if (!*rest && i + 1 < count)
                rest = options[++i];
            add(words, known[k].passed, rest);
            break;
        }
}

/* Finds simcc in the folder of this library. */
static bool find_simcc(char *path, size_t bytes) {
    Dl_info self;
    if (!dladdr(result_names, &self) || !strrchr(self.dli_fname, '/'))
        return false;
    const int folder = (int)(strrchr(self.dli_fname, '/') - self.dli_fname);
    return snprintf(path, bytes, "%.*s/simcc", folder, self.dli_fname) < (int)bytes;
}

static bool run(Words *words, const char *log) {
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 1;
    words->at[words->count] = NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 2, 1);
    const bool started = !posix_spawn(&child, words->at[0], &actions, NULL, words->at, environ);
    posix_spawn_file_actions_destroy(&actions);
    return started && waitpid(child, &status, 0) == child && status == 0;
}

static nvrtcResult compile_in(nvrtcProgram p, const char *folder, int count,
                              const char *const *options) {
    char path[MAX_PATH], output[MAX_PATH], log[MAX_PATH];
    Words words = {0};
    if (!find_simcc(path, sizeof path) || !write_sources(p, folder))
        return NVRTC_ERROR_INTERNAL_ERROR;
    snprintf(output, sizeof output, "%s/module.sim", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    add(&words, path, "");
    snprintf(path, sizeof path, "%s/%s", folder, base(p->name));
    add(&words, path, "");
    add(&words, "-o", "");
    add(&words, output, "");
    add(&words, "-I", folder);
    add_options(&words, count, options);
    const bool compiled = run(&words, log);
    for (int i = 0; i < words.count; i++)
        free(words.at[i]);
    free(p->log.data);
    free(p->image.data);
    p->log = read_text(log);
    p->image = compiled ? read_text(output) : (Text){0};
    return p->image.bytes ? NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options) {
    char folder[MAX_PATH / 2];
    const char *tmp = getenv("TMPDIR");
    if (!program)
        return NVRTC_ERROR_INVALID_PROGRAM;
    snprintf(folder, sizeof folder, "%s/nvrtc.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        return NVRTC_ERROR_INTERNAL_ERROR;
    const nvrtcResult result = compile_in(program, folder, count, options);
    remove_sources(program, folder);
    return result;
}

/* ---- Results ----------------------------------------------------------------------------- */

/* Logs end with a NUL that their size includes; images do not. */
static nvrtcResult size_of(const Text *text, bool terminated, size_t *bytes) {
    if (!bytes)
        return NVRTC_ERROR_INVALID_INPUT;
    *bytes = text->bytes + terminated;
    return NVRTC_SUCCESS;
}

static nvrtcResult copy_of(const Text *text, bool terminated, char *to) {
    if (!to)
        return NVRTC_ERROR_INVALID_INPUT;
    if (text->bytes)
        memcpy(to, text->data, text->bytes);
    if (terminated)
        to[text->bytes] = 0;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram p, size_t *bytes) {
    return p ? size_of(&p->image, false, bytes) : NVRTC_ERROR_INVALID_PROGRAM;
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram p, char *to) {
    return p ? copy_of(&p->image, false, to) : NVRTC_ERROR_INVALID_PROGRAM;
}
/* The same module takes the place of PTX. */
nvrtcResult nvrtcGetPTXSize(nvrtcProgram p, size_t *bytes) { return nvrtcGetCUBINSize(p, bytes); }
nvrtcResult nvrtcGetPTX(nvrtcProgram p, char *to) { return nvrtcGetCUBIN(p, to); }
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram p, size_t *bytes) {
    return p ? size_of(&p->log, true, bytes) : NVRTC_ERROR_INVALID_PROGRAM;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram p, char *to) {
    return p ? copy_of(&p->log, true, to) : NVRTC_ERROR_INVALID_PROGRAM;
}
