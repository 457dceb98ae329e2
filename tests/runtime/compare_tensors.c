/* compare_tensors [--tolerance X] [--prefix P] A.safetensors B.safetensors
 *
 * Every tensor of A whose name begins with P (default: every one) against the same in B: the same
 * bytes, or, with a tolerance, apart by at most that share of the norm. Exit 0: they agree. */
#include "runtime/safetensors.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static StFile *open_file(const char *path) {
    char error[1024];
    StFile *file = st_open(path, error, sizeof error);
    if (!file) {
        fprintf(stderr, "%s\n", error);
        exit(2);
    }
    return file;
}

/* What part of a's norm lies between the two; NaN where a value is. */
static double distance(const StTensor *a, const StTensor *b) {
    double square = 0, apart = 0;
    for (int64_t i = 0; i < a->elements; i++) {
        double x = st_value(a, i), y = st_value(b, i);
        square += x * x;
        apart += (x - y) * (x - y);
    }
    return apart == 0 ? 0 : sqrt(apart / square);
}

static int compare(const StTensor *a, const StTensor *b, double tolerance) {
    if (!b || b->bytes != a->bytes || b->dtype != a->dtype)
        return printf("%s is not in both, or not alike\n", a->name), 1;
    if (!memcmp(a->data, b->data, a->bytes) || distance(a, b) <= tolerance)
        return 0;
    return printf("%s differs by %g of its norm\n", a->name, distance(a, b)), 1;
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"tolerance", required_argument, NULL, 't'}, {"prefix", required_argument, NULL, 'p'}, {0}};
    double tolerance = -1;
    const char *prefix = "";
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 't')
            tolerance = strtod(optarg, NULL);
        else if (c == 'p')
            prefix = optarg;
        else
            return 2;
    }
    if (argc - optind != 2)
        return 2;
    StFile *a = open_file(argv[optind]), *b = open_file(argv[optind + 1]);
    int compared = 0, different = 0;
    for (size_t i = 0; i < st_count(a); i++) {
        const StTensor *t = st_at(a, i);
        if (strncmp(t->name, prefix, strlen(prefix)))
            continue;
        compared++;
        different += compare(t, st_find(b, t->name), tolerance);
    }
    if (!compared)
        printf("nothing to compare\n");
    st_close(a);
    st_close(b);
    return compared && !different ? 0 : 1;
}
