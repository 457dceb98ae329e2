/* Options: one row each, which drives parsing and "did you mean". */
#include "cli.h"
#include "base/diag.h"
#include "base/nearest.h"
#include <stddef.h>
#include <string.h>

/* What gpuopt-gen is asked to do. An option goes with a set of these. */
enum {
    WRITE = 1 << 0, /* a program: without another command */
    CHECK = 1 << 1,
    PLAN = 1 << 2,
    PRINT_SPEC = 1 << 3,
    DUMP = 1 << 4,
    COMPARE = 1 << 5,
    SCALING = 1 << 6,
    KEYS = 1 << 7,
    WITH_SPEC = WRITE | CHECK | PLAN | PRINT_SPEC | DUMP | SCALING,
    ANY = WITH_SPEC | COMPARE | KEYS
};

typedef struct {
    const char *name;
    size_t field;      /* offset in Cli of its bool, or of its text */
    const char *value; /* what follows it, for messages; NULL: nothing, it is a bool */
    unsigned with;     /* the commands it goes with; a command goes only with itself */
} Option;

static const Option options[] = {
    {"-o", offsetof(Cli, out), "DIR", WRITE},
    {"--set", 0, "TABLE.KEY=VALUE", WITH_SPEC}, /* may be repeated: a list, not a field */
    {"--check", offsetof(Cli, check), NULL, CHECK},
    {"--plan", offsetof(Cli, plan), NULL, PLAN},
    {"--point", offsetof(Cli, point), "NAME", PLAN | SCALING | PRINT_SPEC | DUMP},
    {"--print-spec", offsetof(Cli, print_spec), NULL, PRINT_SPEC},
    {"--dump", offsetof(Cli, dump), "PASS", DUMP},
    {"--compare", offsetof(Cli, compare), NULL, COMPARE},
    {"--scaling", offsetof(Cli, scaling), NULL, SCALING},
    {"--format", offsetof(Cli, format), "text|csv|json|svg", PLAN | COMPARE | SCALING},
    {"--slurm", offsetof(Cli, slurm), NULL, WRITE},
    {"--keys", offsetof(Cli, keys), NULL, KEYS},
    {"--force", offsetof(Cli, force), NULL, WRITE},
    {"--help", offsetof(Cli, help), NULL, ANY},
    {"-h", offsetof(Cli, help), NULL, ANY},
    {"--version", offsetof(Cli, version), NULL, ANY},
};
enum { OPTION_COUNT = sizeof options / sizeof *options };

const char *cli_help(void) {
    return "usage: gpuopt-gen [OPTION]... SPEC.toml\n"
           "       gpuopt-gen --compare DIR...\n"
           "       gpuopt-gen --keys [TABLE[.KEY]]\n"
           "Compiles an experiment into a standalone CUDA training program.\n"
           "\n"
           "  -o DIR           write the program to DIR instead of build/NAME, where `make run` "
           "looks\n"
           "  --set KEY=VALUE  override a key of the spec; may be repeated\n"
           "  --check          only check the spec\n"
           "  --plan           only print the plan, or for a [sweep] a table of all points; exits "
           "with\n"
           "                   0 if it fits, 1 if it does not fit, 2 on an error\n"
           "  --point NAME     only this point of a [sweep]; with --plan, --scaling, --print-spec\n"
           "                   or --dump\n"
           "  --print-spec     print the resolved spec with the origin of each value\n"
           "  --dump PASS      print the graphs after a pass (\"model\": before the first pass)\n"
           "  --compare        compare runs, named by the folders of programs or of a study\n"
           "  --scaling        print what the plan predicts for 1, 2, 4, ... 1024 replicas\n"
           "  --format FORMAT  print only the table of --compare, --scaling or --plan, as text,\n"
           "                   csv, json or svg (a chart); that of --plan also as markdown\n"
           "  --slurm          write job.sbatch next to the program, for Slurm's sbatch\n"
           "  --keys [TABLE]   print the reference of all keys and the unsupported combinations, or\n"
           "                   of the keys of one table, such as compile, or of one key\n"
           "  --force          overwrite generated files that were edited\n"
           "  -h, --help       print this help\n"
           "  --version        print the version\n"
           "  --               what follows are specs or folders, not options\n";
}

static _Noreturn void unknown_option(Arena *arena, const char *name) {
    const char *names[OPTION_COUNT];
    for (int i = 0; i < OPTION_COUNT; i++)
        names[i] = options[i].name;
    bool brief = strlen(name) <= 2; /* every letter is near -o and -h */
    const char *nearest = brief ? NULL : nearest_name(name, names, OPTION_COUNT);
    user_error((Pos){0},
               nearest ? arena_printf(arena, "did you mean %s?", nearest)
                       : "gpuopt-gen --help lists the options",
               "unknown option %s", name);
}

static const Option *find_option(Arena *arena, const char *name) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (!strcmp(options[i].name, name))
            return &options[i];
    unknown_option(arena, name);
}

