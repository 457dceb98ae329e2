/* compare_tensors [--tolerance X] [--global X] [--prefix P] A.safetensors B.safetensors
 * compare_tensors --step BOUND A.safetensors B.safetensors
 *
 * Compares every tensor of A whose name begins with P (default: all) with that of the same name and
 * shape in B. They must have the same bytes or, with a tolerance, differ in norm by at most that
 * share of the tensor's norm, or by at most the global share of all tensors' norm, for tensors that
 * are zero except for rounding. Exits with 0 if they agree.
 *
 * --step: A and B are dumps of one step in two precisions. Inputs must be equal. What was computed
 * may have another type and differ, in norm, by BOUND times the tensor's norm, plus 1/100 of all
 * gradients' norm for a gradient (some are zero except for rounding), plus 1 for a new weight (some
 * start at zero). */
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

static bool same_shape(const StTensor *a, const StTensor *b) {
    return a->rank == b->rank && !memcmp(a->shape, b->shape, sizeof a->shape);
}

/* How far two tensors may be apart: a share of the norm or `least`; in a step both together. */
typedef struct {
    double share, least;
    bool step; /* their types may differ */
} Bound;

static int compare(const StTensor *a, const StTensor *b, Bound bound) {
    if (!b || !same_shape(a, b) || (!bound.step && a->dtype != b->dtype))
        return printf("%s is not in both, or not alike\n", a->name), 1;
    if (a->dtype == b->dtype && !memcmp(a->data, b->data, a->bytes))
        return 0;
    double apart = distance(a, b), norm = sqrt(square(a));
    double part = bound.share * norm;
    if (apart <= (bound.step ? part + bound.least : fmax(part, bound.least)))
        return 0;
    return printf("%s differs by %g of its norm\n", a->name, apart / norm), 1;
}

static bool begins(const StTensor *t, const char *prefix) {
    return strncmp(t->name, prefix, strlen(prefix)) == 0;
}

static double norm_of_all(const StFile *file, const char *prefix) {
    double sum = 0;
    for (size_t i = 0; i < st_count(file); i++)
        sum += begins(st_at(file, i), prefix) ? square(st_at(file, i)) : 0;
    return sqrt(sum);
}

static const Bound exact = {.share = -1, .least = -1};

static Bound step_bound(const StTensor *t, double share, double gradients) {
    double floor = begins(t, "grad.") ? gradients / 100 : begins(t, "new.");
    return t->dtype == ST_I32 ? exact : (Bound){share, share * floor, true};
}

int main(int argc, char **argv) {
    static const struct option options[] = {{"tolerance", required_argument, NULL, 't'},
                                            {"global", required_argument, NULL, 'g'},
                                            {"prefix", required_argument, NULL, 'p'},
                                            {"step", required_argument, NULL, 's'},
                                            {0}};
    Bound bound = exact;
    double global = -1, step = 0;
    const char *prefix = "";
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 't')
            bound.share = strtod(optarg, NULL);
        else if (c == 'g')
            global = strtod(optarg, NULL);
        else if (c == 's')
            step = strtod(optarg, NULL);
        else if (c == 'p')
            prefix = optarg;
        else
            return 2;
    }
    if (argc - optind != 2)
        return 2;
    StFile *a = open_file(argv[optind]), *b = open_file(argv[optind + 1]);
    double gradients = norm_of_all(a, "grad.");
    bound.least = global < 0 ? -1 : global * norm_of_all(a, prefix);
    int compared = 0, different = step && st_count(a) != st_count(b);
    for (size_t i = 0; i < st_count(a); i++) {
        const StTensor *t = st_at(a, i);
        if (!begins(t, prefix))
            continue;
        compared++;
        different += compare(t, st_find(b, t->name), step ? step_bound(t, step, gradients) : bound);
    }
    if (!compared)
        printf("nothing to compare\n");
    st_close(a);
    st_close(b);
    return compared && !different ? 0 : 1;
}
