/* compare_tensors [--tolerance X] [--global X] [--prefix P] A.safetensors B.safetensors
 *
 * Compares every tensor of A whose name begins with P (default: all) with that of the same name and
 * shape in B. They must have the same bytes or, with a tolerance, differ in norm by at most that
 * share of the tensor's norm, or by at most the global share of all tensors' norm, for tensors that
 * are zero except for rounding. Exits with 0 if they agree. */
#include "runtime/files/safetensors.h"

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

/* Without elements that are NaN. */
static double square(const StTensor *a) {
    double sum = 0;
    for (int64_t i = 0; i < a->elements; i++)
        sum += isnan(st_value(a, i)) ? 0 : st_value(a, i) * st_value(a, i);
    return sum;
}

/* Returns the norm of the difference; NaN if only one of two values is. The bits of a NaN mean
 * nothing: its sign depends on the order of sums. */
static double distance(const StTensor *a, const StTensor *b) {
    double apart = 0;
    for (int64_t i = 0; i < a->elements; i++) {
        double x = st_value(a, i), y = st_value(b, i);
        apart += isnan(x) && isnan(y) ? 0 : (x - y) * (x - y);
    }
    return sqrt(apart);
}

static bool alike(const StTensor *a, const StTensor *b) {
    return a->dtype == b->dtype && a->rank == b->rank && !memcmp(a->shape, b->shape, sizeof a->shape);
}

/* Differences up to `least`, in norm, are ignored. */
static int compare(const StTensor *a, const StTensor *b, double tolerance, double least) {
    if (!b || !alike(a, b))
        return printf("%s is not in both, or not alike\n", a->name), 1;
    if (!memcmp(a->data, b->data, a->bytes))
        return 0;
    double apart = distance(a, b), norm = sqrt(square(a));
    if (apart <= tolerance * norm || apart <= least)
        return 0;
    return printf("%s differs by %g of its norm\n", a->name, apart / norm), 1;
}

static bool is_compared(const StTensor *t, const char *prefix) {
    return strncmp(t->name, prefix, strlen(prefix)) == 0;
}

static double norm_of_all(const StFile *file, const char *prefix) {
    double sum = 0;
    for (size_t i = 0; i < st_count(file); i++)
        sum += is_compared(st_at(file, i), prefix) ? square(st_at(file, i)) : 0;
    return sqrt(sum);
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"tolerance", required_argument, NULL, 't'},
        {"global", required_argument, NULL, 'g'},
        {"prefix", required_argument, NULL, 'p'},
        {0}};
    double tolerance = -1, global = -1;
    const char *prefix = "";
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 't')
            tolerance = strtod(optarg, NULL);
        else if (c == 'g')
            global = strtod(optarg, NULL);
        else if (c == 'p')
            prefix = optarg;
        else
            return 2;
    }
    if (argc - optind != 2)
        return 2;
    StFile *a = open_file(argv[optind]), *b = open_file(argv[optind + 1]);
    double least = global < 0 ? -1 : global * norm_of_all(a, prefix);
    int compared = 0, different = 0;
    for (size_t i = 0; i < st_count(a); i++) {
        const StTensor *t = st_at(a, i);
        if (!is_compared(t, prefix))
            continue;
        compared++;
        different += compare(t, st_find(b, t->name), tolerance, least);
    }
    if (!compared)
        printf("nothing to compare\n");
    st_close(a);
    st_close(b);
    return compared && !different ? 0 : 1;
}
