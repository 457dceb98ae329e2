/* simcc: the simulated device's compiler driver. It compiles a kernels.cu to an x86 shared object
 * that takes the place of a cubin, with the host's C++ compiler and CUDA's headers:
 *
 *     simcc [--flavour release|asan|race] [-I DIR]... [-D NAME]... kernels.cu -o kernels.sim
 * libcuda.so.1 is in the same folder as this program, sim_device.h in include/ there. CUDA_HOME is
 * the CUDA toolkit's folder; by default it is the one used when simcc was built. SIM_FLAVOUR sets
 * the flavour if the option does not, SIM_CXX the compiler (default g++), SIM_OPTIMIZE the
 * optimization level of release (default -O3). With SIM_PTX=sm_90a, or another architecture, nvcc
 * compiles the source for it, and the module is made from the resulting PTX. With SIM_CACHE=1 a
 * module is kept, and copied for sources that differ in nothing but comments.
 */
#include "simcc_ptx.h"
#include "simcc_scan.h"
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ARGUMENTS = 256 };

typedef struct Command {
    char *words[MAX_ARGUMENTS + 1];
    int count;
} Command;

typedef struct Options {
    const char *source, *output, *flavour;
    char *passed[MAX_ARGUMENTS / 2]; /* -I and -D */
    int passed_count;
} Options;

static char here[PATH_MAX]; /* the folder of this program */
static char scratch[PATH_MAX];

static void remove_scratch(void) {
    static const char *const names[] = {"scan.ii", "kernels.ptx", "module.cpp", "module.o"};
    char path[PATH_MAX + 16];
    if (!*scratch)
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", scratch, names[i]);
        unlink(path);
    }
    rmdir(scratch);
}

static _Noreturn void fail(const char *format, ...) {
    va_list list;
    va_start(list, format);
    fprintf(stderr, "simcc: error: ");
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    remove_scratch();
    exit(1);
}

/* Returns the formatted text, which is never freed. */
static char *text_of(const char *format, ...) {
    va_list list;
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    va_start(list, format);
    if (!f || vfprintf(f, format, list) < 0 || fclose(f))
        fail("out of memory");
    va_end(list);
    return text;
}

static bool exists(const char *path) { return access(path, R_OK) == 0; }

/* ---- Places ------------------------------------------------------------------------------ */

static void find_here(void) {
    const ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
    if (length <= 0)
        fail("cannot find my own folder");
    here[length] = 0;
    *strrchr(here, '/') = 0;
}

/* Returns the path of a file in the CUDA toolkit. */
static char *in_toolkit(const char *name) {
    const char *home = getenv("CUDA_HOME");
    home = home && *home ? home : SIM_TOOLKIT;
    char *path = text_of("%s/%s", home, name);
    if (!exists(path))
        fail("no %s under %s: set CUDA_HOME to the CUDA toolkit's folder", name, home);
    return path;
}

/* Resolves links, so that toolkits of different versions have different paths. */
static char *cuda_include(void) {
    char *path = in_toolkit("include/cuda_bf16.h");
    *strrchr(path, '/') = 0;
    char *target = realpath(path, NULL);
    return target ? target : path;
}

/* ---- Running the compiler ---------------------------------------------------------------- */

static void add(Command *command, const char *word) {
    if (command->count == MAX_ARGUMENTS)
        fail("too many arguments");
    command->words[command->count++] = text_of("%s", word);
}

static void add_all(Command *command, const char *const *words) {
    while (*words)
        add(command, *words++);
}

static bool succeeds(Command *command, bool quiet) {
    int status;
    command->words[command->count] = NULL;
    const pid_t child = fork();
    if (child == 0) {
        if (quiet && !freopen("/dev/null", "w", stderr))
            _exit(127);
        execvp(command->words[0], command->words);
        fprintf(stderr, "simcc: error: cannot run %s: install g++\n", command->words[0]);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) > 0 && !status;
}

static void run(Command *command) {
    if (succeeds(command, false))
        return;
    remove_scratch();
    exit(1);
}

/* GCC 12 drops conversions from double to float and back where it vectorizes straight-line code. */
static const char *const common_flags[] = {"-std=c++17",
                                           "-ffp-contract=off",
                                           "-fno-tree-slp-vectorize",
                                           "-fno-strict-aliasing",
                                           "-fno-threadsafe-statics",
                                           "-fno-math-errno",
                                           "-fno-exceptions",
                                           "-fPIC",
                                           "-fvisibility=hidden",
                                           "-w",
                                           NULL};
