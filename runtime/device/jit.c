/* Compiles kernels.cu at start with NVRTC, for exactly the present device.
 *
 * Parts of it are compiled in parallel and cached next to the executable as
 * kernels.nvrtc.PART_of_COUNT.cubin. kernels.nvrtc.COUNT.key holds a key of everything that they
 * depend on, so that the next start only loads them. Machines that share the folder, but have other
 * numbers of processors, have other files. */
#include "runtime/base/dynlib.h"
#include "runtime/base/rt.h"
#include "runtime/device/device.h"

#include <nvrtc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NVRTC_FUNCTIONS(X)    \
    X(nvrtcVersion)           \
    X(nvrtcGetErrorString)    \
    X(nvrtcCreateProgram)     \
    X(nvrtcCompileProgram)    \
    X(nvrtcGetCUBINSize)      \
    X(nvrtcGetCUBIN)          \
    X(nvrtcGetProgramLogSize) \
    X(nvrtcGetProgramLog)     \
    X(nvrtcDestroyProgram)

static struct {
#define X(name) __typeof__(&name) name;
    NVRTC_FUNCTIONS(X)
#undef X
} rtc;

static const char *const symbols[] = {
#define X(name) #name,
    NVRTC_FUNCTIONS(X)
#undef X
};

#ifndef GPUOPT_RUNTIME_PARENT
#define GPUOPT_RUNTIME_PARENT "." /* folder that holds runtime/, relative to the executable's */
#endif

static void open_library(void) {
    unsigned char *table = (unsigned char *)&rtc;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = dynlib_need_symbol(LIB_NVRTC, symbols[i]);
        memcpy(table + i * sizeof address, &address, sizeof address);
    }
}

static void check(nvrtcResult result, const char *call) {
    if (result != NVRTC_SUCCESS)
        rt_fail("%s: %s", call, rtc.nvrtcGetErrorString(result));
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Returns the file's contents with a terminating 0, or NULL if it cannot be opened. */
static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = NULL;
    size_t room = 0;
    *size = 0;
    for (size_t got = 1; got > 0; *size += got) {
        room = 2 * room + 65536;
        text = realloc(text, room);
        if (!text)
            rt_fail("%s: out of memory while reading it", path);
        got = fread(text + *size, 1, room - *size - 1, file);
    }
    text[*size] = '\0';
    fclose(file);
    return text;
}

/* Returns false on failure, which need not be an error: without a cache the start is only slower.
 * The temporary name is unique, since other processes may write the file at the same time. */
static bool write_file(const char *path, const void *bytes, size_t size) {
    char temporary[RT_MAX_PATH + 32];
    snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid());
    FILE *file = fopen(temporary, "wb");
    if (!file)
        return false;
    bool written = fwrite(bytes, 1, size, file) == size;
    written = fclose(file) == 0 && written;
    if (!written || rename(temporary, path) != 0) {
        unlink(temporary);
        return false;
    }
    return true;
}

static uint64_t fnv1a(const void *bytes, size_t size, uint64_t hash) {
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return hash;
}

/* ---- compiling ------------------------------------------------------------------------------- */

typedef struct {
    char own[RT_MAX_PATH], runtime[RT_MAX_PATH], cuda[RT_MAX_PATH], arch[32];
    const char *options[8];
    int count;
} Flags;

static void fill_flags(const Rt *rt, Flags *flags) {
    char include[RT_MAX_PATH - 32];
    if (!dynlib_find_header("cuda_bf16.h", include, sizeof include))
        rt_fail("JIT=1 needs the CUDA toolkit's headers, but cuda_bf16.h was not found; set "
                "CUDA_HOME to the toolkit's folder");
    const char *parent = GPUOPT_RUNTIME_PARENT;
    snprintf(flags->cuda, sizeof flags->cuda, "--include-path=%s", include);
    snprintf(flags->own, sizeof flags->own, "--include-path=%s", rt->options.exe_dir);
    snprintf(flags->runtime, sizeof flags->runtime, "--include-path=%s%s%s",
             *parent == '/' ? "" : rt->options.exe_dir, *parent == '/' ? "" : "/", parent);
    /* Hopper-specific instructions need the "a" variant of the architecture. */
    snprintf(flags->arch, sizeof flags->arch, "--gpu-architecture=sm_%d%s", rt->device.capability,
             rt->device.capability == 90 ? "a" : "");
    const char *options[] = {flags->arch,   flags->own,     flags->runtime,        flags->cuda,
                             "--std=c++17", "--fmad=false", "--generate-line-info"};
    flags->count = sizeof options / sizeof *options;
    memcpy(flags->options, options, sizeof options);
}

typedef struct {
    const char *path; /* of the whole file, for messages */
    const Flags *flags;
    char *source, *cubin, *log;
    size_t cubin_bytes;
} Part;

static void *compile(void *argument) {
    Part *part = argument;
    nvrtcProgram program;
    check(rtc.nvrtcCreateProgram(&program, part->source, part->path, 0, NULL, NULL),
          "nvrtcCreateProgram");
    if (rtc.nvrtcCompileProgram(program, part->flags->count, part->flags->options) ==
        NVRTC_SUCCESS) {
        check(rtc.nvrtcGetCUBINSize(program, &part->cubin_bytes), "nvrtcGetCUBINSize");
        part->cubin = rt_alloc(part->cubin_bytes);
        check(rtc.nvrtcGetCUBIN(program, part->cubin), "nvrtcGetCUBIN");
    } else {
        size_t length = 0;
        check(rtc.nvrtcGetProgramLogSize(program, &length), "nvrtcGetProgramLogSize");
        part->log = rt_alloc(length + 1);
        check(rtc.nvrtcGetProgramLog(program, part->log), "nvrtcGetProgramLog");
    }
    rtc.nvrtcDestroyProgram(&program);
    return NULL;
}

