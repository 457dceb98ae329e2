/* compare_counts [--short-rows] PLAN.json COUNTS.json [WITHOUT.json]: compares the bytes of global
 * memory that each kernel's launch requests according to the plan with those that the simulated
 * device counted in its race flavour. Kernels whose traffic depends on data may request fewer: on
 * which tokens repeat, which taps of a window are in the padding, how large pictures are and, with
 * --short-rows, where samples end, since attention reads nothing beyond. Exits with 1 if any differs.
 *
 * A launch's bytes are the mean over the run, in which loading and evaluation launch a kernel as a
 * step does. Where they do not, WITHOUT has the counts of the same run without its last step: then
 * that step alone is compared, and also how often it launches each kernel. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static json_t *load(const char *path) {
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    if (!root)
        fprintf(stderr, "%s:%d: %s\n", path, error.line, error.text);
    return root;
}

static double number(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

static bool short_rows;

static bool data_decides(const char *name) {
    return strncmp(name, "embedding_grad", 14) == 0 ||
           strncmp(name, "picture_", 8) == 0 || strstr(name, "pool2d") ||
           strstr(name, "depthwise_conv2d") ||
           (short_rows && strncmp(name, "attention_", 10) == 0);
}

static const json_t *kernel_of(const json_t *counts, const char *name) {
    return json_object_get(json_object_get(counts, "kernels"), name);
}

/* GEMMs and memsets have no kernel of ours. */
static bool compare(const json_t *row, const json_t *counts, const json_t *without) {
    const char *name = json_string_value(json_object_get(row, "name"));
    const json_t *seen = kernel_of(counts, name), *before = kernel_of(without, name);
    if (!seen)
        return true;
    double launches = number(seen, "launches") - number(before, "launches");
    double bytes = number(seen, "read_bytes") + number(seen, "written_bytes") -
                   number(before, "read_bytes") - number(before, "written_bytes");
    double planned = number(row, "issued_bytes") / number(row, "launches");
    double counted = bytes / launches;
    bool right = data_decides(name) ? counted <= planned : counted == planned;
    if (!right)
        printf("%s: a launch asks for %.0f bytes, the plan says %.0f\n", name, counted, planned);
    if (!without || launches == number(row, "launches"))
        return right;
    printf("%s: a step launches it %.0f times, the plan says %.0f\n", name, launches,
           number(row, "launches"));
    return false;
}

int main(int argc, char **argv) {
    short_rows = argc > 1 && !strcmp(argv[1], "--short-rows");
    argc -= short_rows, argv += short_rows;
    bool usage = argc == 3 || argc == 4;
    json_t *plan = usage ? load(argv[1]) : NULL, *counts = usage ? load(argv[2]) : NULL;
    json_t *without = argc == 4 ? load(argv[3]) : NULL;
    if (!plan || !counts || (argc == 4 && !without))
        return 2;
    const json_t *row;
    bool right = true;
    int seen = 0;
    size_t i;
    json_array_foreach(json_object_get(plan, "step_launches"), i, row) {
        right &= compare(row, counts, without);
        seen += kernel_of(counts, json_string_value(json_object_get(row, "name"))) != NULL;
    }
    if (seen < 10)
        printf("only %d kernels of the plan ran\n", seen);
    json_decref(plan);
    json_decref(counts);
    json_decref(without);
    return right && seen >= 10 ? 0 : 1;
}
