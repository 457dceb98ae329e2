/* Where CUDA's libraries are looked for. LD_LIBRARY_PATH and CUDA_HOME come before what the system
 * has registered, so that a person who names a toolkit gets that one. */
#include "runtime/dynlib.h"
#include "runtime/rt.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *names[3]; /* file names, best first */
    bool of_driver;       /* comes with the driver, which the system knows; else with a toolkit */
} LibraryRow;

static const LibraryRow rows[LIBRARIES] = {
    [LIB_CUDA] = {{"libcuda.so.1"}, true},
    [LIB_CUBLASLT] = {{"libcublasLt.so.13", "libcublasLt.so.12"}, false},
    [LIB_NVRTC] = {{"libnvrtc.so.13", "libnvrtc.so.12"}, false},
    [LIB_CUPTI] = {{"libcupti.so.13", "libcupti.so.12"}, false},
    [LIB_NVML] = {{"libnvidia-ml.so.1"}, true},
};

/* Folders of a toolkit, relative to CUDA_HOME. */
static const char *const toolkit_folders[] = {"lib64", "lib", "targets/x86_64-linux/lib",
                                              "extras/CUPTI/lib64"};

/* Folders of the Python wheels, relative to the value of the variable where one is named. */
static const struct {
    const char *variable, *pattern;
} wheel_folders[] = {
    {"VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/*/lib"},
    {"CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/*/lib"},
    {"CONDA_PREFIX", "/lib"},
    {"HOME", "/.local/lib/python3*/site-packages/nvidia/*/lib"},
    {NULL, "/usr/local/lib/python3*/*-packages/nvidia/*/lib"},
    {NULL, "/usr/lib/python3*/*-packages/nvidia/*/lib"},
};

static const char *only_dir;
static void *handles[LIBRARIES];

void dynlib_only_in(const char *dir) { only_dir = dir; }

/* A file that is there but does not load (a library that it needs is missing) is worth telling. */
static void *open_in(const char *dir, const LibraryRow *row, char *why, size_t why_size) {
    for (int i = 0; i < 3 && row->names[i]; i++) {
        char path[RT_MAX_PATH];
        int length = snprintf(path, sizeof path, "%s%s%s", dir, *dir ? "/" : "", row->names[i]);
        if (length < 0 || (size_t)length >= sizeof path)
            continue;
        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (handle)
            return handle;
        const char *reason = dlerror();
        if (reason && !strstr(reason, "cannot open shared object file: No such file"))
            snprintf(why, why_size, "%s", reason);
    }
    return NULL;
}

static void *open_in_list(const char *list, const LibraryRow *row, char *why, size_t why_size) {
    char dirs[RT_MAX_PATH];
    char *rest = NULL;
    snprintf(dirs, sizeof dirs, "%s", list);
    for (char *dir = strtok_r(dirs, ":", &rest); dir; dir = strtok_r(NULL, ":", &rest)) {
        void *handle = open_in(dir, row, why, why_size);
        if (handle)
            return handle;
    }
    return NULL;
}

static void *open_in_toolkit(const char *home, const LibraryRow *row, char *why, size_t why_size) {
    for (size_t i = 0; i < sizeof toolkit_folders / sizeof *toolkit_folders; i++) {
        char dir[RT_MAX_PATH];
        snprintf(dir, sizeof dir, "%s/%s", home, toolkit_folders[i]);
        void *handle = open_in(dir, row, why, why_size);
        if (handle)
            return handle;
    }
    return NULL;
}

static void *open_in_glob(const char *pattern, const LibraryRow *row, char *why, size_t why_size) {
    glob_t found;
    void *handle = NULL;
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && !handle; i++)
            handle = open_in(found.gl_pathv[i], row, why, why_size);
        globfree(&found);
    }
    return handle;
}

static void *open_in_wheels(const LibraryRow *row, char *why, size_t why_size) {
    for (size_t i = 0; i < sizeof wheel_folders / sizeof *wheel_folders; i++) {
        const char *variable = wheel_folders[i].variable;
        const char *value = variable ? getenv(variable) : "";
        if (!value)
            continue;
        char pattern[RT_MAX_PATH];
        snprintf(pattern, sizeof pattern, "%s%s", value, wheel_folders[i].pattern);
        void *handle = open_in_glob(pattern, row, why, why_size);
        if (handle)
            return handle;
    }
    return NULL;
}

static void *search(const LibraryRow *row, char *why, size_t why_size) {
    if (only_dir)
        return open_in(only_dir, row, why, why_size);
    const char *list = getenv("LD_LIBRARY_PATH"), *home = getenv("CUDA_HOME");
    void *handle = list ? open_in_list(list, row, why, why_size) : NULL;
    if (!handle && home && *home && !row->of_driver)
        handle = open_in_toolkit(home, row, why, why_size);
    if (!handle)
        handle = open_in("", row, why, why_size);
    if (handle || row->of_driver)
        return handle;
    handle = open_in_toolkit("/usr/local/cuda", row, why, why_size);
    return handle ? handle : open_in_wheels(row, why, why_size);
}

void *dynlib_open(Library library, char *error, size_t error_size) {
    if (handles[library])
        return handles[library];
    const LibraryRow *row = &rows[library];
    char why[512] = "";
    handles[library] = search(row, why, sizeof why);
    if (handles[library])
        return handles[library];
    if (*why)
        snprintf(error, error_size, "%s cannot be loaded: %s", row->names[0], why);
    else if (only_dir)
        snprintf(error, error_size, "no %s in %s; build the simulated device first (make sim)",
                 row->names[0], only_dir);
    else if (row->of_driver)
        snprintf(error, error_size, "%s not found; install the NVIDIA driver", row->names[0]);
    else
        snprintf(error, error_size,
                 "%s not found in LD_LIBRARY_PATH, CUDA_HOME, the system, /usr/local/cuda or "
                 "Python's wheels; install the CUDA toolkit, or name its folder in CUDA_HOME",
                 row->names[0]);
    return NULL;
}

void *dynlib_need(Library library) {
    char error[1024];
    void *handle = dynlib_open(library, error, sizeof error);
    if (!handle)
        rt_fail("%s", error);
    return handle;
}

void *dynlib_symbol(Library library, const char *name) {
    return handles[library] ? dlsym(handles[library], name) : NULL;
}

void *dynlib_need_symbol(Library library, const char *name) {
    dynlib_need(library);
    void *address = dynlib_symbol(library, name);
    if (!address)
        rt_fail("%s has no %s; it is too old, install a newer one", rows[library].names[0], name);
    return address;
}
