/* compare_counts PLAN.json COUNTS.json [short-rows]: compares the bytes of global memory that each
 * kernel's launch requests according to the plan with those that the simulated device counted in
 * its race flavour. Kernels whose traffic depends on data may request fewer: on which tokens
 * repeat, which taps of a window are in the padding and, with `short-rows`, where samples end,
 * since attention reads nothing beyond. Exits with 1 if any differs. */
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
    return strncmp(name, "embedding_grad", 14) == 0 || strstr(name, "pool2d") ||
           strstr(name, "depthwise_conv2d") ||
           (short_rows && strncmp(name, "attention_", 10) == 0);
}

/* GEMMs and memsets have no kernel of ours. */
static bool compare(const json_t *row, const json_t *kernels) {
    const char *name = json_string_value(json_object_get(row, "name"));
    const json_t *seen = json_object_get(kernels, name);
    if (!seen)
        return true;
    double planned = number(row, "issued_bytes") / number(row, "launches");
    double counted =
        (number(seen, "read_bytes") + number(seen, "written_bytes")) / number(seen, "launches");
    bool right = data_decides(name) ? counted <= planned : counted == planned;
    if (!right)
        printf("%s: a launch asks for %.0f bytes, the plan says %.0f\n", name, counted, planned);
    return right;
}

int main(int argc, char **argv) {
    short_rows = argc == 4 && !strcmp(argv[3], "short-rows");
    bool usage = argc == 3 + short_rows;
    json_t *plan = usage ? load(argv[1]) : NULL, *counts = usage ? load(argv[2]) : NULL;
    if (!plan || !counts)
        return 2;
    const json_t *kernels = json_object_get(counts, "kernels"), *row;
    bool right = true;
    int seen = 0;
    size_t i;
    json_array_foreach(json_object_get(plan, "step_launches"), i, row) {
        right &= compare(row, kernels);
        seen += json_object_get(kernels, json_string_value(json_object_get(row, "name"))) != NULL;
    }
    if (seen < 10)
        printf("only %d kernels of the plan ran\n", seen);
    json_decref(plan);
    json_decref(counts);
    return right && seen >= 10 ? 0 : 1;
}