/* SIM_FLATTEN compiles each kernel without barriers once more, inside a loop over the threads. */
static const char *const release_flags[] = {"-O3", "-DSIM_FLATTEN", NULL};
/* Compiling takes longer than running here, so without optimization, and without the pointer checks
 * that AddressSanitizer, or the fault itself, makes anyway. */
static const char *const asan_flags[] = {"-O0",
                                         "-g1",
                                         "-fno-omit-frame-pointer",
                                         "-fsanitize=address,undefined",
                                         "-fno-sanitize=vptr,null,object-size,pointer-overflow",
                                         "-fno-sanitize-recover=all",
                                         "-fsanitize-sections=sim_shared",
                                         NULL};
/* Loads are not moved, so that the counted bytes are those of the source. */
static const char *const race_flags[] = {"-O1", "-g1", "-fno-tree-sink", "-fsanitize=thread", NULL};

static const struct {
    const char *name, *id;
    const char *const *flags;
} flavours[] = {{"release", "SIM_RELEASE", release_flags},
                {"asan", "SIM_ASAN", asan_flags},
                {"race", "SIM_RACE", race_flags}};

static int flavour_of(const char *name) {
    for (int i = 0; i < 3; i++)
        if (!strcmp(flavours[i].name, name))
            return i;
    fail("unknown flavour %s: it is one of release, asan, race", name);
}

static const char *compiler_name(void) {
    const char *cxx = getenv("SIM_CXX");
    return cxx && *cxx ? cxx : "g++";
}

/* Returns the command that compiles both modules and the precompiled header. */
static Command compiler(void) {
    Command command = {0};
    add(&command, compiler_name());
    add_all(&command, common_flags);
    /* The module must run on this CPU, so an older CPU gets plain x86-64. */
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2"))
        add(&command, "-march=x86-64-v3");
    add(&command, "-isystem");
    add(&command, cuda_include());
    return command;
}

/* Adds the source, or the C++ made from it, with the device's header before it. */
static void add_source(Command *command, const Options *options, const char *source) {
    for (int i = 0; i < options->passed_count; i++)
        add(command, options->passed[i]);
    add(command, text_of("-I%s/include", here));
    add(command, "-include");
    add(command, "sim_device.h");
    add(command, "-x");
    add(command, "c++");
    add(command, source);
}

/* FNV-1a, continued over bytes. */
static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3;
    return hash;
}

/* FNV-1a of a command's words. */
static uint64_t hash_of(const Command *command) {
    uint64_t hash = 0xcbf29ce484222325;
    for (int i = 0; i < command->count; i++)
        hash = hash_bytes(hash, command->words[i], strlen(command->words[i]) + 1);
    return hash;
}

/* FNV-1a of preprocessed text without the file names in line markers. */
static uint64_t hash_source(const char *text) {
    uint64_t hash = 0xcbf29ce484222325;
    for (const char *line = text; *line;) {
        bool marker = line[0] == '#' && line[1] == ' ';
        size_t length = strcspn(line, "\n");
        length += line[length] == '\n';
        hash = hash_bytes(hash, line, marker ? strcspn(line, "\"\n") : length);
        line += length;
    }
    return hash;
}

/* Makes the compiler take sim_device.h and the CUDA headers that it includes from a precompiled
 * sim_device.h.gch, because reading them is half the work of a small module. The first call with a
 * set of options makes the file for it. If it cannot be written, each call reads the headers.
 * Returns the folder of these options. */
static char *add_precompiled(Command *command) {
    char *folder = text_of("%s/precompiled", here);
    mkdir(folder, 0777);
    folder = text_of("%s/%016" PRIx64, folder, hash_of(command));
    mkdir(folder, 0777);
    char *header = text_of("%s/sim_device.h.gch", folder);
    char *temporary = text_of("%s.%ld.tmp", header, (long)getpid());
    if (!exists(header)) {
        Command make = *command;
        add(&make, "-x");
        add(&make, "c++-header");
        add(&make, text_of("%s/include/sim_device.h", here));
        add(&make, "-o");
        add(&make, temporary);
        if (!succeeds(&make, true) || rename(temporary, header))
            unlink(temporary);
    }
    if (exists(header))
        add(command, text_of("-I%s", folder));
    return folder;
}

/* ---- The two steps: scan or translate, compile ------------------------------------------- */

