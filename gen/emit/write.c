/* Files on disk. `.generated` in the program's folder (`.generated.job` for job.sbatch) lists the
 * written files with their hashes, in the format of sha256sum. A file that differs from its hash
 * was edited by a person and is not overwritten. */
#include "emit/write.h"

#include "base/embed.h"
#include "base/fileio.h"
#include "base/sha256.h"
#include "emit/emit.h"
#include "plan/print_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 28 };

typedef struct {
    const char *name; /* within the folder */
    const char *text;
    size_t size;
    const char *hash; /* SHA-256 in hex */
    char *emitted;    /* the text, if it must be freed */
    FileState state;  /* of the file on disk, beside this text */
} File;

typedef struct {
    Arena arena;
    const char *folder;
    const char *list;     /* the manifest's name */
    const char *manifest; /* its old text, or "" */
    const char *run;      /* the command that runs what was written before */
    const char *within;   /* the subfolder that files are added to: "" or "stage_0/" */
    const char *made;     /* the folder created last, or NULL */
    File *files;
    int count, capacity;
} Output;

static void fail_at(const char *path, const char *what, const char *reason) {
    user_error((Pos){.file = path},
               "make room or change the permissions, or name another folder with -o",
               "cannot %s: %s", what, reason);
}

/* ---- what to write --------------------------------------------------------------------------- */

static void add_file(Output *o, File file) {
    o->files = arena_grow(&o->arena, o->files, o->count, &o->capacity, sizeof *o->files);
    o->files[o->count++] = file;
}

/* Takes ownership of the text. */
static void add_text(Output *o, const char *name, const StrBuf *text) {
    char hash[SHA256_HEX_SIZE];
    sha256_hex(text->text, text->length, hash);
    name = arena_printf(&o->arena, "%s%s", o->within, name);
    add_file(o, (File){.name = name,
                       .text = text->text,
                       .size = text->length,
                       .hash = arena_strdup(&o->arena, hash),
                       .emitted = text->text});
}

static void add_emitted(Output *o, const Plan *plan, const char *name,
                        void emit(const Plan *, StrBuf *)) {
    StrBuf text = {0};
    emit(plan, &text);
    add_text(o, name, &text);
}

static void add_placed(Output *o, const Places *places, const char *name,
                       void emit(const Places *, StrBuf *)) {
    StrBuf text = {0};
    emit(places, &text);
    add_text(o, name, &text);
}

/* Adds the runtime's sources, including those of the simulated device. */
static void add_runtime(Output *o) {
    for (int i = 0; embedded_at(i); i++) {
        const Embedded *file = embedded_at(i);
        if (strncmp(file->path, "runtime/", 8) == 0)
            add_file(o, (File){.name = file->path,
                               .text = file->text,
                               .size = file->size,
                               .hash = file->sha256});
    }
}

static void emit_spec(const Plan *plan, StrBuf *out) {
    sb_printf(out, "# %s with every key that has an effect; spec_sha256 %s\n", plan->spec->name,
              plan->spec->sha256);
    spec_print_values(plan->spec, out);
}

static void add_sources(Output *o, const Plan *plan) {
    const Places places = places_of(&o->arena, plan);
    add_placed(o, &places, "program.c", emit_program);
    add_placed(o, &places, "buffers.h", emit_buffers);
    add_placed(o, &places, "values.c", emit_values);
    add_emitted(o, plan, "kernels.cu", emit_kernels);
    add_emitted(o, plan, "Makefile", emit_makefile);
    add_emitted(o, plan, "plan.txt", plan_print_text);
    add_emitted(o, plan, "plan.json", plan_print_json);
}

