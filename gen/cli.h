/* The command line. */
#pragma once
#include "base/arena.h"
#include <stdbool.h>

typedef struct {
    const char *spec; /* the one positional argument */
    const char **sets;
    int nsets;
    bool check, print_spec, keys, help, version;
} Cli;

/* A wrong command line is a user_error. Strings point into argv. */
Cli cli_parse(Arena *arena, int argc, char **argv);
/* The text of --help. */
const char *cli_help(void);