static char *read_file(const char *path) {
    FILE *f = fopen(path, "rb");
    struct stat status;
    if (!f || fstat(fileno(f), &status))
        fail("cannot read %s", path);
    char *text = malloc((size_t)status.st_size + 1);
    if (!text)
        fail("out of memory");
    text[fread(text, 1, (size_t)status.st_size, f)] = 0;
    fclose(f);
    return text;
}

typedef struct Module {
    char *path;      /* of the C++ to compile */
    uint64_t source; /* hash of everything in it but comments and file names */
} Module;

static Scan scan(const Options *options, uint64_t *hash) {
    char *output = text_of("%s/scan.ii", scratch);
    Command command = compiler();
    add(&command, "-DSIM_SCAN");
    add(&command, "-E");
    add_source(&command, options, options->source);
    add(&command, "-o");
    add(&command, output);
    run(&command);
    Scan result;
    const char *text = read_file(output), *error = scan_source(text, &result);
    *hash = hash_source(text);
    if (error)
        fail("%s: %s", options->source, error);
    if (!result.kernel_count)
        fail("%s: it has no extern \"C\" __global__ function", options->source);
    return result;
}

/* Writes a module.cpp that includes the source, as the host's compiler sees it. */
static Module write_wrapper(const Options *options, int flavour) {
    Module module = {text_of("%s/module.cpp", scratch), 0};
    const Scan scanned = scan(options, &module.source), *found = &scanned;
    char *source = realpath(options->source, NULL);
    FILE *f = fopen(module.path, "w");
    if (!f || !source)
        fail("cannot write %s", module.path);
    /* The unnamed namespace makes everything local, so that all __shared__ variables are in
     * sections of the same kind. */
    fprintf(f, "namespace {\n#include \"%s\"\n}\n", source);
    fprintf(f, "static const SimKernel sim_kernels[] = {\n");
    for (size_t i = 0; i < found->kernel_count; i++) {
        const ScannedKernel *k = &found->kernels[i];
        fprintf(f, "SIM_KERNEL(%s, %s%s%s)\n", k->name, k->blocks ? "true" : "false",
                *k->bounds ? ", " : ", 1024", k->bounds);
    }
    fprintf(f, "{}};\nstatic const SimVariable sim_variables[] = {\n");
    for (size_t i = 0; i < found->variable_count; i++)
        fprintf(f, "SIM_VARIABLE(%s)\n", found->variables[i]);
    fprintf(f, "{}};\nSIM_MODULE(%s)\n", flavours[flavour].id);
    if (fclose(f))
        fail("cannot write %s", module.path);
    return module;
}

/* Writes a module.cpp from the PTX that nvcc makes, with the flags of the programs' Makefiles. */
static Module write_translation(const Options *options, int flavour, const char *architecture) {
    static const char *const flags[] = {"-ptx", "-std=c++17", "-fmad=false", "-lineinfo", "-w", NULL};
    char *path = text_of("%s/module.cpp", scratch), *ptx = text_of("%s/kernels.ptx", scratch);
    Command command = {0};
    add(&command, in_toolkit("bin/nvcc"));
    add_all(&command, flags);
    add(&command, text_of("-arch=%s", architecture));
    for (int i = 0; i < options->passed_count; i++)
        add(&command, options->passed[i]);
    add(&command, options->source);
    add(&command, "-o");
    add(&command, ptx);
    run(&command);
    FILE *f = fopen(path, "w");
    if (!f)
        fail("cannot write %s", path);
    const char *error = ptx_to_cpp(read_file(ptx), flavours[flavour].id, f);
    if (error)
        fail("%s: PTX: %s", options->source, error);
    if (fclose(f))
        fail("cannot write %s", path);
    return (Module){path, hash_source(read_file(path))};
}

static Module write_module(const Options *options, int flavour) {
    const char *architecture = getenv("SIM_PTX");
    if (architecture && *architecture)
        return write_translation(options, flavour, architecture);
    return write_wrapper(options, flavour);
}

static void compile(const Options *options, const Command *compiler, const Module *module,
                    char *object) {
    Command command = *compiler;
    add(&command, "-c");
    add_source(&command, options, module->path);
    add(&command, "-o");
    add(&command, object);
    run(&command);
}