/* The stages of a pipeline have folders of their own; what they share is next to these. */
static void add_stages(Output *o, const Plan *const *stages, int count) {
    StrBuf text = {0}, json = {0}, makefile = {0};
    for (int s = 0; s < count; s++) {
        o->within = arena_printf(&o->arena, "stage_%d/", s);
        add_sources(o, stages[s]);
    }
    o->within = "";
    pipeline_print_text(stages, count, &text);
    pipeline_print_json(stages, count, &json);
    emit_stages_makefile(stages[0], &makefile);
    add_text(o, "plan.txt", &text);
    add_text(o, "plan.json", &json);
    add_text(o, "Makefile", &makefile);
}

static void add_all(Output *o, const Plan *const *stages, int count) {
    if (count > 1)
        add_stages(o, stages, count);
    else
        add_sources(o, stages[0]);
    add_emitted(o, stages[0], "spec.toml", emit_spec);
    add_runtime(o);
}

/* ---- existing files -------------------------------------------------------------------------- */

static const char *path_of(Output *o, const char *name) {
    return arena_printf(&o->arena, "%s/%s", o->folder, name);
}

static void read_manifest(Output *o) {
    char *text;
    size_t size;
    const char *path = path_of(o, o->list);
    o->manifest =
        is_file(path) && !file_read(&o->arena, path, MOST_BYTES, &text, &size) ? text : "";
}

/* Whether the manifest lists a file with this name and hash. */
static bool is_listed(const Output *o, const char *name, const char *hash) {
    size_t name_length = strlen(name);
    for (const char *line = o->manifest; *line;) {
        size_t length = strcspn(line, "\n");
        if (length == SHA256_HEX_SIZE - 1 + 2 + name_length &&
            memcmp(line, hash, SHA256_HEX_SIZE - 1) == 0 &&
            memcmp(line + SHA256_HEX_SIZE - 1 + 2, name, name_length) == 0)
            return true;
        line += length + (line[length] == '\n');
    }
    return false;
}

/* Whether the file exists and differs from what the manifest lists. */
static bool is_edited(Output *o, const char *name) {
    const char *path = path_of(o, name);
    char *text, hash[SHA256_HEX_SIZE];
    size_t size;
    if (!is_file(path))
        return false;
    const char *error = file_read(&o->arena, path, MOST_BYTES, &text, &size);
    if (error)
        fail_at(path, "read it", error);
    sha256_hex(text, size, hash);
    return !is_listed(o, name, hash);
}

static void find_files(Output *o) {
    for (int i = 0; i < o->count; i++)
        o->files[i].state =
            file_compare(path_of(o, o->files[i].name), o->files[i].text, o->files[i].size);
}

/* `make run` alone may stand for another program: it runs what was generated last. */
static void refuse_edited(Output *o) {
    const char *hint =
        arena_printf(&o->arena,
                     "`%s` runs it as it is; `gpuopt-gen --force SPEC`, with the same options, "
                     "overwrites it; -o DIR writes elsewhere",
                     o->run);
    for (int i = 0; i < o->count; i++)
        if (o->files[i].state == FILE_OTHER && is_edited(o, o->files[i].name))
            user_error((Pos){.file = path_of(o, o->files[i].name)}, hint,
                       "this file was edited since it was generated, so nothing was written");
}

