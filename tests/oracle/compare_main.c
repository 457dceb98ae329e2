/*
 * compare_main.c - compare --case DIR --dtype TYPE --dump FILE [--losses CSV] [--evaluations CSV]
 *         [--other-batch]
 *
 * Exits with 0 if the step is right, with 1 and a table if not, with 2 for a wrong command line.
 */
#include "compare.h"

#include <getopt.h>
#include <string.h>

static bool is_dtype(const char *name)
{
    static const char *const names[] = {"fp64", "fp32", "tf32", "bf16", "fp16"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"case", required_argument, NULL, 'c'},
                                            {"dtype", required_argument, NULL, 't'},
                                            {"dump", required_argument, NULL, 'd'},
                                            {"losses", required_argument, NULL, 'l'},
                                            {"evaluations", required_argument, NULL, 'e'},
                                            {"other-batch", no_argument, NULL, 'o'},
                                            {0}};
    CompareJob job = {0};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'c': job.case_dir = optarg; break;
        case 't': job.dtype = optarg; break;
        case 'd': job.dump = optarg; break;
        case 'l': job.losses = optarg; break;
        case 'e': job.evaluations = optarg; break;
        case 'o': job.other_batch = true; break;
        default: return 2;
        }
    }
    if (!job.case_dir || !job.dump || !job.dtype || !is_dtype(job.dtype) || optind != argc) {
        fprintf(stderr, "usage: compare --case DIR --dtype fp64|fp32|tf32|bf16|fp16 --dump FILE "
                        "[--losses CSV] [--evaluations CSV] [--other-batch]\n");
        return 2;
    }
    return compare_case(&job, stdout) ? 0 : 1;
}
