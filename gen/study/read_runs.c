/* Reads runs and studies from their folders. */
#include "study/study.h"

#include "base/diag.h"
#include "base/fileio.h"

#include <string.h>

enum { MOST_BYTES = 1 << 26 };

static const char *const remedy = "name folders of programs that have run, or of one study";
static const char *const lost = "copy the folder again; or generate and run the program again";
static const char *const broken =
    "copy the folder again; or remove this file, then generate and run the program again";

static json_t *read_json(Arena *arena, const char *path) {
    char *text;
    size_t size;
    json_error_t error;
    const char *why = file_read(arena, path, MOST_BYTES, &text, &size);
    if (why)
        user_error((Pos){0}, lost, "cannot read %s: %s", path, why);
    json_t *root = json_loadb(text, size, 0, &error);
    if (!json_is_object(root))
        user_error((Pos){.file = path}, broken, "this file is broken: %s",
                   root ? "not a JSON object" : error.text);
    return root;
}

static const char *path_of(Arena *arena, const char *folder, const char *name) {
    return arena_printf(arena, "%s/%s", folder, name);
}

/* Returns the spec_sha256 in plan.json or report.json, or "". */
static const char *sha_of(const json_t *root) {
    const char *sha = json_string_value(json_object_get(root, "spec_sha256"));
    return sha ? sha : "";
}

static bool is_in(Arena *arena, const char *folder, const char *name) {
    return is_file(path_of(arena, folder, name));
}

/* Whether the report belongs to the program that is in the folder now. */
static bool is_current(Arena *arena, const char *folder, const json_t *report) {
    json_t *plan = read_json(arena, path_of(arena, folder, "plan.json"));
    bool same = !strcmp(sha_of(plan), sha_of(report));
    json_decref(plan);
    return same;
}

/* out, out.2, out.3, ... */
static const char *report_path(Arena *arena, const char *folder, int repetition) {
    return repetition == 1 ? path_of(arena, folder, "out/report.json")
                           : arena_printf(arena, "%s/out.%d/report.json", folder, repetition);
}

/* Returns [benchmark] repeats. There may be more folders, from a study that asked for more
 * before. */
static int repeats_asked(Arena *arena, const char *folder) {
    json_t *plan = read_json(arena, path_of(arena, folder, "plan.json"));
    int repeats = (int)json_integer_value(json_object_get(plan, "repeats"));
    json_decref(plan);
    return repeats < 1 ? 1 : repeats;
}

static void add_report(Arena *arena, Run *run, const char *program, const char *path) {
    json_t *report = run->reports[run->repeats++] = read_json(arena, path);
    if (!is_current(arena, program, report))
        user_error((Pos){.file = path}, "make run brings it up to date",
                   "the report belongs to another spec than the program in %s", program);
}

/* Returns the program that wrote the results in `folder`: the one named by the report, or the
 * parent folder. */
static const char *program_of(Arena *arena, const char *folder) {
    const char *path = path_of(arena, folder, "report.json");
    json_t *report = read_json(arena, path);
    const char *named = json_string_value(json_object_get(report, "program"));
    const char *program = named && is_in(arena, named, "spec.toml")
                              ? arena_strndup(arena, named, strlen(named))
                              : path_of(arena, folder, "..");
    if (!is_in(arena, program, "spec.toml"))
        user_error((Pos){.file = path}, "move the folder back into that of its program",
                   "the program that wrote this report no longer exists");
    json_decref(report);
    return program;
}

static Run run_of(Arena *arena, const char *folder, const char *program, int most) {
    const char *spec = path_of(arena, program, "spec.toml");
    Run run = {folder, "finished", toml_read(arena, spec, (Pos){0}), NULL, 0};
    run.reports = arena_array(arena, (size_t)most + 1, sizeof *run.reports);
    return run;
}

/* Reads the folder that --out named, or the folder out itself. */
static Run results_read(Arena *arena, const char *folder) {
    const char *program = program_of(arena, folder);
    Run run = run_of(arena, folder, program, 1);
    add_report(arena, &run, program, path_of(arena, folder, "report.json"));
    return run;
}

/* A study has no report of its own. */
static void refuse_study(Arena *arena, const char *folder) {
    if (is_study(arena, folder))
        user_error((Pos){0},
                   arena_printf(arena,
                                "name its points instead, as %s/POINT; gpuopt-gen --compare %s "
                                "lists them",
                                folder, folder),
                   "%s: a study cannot be compared with other folders", folder);
}