/* Removes files that an earlier generation wrote and this one does not, unless edited. */
static void remove_stale(Output *o) {
    for (const char *line = o->manifest; *line;) {
        size_t length = strcspn(line, "\n");
        if (length > SHA256_HEX_SIZE + 1) {
            const char *name =
                arena_strndup(&o->arena, line + SHA256_HEX_SIZE + 1, length - SHA256_HEX_SIZE - 1);
            bool wanted = strstr(name, "..") != NULL || name[0] == '/';
            for (int i = 0; i < o->count && !wanted; i++)
                wanted = strcmp(o->files[i].name, name) == 0;
            if (!wanted && !is_edited(o, name))
                remove(path_of(o, name));
        }
        line += length + (line[length] == '\n');
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_file(Output *o, const char *name, const char *text, size_t size) {
    const char *path = path_of(o, name), *slash = strrchr(path, '/');
    const char *folder = arena_strndup(&o->arena, path, (size_t)(slash - path));
    if (!o->made || strcmp(o->made, folder)) {
        const char *error = make_folder(folder);
        if (error)
            fail_at(folder, "make the folder", error);
        o->made = folder;
    }
    const char *error = file_write(path, text, size);
    if (error)
        fail_at(path, "write it", error);
}

/* Leaves a file with this text and its time stamp untouched. */
static void update_file(Output *o, const char *name, const char *text, size_t size) {
    if (file_compare(path_of(o, name), text, size) != FILE_SAME)
        write_file(o, name, text, size);
}

static void write_manifest(Output *o, const char *older) {
    StrBuf text = {0};
    for (int i = 0; i < o->count; i++)
        sb_printf(&text, "%s  %s\n", o->files[i].hash, o->files[i].name);
    if (strcmp(text.text, older))
        sb_puts(&text, older);
    update_file(o, o->list, text.text, text.length);
    sb_free(&text);
}

/* Otherwise, of two processes that write to the same folder, each would take the other's files for
 * edited. */
static int lock_folder(const char *folder) {
    const char *error = make_folder(folder);
    if (error)
        fail_at(folder, "make the folder", error);
    int lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        user_error((Pos){.file = folder}, "wait for it, or name another folder with -o",
                   "another gpuopt-gen writes there, or a run its results");
    return lock; /* -1 or not locked: some file systems have no locks */
}

static void write_all(Output *o, bool force) {
    int lock = lock_folder(o->folder);
    read_manifest(o);
    find_files(o);
    if (!force)
        refuse_edited(o);
    remove_stale(o);
    /* While some files are old and some new, the manifest lists both, so that after an interruption
     * no file seems to be edited. */
    write_manifest(o, o->manifest);
    for (int i = 0; i < o->count; i++)
        if (o->files[i].state != FILE_SAME)
            write_file(o, o->files[i].name, o->files[i].text, o->files[i].size);
    write_manifest(o, "");
    if (lock >= 0)
        close(lock);
    for (int i = 0; i < o->count; i++)
        free(o->files[i].emitted);
    arena_free(&o->arena);
}

void write_program(const Plan *const *stages, int count, const char *folder, bool force) {
    Output o = {.folder = folder, .list = ".generated", .within = ""};
    o.run = arena_printf(&o.arena, "make -C %s run FROM=$PWD", folder);
    add_all(&o, stages, count);
    write_all(&o, force);
}

void write_job(const char *folder, const JobPoint *points, int count, bool force) {
    Output o = {.folder = folder, .list = ".generated.job", .within = ""};
    o.run = arena_printf(&o.arena, "sbatch %s/job.sbatch", folder);
    StrBuf text = {0};
    emit_job(folder, points, count, &text);
    add_text(&o, "job.sbatch", &text);
    write_all(&o, force);
}

void remove_job(const char *folder) {
    Output o = {.folder = folder, .list = ".generated.job"};
    read_manifest(&o);
    remove_stale(&o);
    remove(path_of(&o, o.list));
    arena_free(&o.arena);
}

void write_points(const char *folder, const char *points) {
    Output o = {.folder = folder};
    update_file(&o, "points", points, strlen(points));
    arena_free(&o.arena);
}

bool is_of_others(const char *folder) {
    static const char *const ours[] = {".generated", "points", "out"};
    Output o = {.folder = folder};
    glob_t found;
    bool others = glob(path_of(&o, "*"), 0, NULL, &found) == 0;
    globfree(&found);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        others = others && access(path_of(&o, ours[i]), F_OK) != 0;
    arena_free(&o.arena);
    return others;
}

void write_last(const char *path) {
    Output o = {.folder = "build"};
    const char *text = arena_printf(&o.arena, "%s\n", path);
    update_file(&o, "last", text, strlen(text));
    arena_free(&o.arena);
}
