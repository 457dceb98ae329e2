/* The command line. */
#pragma once
#include "base/arena.h"
#include <stdbool.h>

typedef struct {
    const char **paths; /* arguments that are not options: the spec, or the folders to compare */
    int path_count;
    const char **sets;
    int nsets;
    const char *out;    /* -o: folder for the program; NULL: build/NAME */
    const char *dump;   /* --dump: a pass; NULL: none */
    const char *point;  /* --point: a point of a [sweep]; NULL: all */
    const char *format; /* --format of --compare, --scaling and --plan; NULL: text */
    bool check, plan, print_spec, compare, scaling, slurm, keys, force, help, version;
} Cli;

/* A wrong command line is a user_error. Strings point into argv. */
Cli cli_parse(Arena *arena, int argc, char **argv);
/* The text of --help. */
const char *cli_help(void);
