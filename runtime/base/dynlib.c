/* Search for the libraries and headers of CUDA. LD_LIBRARY_PATH and CUDA_HOME precede the system's
 * own search, so that a user who names a toolkit gets it. Toolkits found through PATH and Python
 * wheels come last. */
#include "runtime/base/dynlib.h"
#include "runtime/base/rt.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const char *names[3];                                         /* file names, best first */
    enum { OF_DRIVER, OF_TOOLKIT, OF_SYSTEM, OF_PROGRAM } origin; /* what it is installed with */
    const char *beside; /* glob of libraries that it opens itself by bare name; NULL: none */
    const char *remedy; /* what to install; NULL: `origin` tells */
} LibraryRow;

static const LibraryRow rows[LIBRARIES] = {
    [LIB_CUDA] = {{"libcuda.so.1"}, OF_DRIVER},
    [LIB_CUBLASLT] = {{"libcublasLt.so.13", "libcublasLt.so.12"}, OF_TOOLKIT},
    [LIB_NVRTC] = {{"libnvrtc.so.13", "libnvrtc.so.12"}, OF_TOOLKIT, "libnvrtc-builtins.so.*"},
    [LIB_CUPTI] = {{"libcupti.so.13", "libcupti.so.12"}, OF_TOOLKIT},
    [LIB_NVML] = {{"libnvidia-ml.so.1"}, OF_DRIVER},
    [LIB_TURBOJPEG] = {{"libturbojpeg.so.0"},
                       OF_SYSTEM,
                       .remedy = "libjpeg-turbo (Debian: libturbojpeg0)"},
    [LIB_PNG] = {{"libpng16.so.16"}, OF_SYSTEM, .remedy = "libpng (Debian: libpng16-16)"},
    [LIB_NCCL] = {{"libnccl.so.2"},
                  OF_TOOLKIT,
                  .remedy =
                      "NCCL (Python wheel: nvidia-nccl-cu13), or set NCCL_HOME to its folder"},
    [LIB_MPI] = {{"libgpuopt_mpi.so"},
                 OF_PROGRAM,
                 .remedy =
                     "MPI (Debian: openmpi-bin libopenmpi-dev) and build the program with make"},
};

/* Globs of toolkit folders: each folder of the variable's list (NULL: no prefix), then the pattern.
 * A folder of Python wheels is laid out like a toolkit. */
static const struct {
    const char *variable, *pattern;
} toolkits[] = {
    {"NCCL_HOME", ""},
    {"CUDA_HOME", ""},
    {"PATH", "/.."},
    {NULL, "/usr/local/cuda"},
    {"VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/*"},
    {"CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/*"},
    {"CONDA_PREFIX", ""},
    {"PATH", "/../lib/python3*/site-packages/nvidia/*"},
    {"HOME", "/.local/lib/python3*/site-packages/nvidia/*"},
    {NULL, "/usr/local/lib/python3*/*-packages/nvidia/*"},
    {NULL, "/usr/lib/python3*/*-packages/nvidia/*"},
};
enum {
    TOOLKITS = sizeof toolkits / sizeof *toolkits,
    NAMED_TOOLKITS = 2 /* the first rows, which have a variable of their own */
};

static const char *const library_folders[] = {"lib64", "lib", "targets/x86_64-linux/lib",
                                              "extras/CUPTI/lib64", NULL};
static const char *const header_folders[] = {"include", "targets/x86_64-linux/include", NULL};

/* Folders where containers mount the driver; not every system registers them. */
static const char driver_folders[] =
    "/usr/local/nvidia/lib64:/usr/local/nvidia/lib:/usr/lib/wsl/lib";

static const char *only_dir, *program_dir;
static void *handles[LIBRARIES];

void dynlib_only_in(const char *dir) { only_dir = dir; }
void dynlib_program_in(const char *dir) { program_dir = dir; }

/* ---- folders --------------------------------------------------------------------------------- */

/* Looks into one folder; returns true if it found what is wanted. */
typedef bool Look(const char *folder, void *wanted);

static bool look_in_parts(const char *toolkit, const char *const *parts, Look *look, void *wanted) {
    for (; *parts; parts++) {
        char folder[RT_MAX_PATH];
        int length = snprintf(folder, sizeof folder, "%s/%s", toolkit, *parts);
        if (length < (int)sizeof folder && look(folder, wanted))
            return true;
    }
    return false;
}

static bool look_in_pattern(const char *base, const char *pattern, const char *const *parts,
                            Look *look, void *wanted) {
    char whole[RT_MAX_PATH];
    glob_t matches;
    bool found = false;
    int length = snprintf(whole, sizeof whole, "%s%s", base, pattern);
    if (length >= (int)sizeof whole || glob(whole, 0, NULL, &matches) != 0)
        return false;
    for (size_t i = 0; i < matches.gl_pathc && !found; i++)
        found = look_in_parts(matches.gl_pathv[i], parts, look, wanted);
    globfree(&matches);
    return found;
}

/* Looks into every folder of a colon-separated list, or into `parts` of folder + pattern if pattern
 * is not NULL. */