static void refuse_unfinished(Arena *arena, const char *folder, const char *report) {
    bool stopped = is_folder(path_of(arena, folder, "out/checkpoints"));
    user_error((Pos){0},
               arena_printf(arena, "`make -C %s run FROM=$PWD%s` %s", folder,
                            stopped ? " ARGS=--resume" : "",
                            stopped ? "continues it from its newest checkpoint" : "runs it"),
               "%s does not exist: the program has not finished a run", report);
}

Run run_read(Arena *arena, const char *folder) {
    const char *report = report_path(arena, folder, 1);
    if (!is_file(report))
        refuse_study(arena, folder);
    if (!is_file(report) && is_in(arena, folder, "report.json"))
        return results_read(arena, folder);
    if (!is_file(report) && is_in(arena, folder, "plan.json"))
        refuse_unfinished(arena, folder, report);
    if (!is_file(report))
        user_error((Pos){0}, remedy, "%s%s", folder,
                   is_folder(folder) ? " has no program and no report" : ": no such folder");
    int asked = repeats_asked(arena, folder);
    Run run = run_of(arena, folder, folder, asked);
    while (run.repeats < asked && is_file(report = report_path(arena, folder, run.repeats + 1)))
        add_report(arena, &run, folder, report);
    return run;
}

void run_free(Run *run) {
    for (int i = 0; i < run->repeats; i++)
        json_decref(run->reports[i]);
    run->repeats = 0;
}

/* ---- studies -------------------------------------------------------------------------------- */

static const char *points_path(Arena *arena, const char *folder) {
    return path_of(arena, folder, "points");
}

bool is_study(Arena *arena, const char *folder) { return is_file(points_path(arena, folder)); }

/* Returns the state of a run without results. study.sh marks the runs that a signal stopped. */
static const char *state_of(Arena *arena, const char *folder, bool refused) {
    if (refused)
        return "refused";
    if (is_in(arena, folder, "interrupted"))
        return "interrupted";
    bool begun = is_in(arena, folder, "run.log") || is_folder(path_of(arena, folder, "out"));
    return begun ? "failed" : "not run";
}

static bool is_stale(Arena *arena, const char *folder, const char *path) {
    json_t *report = read_json(arena, path);
    bool stale = !is_current(arena, folder, report);
    json_decref(report);
    return stale;
}

static Run point_read(Arena *arena, const char *study, const char *name, bool refused) {
    const char *folder = path_of(arena, study, name);
    Run run = {name, state_of(arena, folder, refused), NULL, NULL, 0};
    if (is_file(path_of(arena, folder, "spec.toml")))
        run.spec = toml_read(arena, path_of(arena, folder, "spec.toml"), (Pos){0});
    if (!run.spec || refused)
        return run;
    for (int i = 1, asked = repeats_asked(arena, folder); i <= asked; i++) {
        if (!is_file(report_path(arena, folder, i)))
            return run;
        if (is_stale(arena, folder, report_path(arena, folder, i))) {
            run.state = RUN_STALE;
            return run;
        }
    }
    run = run_read(arena, folder);
    run.name = name;
    return run;
}

static int lines_of(const char *text) {
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

Run *study_read(Arena *arena, const char *folder, int *count) {
    char *text;
    size_t size;
    const char *path = points_path(arena, folder), *why;
    why = file_read(arena, path, MOST_BYTES, &text, &size);
    if (why)
        user_error((Pos){0}, remedy, "cannot read %s: %s", path, why);
    Run *runs = arena_array(arena, (size_t)lines_of(text) + 1, sizeof *runs);
    *count = 0;
    for (char *line = text; *line;) {
        size_t length = strcspn(line, "\n"), name = strcspn(line, " \n");
        bool refused = name < length;
        if (length)
            runs[(*count)++] = point_read(arena, folder, arena_strndup(arena, line, name), refused);
        line += length + (line[length] == '\n');
    }
    return runs;
}

void warn_of_other_results(Arena *arena, const char *folder, const Spec *spec) {
    const char *path = report_path(arena, folder, 1);
    json_t *report = is_file(path) ? json_load_file(path, 0, NULL) : NULL;
    if (sha_of(report)[0] && strcmp(sha_of(report), spec->sha256))
        warn_at((Pos){.file = path}, "to keep them, generate with --set job.name=NAME or -o DIR",
                "results of another variant of this spec, which the next run will overwrite");
    json_decref(report);
}
