/* compare_dumps A.safetensors B.safetensors BOUND: compares two dumps of one step. Inputs must be
 * equal. Computed tensors may differ, in norm, by BOUND times the tensor's norm, plus 1/100 of all
 * gradients' norm for a gradient (some are zero except for rounding), plus 1 for a new weight (some
 * start at zero).
 */
#include "runtime/files/safetensors.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static StFile *load(const char *path) {
    char error[1024];
    StFile *file = st_open(path, error, sizeof error);
    if (!file) {
        fprintf(stderr, "%s\n", error);
        exit(2);
    }
    return file;
}

static bool starts(const char *name, const char *prefix) {
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static double square_sum(const StTensor *a, const StTensor *minus) {
    double sum = 0;
    for (int64_t i = 0; i < a->elements; i++) {
        double value = st_value(a, i) - (minus ? st_value(minus, i) : 0);
        sum += value * value;
    }
    return sum;
}

static double gradient_norm(const StFile *file) {
    double sum = 0;
    for (size_t i = 0; i < st_count(file); i++)
        if (starts(st_at(file, i)->name, "grad."))
            sum += square_sum(st_at(file, i), NULL);
    return sqrt(sum);
}

static bool same_shape(const StTensor *a, const StTensor *b) {
    return a->rank == b->rank && memcmp(a->shape, b->shape, sizeof a->shape) == 0;
}

static bool compare(const StTensor *a, const StTensor *b, double all_gradients, double bound) {
    if (!b || !same_shape(a, b)) {
        printf("%s: %s\n", a->name, b ? "another shape" : "missing");
        return false;
    }
    bool computed = a->dtype != ST_I32;
    double norm = sqrt(square_sum(a, NULL)), error = sqrt(square_sum(a, b));
    double floor = starts(a->name, "grad.") ? all_gradients / 100 : starts(a->name, "new.");
    if (computed ? error <= bound * (norm + floor) : error == 0)
        return true;
    printf("%s: norm %.3g, differs by %.3g\n", a->name, norm, error);
    return false;
}

int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    StFile *a = load(argv[1]), *b = load(argv[2]);
    double all_gradients = gradient_norm(a);
    bool same = st_count(a) == st_count(b);
    for (size_t i = 0; i < st_count(a); i++) {
        const StTensor *tensor = st_at(a, i);
        same &= compare(tensor, st_find(b, tensor->name), all_gradients, atof(argv[3]));
    }
    st_close(a);
    st_close(b);
    return !same;
}