static bool look_in_list(const char *list, const char *pattern, const char *const *parts,
                         Look *look, void *wanted) {
    bool found = false;
    char *rest = NULL, *folders = strdup(list);
    for (char *folder = folders ? strtok_r(folders, ":", &rest) : NULL; folder && !found;
         folder = strtok_r(NULL, ":", &rest))
        found =
            pattern ? look_in_pattern(folder, pattern, parts, look, wanted) : look(folder, wanted);
    free(folders);
    return found;
}

static bool look_in_toolkits(int first, int end, const char *const *parts, Look *look,
                             void *wanted) {
    for (int i = first; i < end; i++) {
        const char *variable = toolkits[i].variable, *pattern = toolkits[i].pattern;
        const char *value = variable ? getenv(variable) : NULL;
        if (!variable ? look_in_pattern("", pattern, parts, look, wanted)
                      : value && *value && look_in_list(value, pattern, parts, look, wanted))
            return true;
    }
    return false;
}

/* ---- libraries ------------------------------------------------------------------------------- */

typedef struct {
    const LibraryRow *row;
    void *handle;
    char why[512]; /* why a file that exists could not be loaded; "": none exists */
} WantedLibrary;

/* Preloads the matching libraries of the folder: once open, a library is found by its bare name. */
static void open_beside(const char *folder, const char *pattern) {
    char path[RT_MAX_PATH];
    glob_t found;
    int length = snprintf(path, sizeof path, "%s/%s", folder, pattern);
    if (length >= (int)sizeof path || glob(path, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
    globfree(&found);
}

/* Tries the library's names in the folder; "" leaves the search to the system. */
static bool open_in(const char *folder, void *context) {
    WantedLibrary *wanted = context;
    for (int i = 0; i < 3 && wanted->row->names[i]; i++) {
        char path[RT_MAX_PATH];
        int length = snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "",
                              wanted->row->names[i]);
        if (length >= (int)sizeof path || (*folder && access(path, F_OK) != 0))
            continue;
        if (*folder && wanted->row->beside)
            open_beside(folder, wanted->row->beside);
        /* MPI opens plugins of its own, which resolve MPI's symbols globally. */
        wanted->handle =
            dlopen(path, RTLD_NOW | (wanted->row->origin == OF_PROGRAM ? RTLD_GLOBAL : RTLD_LOCAL));
        if (wanted->handle)
            return true;
        const char *reason = dlerror();
        if (reason && (*folder || strncmp(reason, path, strlen(path)) != 0))
            snprintf(wanted->why, sizeof wanted->why, "%s", reason);
    }
    return false;
}

static bool search(WantedLibrary *wanted) {
    const char *list = getenv("LD_LIBRARY_PATH");
    int origin = wanted->row->origin;
    if (origin == OF_PROGRAM)
        return open_in(program_dir, wanted);
    if (only_dir && origin != OF_SYSTEM)
        return open_in(only_dir, wanted);
    if (list && look_in_list(list, NULL, NULL, open_in, wanted))
        return true;
    if (origin == OF_TOOLKIT &&
        look_in_toolkits(0, NAMED_TOOLKITS, library_folders, open_in, wanted))
        return true;
    if (open_in("", wanted))
        return true;
    if (origin == OF_DRIVER)
        return look_in_list(driver_folders, NULL, NULL, open_in, wanted);
    return origin == OF_TOOLKIT &&
           look_in_toolkits(NAMED_TOOLKITS, TOOLKITS, library_folders, open_in, wanted);
}

void *dynlib_open(Library library, char *error, size_t error_size) {
    if (handles[library])
        return handles[library];
    const LibraryRow *row = &rows[library];
    WantedLibrary wanted = {.row = row};
    if (search(&wanted))
        return handles[library] = wanted.handle;
    if (*wanted.why)
        snprintf(error, error_size, "%s cannot be loaded: %s%s%s", row->names[0], wanted.why,
                 row->remedy ? "; install " : "", row->remedy ? row->remedy : "");
    else if (row->remedy && (row->origin != OF_TOOLKIT || !only_dir))
        snprintf(error, error_size, "%s not found; install %s", row->names[0], row->remedy);
    else if (only_dir)
        snprintf(error, error_size, "no %s in %s; build the simulated device first (make sim%s)",
                 row->names[0], only_dir, library == LIB_NCCL ? "-ranks" : "");
    else if (row->origin == OF_DRIVER)
        snprintf(error, error_size, "%s not found; install the NVIDIA driver", row->names[0]);
    else
        snprintf(error, error_size,
                 "%s not found in LD_LIBRARY_PATH, CUDA_HOME, the system's folders, toolkits in "
                 "PATH, /usr/local/cuda or Python wheels; install the CUDA toolkit, or set "
                 "CUDA_HOME to its folder",
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

/* ---- headers --------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    char *folder;
    size_t size;
} WantedHeader;

static bool find_header(const char *folder, void *context) {
    WantedHeader *wanted = context;
    char path[RT_MAX_PATH];
    if (snprintf(path, sizeof path, "%s/%s", folder, wanted->name) >= (int)sizeof path ||
        access(path, R_OK) != 0)
        return false;
    return snprintf(wanted->folder, wanted->size, "%s", folder) < (int)wanted->size;
}

bool dynlib_find_header(const char *name, char *folder, size_t size) {
    WantedHeader wanted = {name, folder, size};
    return look_in_toolkits(0, TOOLKITS, header_folders, find_header, &wanted);
}