static void link_module(int flavour, const char *object, const char *output) {
    Command command = {0};
    add(&command, compiler_name());
    add(&command, "-shared");
    /* The race flavour's calls go to the driver, not to libtsan. */
    if (flavour == flavour_of("asan"))
        add(&command, "-fsanitize=address,undefined");
    else
        add(&command, "-Wl,-z,defs"); /* also if libcuda.so.1 is empty, which ld accepts */
    add(&command, "-Wl,-z,start-stop-visibility=hidden");
    add(&command, object);
    add(&command, text_of("%s/libcuda.so.1", here));
    add(&command, "-o");
    add(&command, output);
    run(&command);
}

static bool copies(const char *from, const char *to) {
    Command command = {0};
    add_all(&command, (const char *const[]){"cp", "-f", from, to, NULL});
    return succeeds(&command, true);
}

/* Returns where the module is kept with SIM_CACHE=1, or NULL. */
static char *kept_module(const Command *compiler, const Options *options, const Module *module,
                         const char *folder) {
    const char *cache = getenv("SIM_CACHE");
    Command all = *compiler;
    for (int i = 0; i < options->passed_count; i++)
        add(&all, options->passed[i]);
    if (!cache || strcmp(cache, "1"))
        return NULL;
    return text_of("%s/%016" PRIx64 "%016" PRIx64 ".sim", folder, hash_of(&all), module->source);
}

/* Renames the module into place, so that it is never incomplete. */
static void make_module(const Options *options, int flavour) {
    Command command = compiler();
    const char *level = getenv("SIM_OPTIMIZE");
    if (level && *level && flavour == flavour_of("release"))
        add(&command, level);
    else
        add_all(&command, flavours[flavour].flags);
    const char *folder = add_precompiled(&command);
    const Module module = write_module(options, flavour);
    char *kept = kept_module(&command, options, &module, folder);
    char *temporary = text_of("%s.%ld.tmp", options->output, (long)getpid());
    if (!kept || !exists(kept) || !copies(kept, temporary)) {
        char *object = text_of("%s/module.o", scratch);
        compile(options, &command, &module, object);
        link_module(flavour, object, temporary);
        char *copy = kept ? text_of("%s.%ld.tmp", kept, (long)getpid()) : NULL;
        if (kept && (!copies(temporary, copy) || rename(copy, kept)))
            unlink(copy);
    }
    if (rename(temporary, options->output))
        fail("cannot write %s", options->output);
}

/* ---- Command line ------------------------------------------------------------------------ */

static const char *value_of(int count, char **words, int *i) {
    if (*i + 1 >= count)
        fail("%s needs a value", words[*i]);
    return words[++*i];
}

static void pass(Options *options, char *word) {
    if (options->passed_count == MAX_ARGUMENTS / 2)
        fail("too many arguments");
    options->passed[options->passed_count++] = word;
}

static Options read_options(int count, char **words) {
    Options o = {.flavour = getenv("SIM_FLAVOUR")};
    for (int i = 1; i < count; i++) {
        char *word = words[i];
        if (!strcmp(word, "--flavour"))
            o.flavour = value_of(count, words, &i);
        else if (!strcmp(word, "--arch"))
            value_of(count, words, &i); /* ignored: there is only one architecture */
        else if (!strcmp(word, "-o"))
            o.output = value_of(count, words, &i);
        else if ((!strncmp(word, "-I", 2) || !strncmp(word, "-D", 2)) && word[2])
            pass(&o, word);
        else if (!strcmp(word, "-I") || !strcmp(word, "-D"))
            pass(&o, text_of("%s%s", word, value_of(count, words, &i)));
        else if (word[0] == '-' || o.source)
            fail("unexpected argument %s\nusage: simcc [--flavour release|asan|race] [-I DIR] "
                 "[-D NAME] kernels.cu -o kernels.sim",
                 word);
        else
            o.source = word;
    }
    if (!o.source || !o.output)
        fail("usage: simcc [--flavour release|asan|race] [-I DIR] [-D NAME] kernels.cu -o "
             "kernels.sim");
    if (!o.flavour || !*o.flavour)
        o.flavour = "release";
    return o;
}

int main(int count, char **words) {
    const Options options = read_options(count, words);
    const int flavour = flavour_of(options.flavour);
    if (!exists(options.source))
        fail("cannot read %s", options.source);
    find_here();
    const char *tmp = getenv("TMPDIR");
    snprintf(scratch, sizeof scratch, "%s/simcc.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(scratch)) {
        scratch[0] = 0;
        fail("cannot make a folder in %s", tmp && *tmp ? tmp : "/tmp");
    }
    make_module(&options, flavour);
    remove_scratch();
    return 0;
}
