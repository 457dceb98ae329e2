/* The compiler as a list of calls. */
#include "base/diag.h"
#include "base/strbuf.h"
#include "cli.h"
#include "spec/sweep.h"
#include <stdio.h>

#define VERSION "0.1.0"

static void print_and_free(StrBuf *text)
{
    fputs(text->text, stdout);
    sb_free(text);
}

static void print_keys(void)
{
    StrBuf text = {0};
    spec_print_keys(&text);
    print_and_free(&text);
}

static void print_specs(const Sweep *sweep)
{
    StrBuf text = {0};
    for (int i = 0; i < sweep->count; i++) {
        if (sweep->swept)
            sb_printf(&text, "%s# point %s\n", i ? "\n" : "", sweep->points[i].name);
        spec_print(sweep->points[i].spec, &text);
    }
    print_and_free(&text);
}

/* What needs no spec; true when that was all. */
static bool answer(const Cli *cli)
{
    if (cli->help)
        fputs(cli_help(), stdout);
    else if (cli->version)
        puts("gpuopt-gen " VERSION);
    else if (cli->keys)
        print_keys();
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    Arena arena = {0};
    Cli cli = cli_parse(&arena, argc, argv);
    if (!answer(&cli)) {
        const Sweep *sweep = sweep_read(&arena, cli.spec, cli.sets, cli.nsets);
        if (cli.print_spec)
            print_specs(sweep);
    }
    arena_free(&arena);
    diag_forget_sources();
    return 0;
}