static int take_value(Arena *arena, Cli *cli, const Option *option, int argc, char **argv, int i) {
    if (i + 1 >= argc)
        user_error((Pos){0}, "gpuopt-gen --help lists the options", "%s needs a value: %s %s",
                   option->name, option->name, option->value);
    if (!*argv[i + 1])
        user_error((Pos){0}, arena_printf(arena, "give a value, or leave %s out", option->name),
                   "%s is followed by an empty argument", option->name);
    if (!strcmp(option->name, "--set")) {
        cli->sets[cli->nsets++] = argv[i + 1];
        return i + 1;
    }
    const char **field = (const char **)((char *)cli + option->field);
    if (*field)
        user_error((Pos){0}, "remove one of them", "%s is given twice: %s and %s", option->name,
                   *field, argv[i + 1]);
    *field = argv[i + 1];
    return i + 1;
}

static void take_path(Cli *cli, const char *path) {
    if (!*path)
        user_error((Pos){0}, "name a spec or, with --compare, folders",
                   "a name on the command line is empty");
    cli->paths[cli->path_count++] = path;
}

static void check_keys(const Cli *cli) {
    const char *first = cli->path_count > 0 ? cli->paths[0] : "";
    size_t length = strlen(first);
    if (length > 5 && !strcmp(first + length - 5, ".toml"))
        user_error((Pos){0}, "leave out the spec; --print-spec shows the values of its keys",
                   "--keys lists keys with their defaults, so it takes no spec: %s", first);
    if (cli->path_count > 1)
        user_error((Pos){0}, "name one table, or none for all keys",
                   "two tables on the command line: %s and %s", first, cli->paths[1]);
}

static void check_paths(const Cli *cli) {
    if (cli->format && !cli->compare && !cli->scaling && !cli->plan)
        user_error((Pos){0}, "for example: gpuopt-gen --compare DIR... --format csv",
                   "--format needs --compare, --scaling or --plan");
    if (cli->point && !cli->plan && !cli->scaling && !cli->print_spec && !cli->dump)
        user_error((Pos){0}, "for example: gpuopt-gen --plan --point NAME SPEC.toml",
                   "--point needs --plan, --scaling, --print-spec or --dump");
    if (cli->keys)
        check_keys(cli);
    if (cli->compare ? cli->path_count > 0 : cli->path_count == 1)
        return;
    if (cli->compare)
        user_error((Pos){0}, "for example: gpuopt-gen --compare build/A build/B",
                   "--compare needs the folders of runs, or of one study");
    for (int i = 0; cli->path_count > 1 && i < cli->nsets; i++)
        if (!strchr(cli->sets[i], '='))
            user_error((Pos){0}, "write --set TABLE.KEY=VALUE", "--set %s has no \"=\"",
                       cli->sets[i]);
    if (cli->path_count > 1)
        user_error((Pos){0}, "name one spec; a [sweep] makes several experiments of it",
                   "two specs on the command line: %s and %s", cli->paths[0], cli->paths[1]);
    if (!cli->keys)
        user_error((Pos){0}, "name a spec: gpuopt-gen SPEC.toml; see also --help",
                   "no spec on the command line");
}

/* Refuses a folder in which make could not build. runtime/folder.mk refuses the same characters;
 * tests/emit/run.sh compares the two. */
static void check_out(Arena *arena, const char *out) {
    const char *odd = out ? strpbrk(out, " \t\n\v\f\r:;()'\"$#%&|*?[]\\`<>{}") : NULL;
    if (odd)
        user_error((Pos){0}, "choose a folder without it",
                   "-o %s: make cannot build in a path with %s", out,
                   strchr(" \t\n\v\f\r", *odd) ? "spaces" : arena_strndup(arena, odd, 1));
}

/* Refuses an option that has no effect with another one. `given` are the options in their order. */
static void check_together(const Option *const *given, int count) {
    for (int a = 0; a < count; a++)
        for (int b = a + 1; b < count; b++)
            if (!(given[a]->with & given[b]->with))
                user_error((Pos){0}, "leave out one of them", "%s and %s do not go together",
                           given[a]->name, given[b]->name);
}

static const Option **take_options(Arena *arena, Cli *cli, int argc, char **argv, int *count) {
    const Option **given = arena_array(arena, (size_t)argc, sizeof *given);
    bool ended = false; /* by "--" */
    for (int i = 1; i < argc; i++) {
        if (ended || argv[i][0] != '-') {
            take_path(cli, argv[i]);
        } else if (!strcmp(argv[i], "--")) {
            ended = true;
        } else {
            const Option *option = given[(*count)++] = find_option(arena, argv[i]);
            if (option->value)
                i = take_value(arena, cli, option, argc, argv, i);
            else
                *(bool *)((char *)cli + option->field) = true;
        }
    }
    return given;
}

Cli cli_parse(Arena *arena, int argc, char **argv) {
    Cli cli = {.sets = arena_array(arena, (size_t)argc, sizeof *cli.sets),
               .paths = arena_array(arena, (size_t)argc, sizeof *cli.paths)};
    int count = 0;
    const Option **given = take_options(arena, &cli, argc, argv, &count);
    if (cli.help || cli.version)
        return cli;
    check_paths(&cli);
    check_together(given, count);
    check_out(arena, cli.out);
    return cli;
}