/* Uses one thread per part; parts whose thread cannot be started are compiled by this one. */
static void compile_parts(Part *parts, int count) {
    pthread_t threads[RT_MAX_MODULES];
    bool started[RT_MAX_MODULES] = {false};
    for (int i = 1; i < count; i++)
        started[i] = pthread_create(&threads[i], NULL, compile, &parts[i]) == 0;
    for (int i = 0; i < count; i++)
        if (!started[i])
            compile(&parts[i]);
    for (int i = 1; i < count; i++)
        if (started[i])
            pthread_join(threads[i], NULL);
    for (int i = 0; i < count; i++)
        if (parts[i].log)
            rt_fail("NVRTC cannot compile %s:\n%s", parts[i].path, parts[i].log);
}

static void write_modules(const Rt *rt, const char *source, const char *source_path,
                          const Flags *flags) {
    Part parts[RT_MAX_MODULES];
    const int count = rt->device.module_count;
    for (int i = 0; i < count; i++)
        parts[i] = (Part){source_path, flags, .source = jit_part(source, i, count)};
    compile_parts(parts, count);
    for (int i = 0; i < count; i++) {
        const char *path = rt->device.module_paths[i];
        if (!write_file(path, parts[i].cubin, parts[i].cubin_bytes))
            rt_fail("%s cannot be written; make its folder writable or run without JIT=1", path);
        free(parts[i].source);
        free(parts[i].cubin);
    }
}

/* A key of everything that the modules depend on: kernels, device header, compiler, flags and
 * number of parts. */
static void cache_key(const Rt *rt, const char *source, size_t size, const Flags *flags, char *key,
                      size_t key_size) {
    char header_path[RT_MAX_PATH + 32];
    size_t header_size = 0;
    uint64_t hash = fnv1a(source, size, 0xcbf29ce484222325u);
    snprintf(header_path, sizeof header_path, "%s/runtime/kernel.cuh",
             strchr(flags->runtime, '=') + 1);
    char *header = read_file(header_path, &header_size);
    if (header)
        hash = fnv1a(header, header_size, hash);
    free(header);
    for (int i = 0; i < flags->count; i++)
        hash = fnv1a(flags->options[i], strlen(flags->options[i]) + 1, hash);
    snprintf(key, key_size, "%016llx nvrtc %d %d %s\n", (unsigned long long)hash,
             rt->device.nvrtc_version, rt->device.module_count,
             rt->device.simulated ? "simulated" : "device");
}

/* The key with a hash of the module files as they are now, so that a module that a crash left
 * incomplete is compiled again. */
static void cache_stamp(const Rt *rt, const char *key, char *stamp, size_t stamp_size) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < rt->device.module_count; i++) {
        size_t size = 0;
        char *module = read_file(rt->device.module_paths[i], &size);
        hash = fnv1a(module, size, fnv1a(&size, sizeof size, hash));
        free(module);
    }
    snprintf(stamp, stamp_size, "%smodules %016llx\n", key, (unsigned long long)hash);
}

static bool are_cached(const char *key_path, const char *stamp) {
    size_t size = 0;
    char *stored = read_file(key_path, &size);
    bool same = stored && strcmp(stored, stamp) == 0;
    free(stored);
    return same;
}

static void name_modules(Rt *rt, const char *source) {
    /* Of the machine, not of this process: its ranks agree on it. */
    rt->device.module_count = jit_part_count(source, sysconf(_SC_NPROCESSORS_ONLN));
    for (int i = 0; i < rt->device.module_count; i++)
        snprintf(rt->device.module_paths[i], RT_MAX_PATH, "%s/kernels.nvrtc.%d_of_%d.cubin",
                 rt->options.exe_dir, i + 1, rt->device.module_count);
}

void jit_modules(Rt *rt) {
    char source_path[RT_MAX_PATH], key_path[RT_MAX_PATH], key[128], stamp[192];
    const char *dir = rt->options.exe_dir;
    snprintf(source_path, sizeof source_path, "%s/kernels.cu", dir);
    size_t source_size;
    char *source = read_file(source_path, &source_size);
    if (!source)
        rt_fail("%s: not found, but JIT=1 compiles it; generate the program again", source_path);
    open_library();
    int major = 0, minor = 0;
    check(rtc.nvrtcVersion(&major, &minor), "nvrtcVersion");
    rt->device.nvrtc_version = 1000 * major + 10 * minor;
    Flags flags;
    fill_flags(rt, &flags);
    name_modules(rt, source);
    snprintf(key_path, sizeof key_path, "%s/kernels.nvrtc.%d.key", dir, rt->device.module_count);
    cache_key(rt, source, source_size, &flags, key, sizeof key);
    cache_stamp(rt, key, stamp, sizeof stamp);
    if (!are_cached(key_path, stamp)) {
        unlink(key_path);
        write_modules(rt, source, source_path, &flags);
        cache_stamp(rt, key, stamp, sizeof stamp);
        write_file(key_path, stamp, strlen(stamp));
    }
    free(source);
}
