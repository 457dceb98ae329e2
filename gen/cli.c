/* Options: one row each drives parsing and "did you mean". */
#include "cli.h"
#include "base/diag.h"
#include "base/nearest.h"
#include <stddef.h>
#include <string.h>

typedef struct {
    const char *name;
    size_t flag; /* offset of the bool in Cli; options with a value are handled by name */
    bool takes_value;
} Option;

static const Option options[] = {
    {"--set", 0, true},
    {"--check", offsetof(Cli, check), false},
    {"--print-spec", offsetof(Cli, print_spec), false},
    {"--keys", offsetof(Cli, keys), false},
    {"--help", offsetof(Cli, help), false},
    {"--version", offsetof(Cli, version), false},
};
enum { OPTION_COUNT = sizeof options / sizeof *options };

const char *cli_help(void)
{
    return "usage: gpuopt-gen [OPTION]... SPEC.toml\n"
           "Compiles an experiment into a standalone CUDA training program.\n"
           "\n"
           "  --set KEY=VALUE  overrides a key of the spec; may be repeated\n"
           "  --check          only checks the spec\n"
           "  --print-spec     prints the resolved spec with each value's origin\n"
           "  --keys           prints the reference of all keys\n"
           "  --help           prints this\n"
           "  --version        prints the version\n";
}

static _Noreturn void unknown_option(Arena *arena, const char *name)
{
    const char *names[OPTION_COUNT];
    for (int i = 0; i < OPTION_COUNT; i++)
        names[i] = options[i].name;
    const char *nearest = nearest_name(name, names, OPTION_COUNT);
    user_error((Pos){0},
               nearest ? arena_printf(arena, "did you mean %s?", nearest)
                       : "gpuopt-gen --help lists the options",
               "unknown option %s", name);
}

static const Option *find_option(Arena *arena, const char *name)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (!strcmp(options[i].name, name))
            return &options[i];
    unknown_option(arena, name);
}

static void take_spec(Cli *cli, const char *path)
{
    if (cli->spec)
        user_error((Pos){0}, "name one spec; [sweep] makes several experiments of it",
                   "two specs on the command line: %s and %s", cli->spec, path);
    cli->spec = path;
}

Cli cli_parse(Arena *arena, int argc, char **argv)
{
    Cli cli = {.sets = arena_array(arena, (size_t)argc, sizeof *cli.sets)};
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-') {
            take_spec(&cli, argv[i]);
            continue;
        }
        const Option *option = find_option(arena, argv[i]);
        if (!option->takes_value)
            *(bool *)((char *)&cli + option->flag) = true;
        else if (++i < argc)
            cli.sets[cli.nsets++] = argv[i];
        else
            user_error((Pos){0}, "write --set TABLE.KEY=VALUE", "%s needs a value", option->name);
    }
    if (!cli.spec && !cli.keys && !cli.help && !cli.version)
        user_error((Pos){0}, "gpuopt-gen SPEC.toml; see --help", "no spec on the command line");
    return cli;
}
