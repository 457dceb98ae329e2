/*
 * test_compare.c - the oracle's comparison: a right step passes, and each kind of wrong step fails.
 *
 * Uses its own fixture in a temporary folder: one weight of two elements.
 */
#include "runtime/files/safetensors.h"
#include "tests/oracle/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char folder[] = "/tmp/test_compare.XXXXXX";
static char text[8192]; /* printed by compare_case() */

/* A step, to be written as a reference or as a dump. */
typedef struct Step {
    double loss, logits[2], grad[2], new[2], losses[3];
    int64_t ids[2];
    const char *extra; /* name of an additional tensor, or NULL */
    bool no_logits;
    int64_t logits_rank;
} Step;

static const Step RIGHT = {.loss = 2,
                           .logits = {1, -3},
                           .grad = {0.5, 0.25},
                           .new = {0.99, 1.98},
                           .losses = {2, 1.5, 1},
                           .ids = {3, 4},
                           .logits_rank = 1};

static const char *in_folder(const char *name)
{
    static char paths[4][256];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_step(const char *path, const Step *s)
{
    char error[256];
    const int64_t two[2] = {2, 1}, three[1] = {3};
    StWriter *w = st_create(path);
    st_declare(w, "input_ids", ST_I64, 1, two);
    st_declare(w, "loss", ST_F64, 0, NULL);
    if (!s->no_logits)
        st_declare(w, "logits", ST_F64, (int)s->logits_rank, two);
    st_declare(w, "grad.w", ST_F64, 1, two);
    st_declare(w, "new.w", ST_F64, 1, two);
    st_declare(w, "losses", ST_F64, 1, three);
    if (s->extra)
        st_declare(w, s->extra, ST_F64, 0, NULL);
    st_write(w, s->ids, sizeof s->ids);
    st_write(w, &s->loss, sizeof s->loss);
    if (!s->no_logits)
        st_write(w, s->logits, sizeof s->logits);
    st_write(w, s->grad, sizeof s->grad);
    st_write(w, s->new, sizeof s->new);
    st_write(w, s->losses, sizeof s->losses);
    if (s->extra)
        st_write(w, &s->loss, sizeof s->loss);
    if (!st_finish(w, error, sizeof error))
        fail_msg("%s", error);
}

static void write_text(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");
    fputs(content, file);
    fclose(file);
}

static int make_case(void **state)
{
    (void)state;
    char error[256];
    if (!mkdtemp(folder) || mkdir(in_folder("model"), 0777))
        return -1;
    write_step(in_folder("expected.safetensors"), &RIGHT);
    StWriter *w = st_create(in_folder("model/model.safetensors"));
    st_declare(w, "w", ST_F64, 1, (int64_t[]){2});
    st_write(w, (double[]){1, 2}, 16);
    write_text(in_folder("errors.json"),
               "{\"bf16\": {\"loss\": 1e-9, \"logits\": 0.01, \"grad.w\": 0.02, \"new.w\": 0.001,"
               " \"losses\": 0.001}}");
    return st_finish(w, error, sizeof error) ? 0 : -1;
}

static int remove_case(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static bool verdict(const Step *step, const char *dtype)
{
    char csv[256];
    write_step(in_folder("dump.safetensors"), step);
    snprintf(csv, sizeof csv, "step,loss,lr\n0,%.17g,1\n1,%.17g,1\n2,%.17g,1\n", step->losses[0],
             step->losses[1], step->losses[2]);
    write_text(in_folder("loss.csv"), csv);
    CompareJob job = {.case_dir = folder,
                      .dtype = dtype,
                      .dump = in_folder("dump.safetensors"),
                      .losses = in_folder("loss.csv")};
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text - 1, "w");
    bool good = compare_case(&job, out);
    fclose(out);
    return good;
}

/* Checks that the step fails, and that a FAIL line names `tensor`. */
static void fails(const Step *step, const char *dtype, const char *tensor)
{
    assert_false(verdict(step, dtype));
    char line[64];
    snprintf(line, sizeof line, "FAIL %s ", tensor);
    if (!strstr(text, line))
        fail_msg("no \"%s\" in:\n%s", line, text);
}

static void test_right_step_passes(void **state)
{
    (void)state;
    for (const char *const *dtype = (const char *const[]){"fp64", "fp32", "bf16", NULL}; *dtype;
         dtype++) {
        assert_true(verdict(&RIGHT, *dtype));
        assert_string_equal(text, "");
    }
}

/* Each bound from both sides: just inside passes, just outside fails. */
static void test_bounds(void **state)
{
    (void)state;
    const struct {
        const char *dtype, *tensor;
        size_t offset;
        double inside, outside;
    } rows[] = {
        {"fp64", "loss", offsetof(Step, loss), 1.9e-10, 2.1e-10},
        {"fp64", "logits", offsetof(Step, logits), 3.1e-10, 3.2e-10},
        {"fp64", "grad.w", offsetof(Step, grad), 5.5e-11, 5.7e-11},
        {"fp64", "new.w", offsetof(Step, new), 2.2e-10, 2.3e-10},
        {"fp64", "losses", offsetof(Step, losses), 2.6e-10, 2.8e-10},
        {"fp32", "loss", offsetof(Step, loss), 1.9e-5, 2.1e-5},
        {"fp32", "logits", offsetof(Step, logits), 3.1e-5, 3.2e-5},
        {"fp32", "grad.w", offsetof(Step, grad), 5.6e-5, 5.7e-5},
        {"fp32", "new.w", offsetof(Step, new), 2.2e-5, 2.3e-5},
        {"fp32", "losses", offsetof(Step, losses), 2.6e-5, 2.8e-5},
        {"bf16", "logits", offsetof(Step, logits), 4.7e-2, 4.8e-2},
        {"bf16", "grad.w", offsetof(Step, grad), 1.6e-2, 1.7e-2},
        {"bf16", "new.w", offsetof(Step, new), 3.3e-3, 3.4e-3},
        {"bf16", "losses", offsetof(Step, losses), 4.0e-3, 4.1e-3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Step step = RIGHT;
        double *value = (double *)(void *)((char *)&step + rows[i].offset), right = *value;
        *value = right + rows[i].inside;
        if (!verdict(&step, rows[i].dtype))
            fail_msg("%s %s is refused inside its bound:\n%s", rows[i].dtype, rows[i].tensor, text);
        *value = right + rows[i].outside;
        fails(&step, rows[i].dtype, rows[i].tensor);
    }
}

static void test_wrong_in_kind(void **state)
{
    (void)state;
    Step step = RIGHT;
    step.ids[1] = 5;
    fails(&step, "fp32", "input_ids");
    step = RIGHT;
    step.no_logits = true;
    fails(&step, "fp32", "logits");
    step = RIGHT;
    step.logits_rank = 2;
    fails(&step, "fp32", "logits");
    step = RIGHT;
    step.extra = "grad.frozen";
    fails(&step, "fp32", "grad.frozen");
    step = RIGHT;
    step.grad[0] = NAN;
    fails(&step, "bf16", "grad.w");
    step = RIGHT;
    step.losses[2] = NAN;
    fails(&step, "fp32", "losses");
}

/* Within the bound from the global norm, and yet wrong. */
static void test_zero_gradient(void **state)
{
    (void)state;
    Step step = RIGHT;
    memset(step.grad, 0, sizeof step.grad);
    fails(&step, "bf16", "grad.w");
    assert_non_null(strstr(text, "all zero"));
    write_step(in_folder("expected.safetensors"), &step);
    fails(&step, "fp64", "grad.w");
    write_step(in_folder("expected.safetensors"), &RIGHT);
}

static void test_losses_file(void **state)
{
    (void)state;
    write_step(in_folder("dump.safetensors"), &RIGHT);
    CompareJob job = {.case_dir = folder,
                      .dtype = "fp32",
                      .dump = in_folder("dump.safetensors"),
                      .losses = in_folder("loss.csv")};
    FILE *null = fopen("/dev/null", "w");
    write_text(job.losses, "step,loss\n0,2\n1,1.5\n2,1\n");
    assert_true(compare_case(&job, null));
    write_text(job.losses, "step,loss\n0,2\n1,1.5\n");
    assert_false(compare_case(&job, null));
    write_text(job.losses, "step,lr\n0,2\n1,1.5\n2,1\n");
    assert_false(compare_case(&job, null));
    write_text(job.losses, "step,loss\n0,2\n1,1.5\n2\n");
    assert_false(compare_case(&job, null));
    write_text(job.losses, "");
    assert_false(compare_case(&job, null));
    job.losses = NULL;
    assert_true(compare_case(&job, null));
    job.dump = "/nonexistent";
    assert_false(compare_case(&job, null));
    fclose(null);
}

/* Writes the other tensors of an image model's reference: bytes, and figures before and after. */
static void write_images(const char *path, const uint8_t pixels[2], const double top1[2])
{
    char error[256];
    const int64_t two[2] = {2, 1};
    StWriter *w = st_create(path);
    st_declare(w, "heldout.loss", ST_F64, 1, two);
    st_declare(w, "heldout.top1", ST_F64, 1, two);
    st_declare(w, "pixels", ST_U8, 1, two);
    st_write(w, (double[]){2, 1}, 16);
    st_write(w, top1, 16);
    st_write(w, pixels, 2);
    if (!st_finish(w, error, sizeof error))
        fail_msg("%s", error);
}

static void test_images(void **state)
{
    (void)state;
    FILE *null = fopen("/dev/null", "w");
    CompareJob job = {.case_dir = folder,
                      .dtype = "fp32",
                      .dump = in_folder("dump.safetensors"),
                      .evaluations = in_folder("eval.csv")};
    write_images(in_folder("expected.safetensors"), (uint8_t[]){7, 8}, (double[]){0.25, 0.5});
    write_images(job.dump, (uint8_t[]){7, 8}, (double[]){0, 0});
    write_text(job.evaluations, "step,loss,top1\n0,2.00001,0.25\n10,1,0.5\n");
    assert_true(compare_case(&job, null));
    write_text(job.evaluations, "step,loss,top1\n0,2.0001,0.25\n10,1,0.5\n");
    assert_false(compare_case(&job, null));
    write_text(job.evaluations, "step,loss,top1\n0,2,0.25\n10,1,0.25\n");
    assert_false(compare_case(&job, null));
    write_text(job.evaluations, "step,loss\n0,2\n10,1\n");
    assert_false(compare_case(&job, null));
    write_text(job.evaluations, "step,loss,top1\n0,2,0.25\n");
    assert_false(compare_case(&job, null));
    job.evaluations = NULL;
    assert_true(compare_case(&job, null));
    write_images(job.dump, (uint8_t[]){7, 9}, (double[]){0, 0});
    assert_false(compare_case(&job, null));
    write_step(in_folder("expected.safetensors"), &RIGHT);
    fclose(null);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_step_passes), cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_wrong_in_kind),     cmocka_unit_test(test_zero_gradient),
        cmocka_unit_test(test_losses_file),      cmocka_unit_test(test_images),
    };
    return cmocka_run_group_tests(tests, make_case, remove_case);
}
