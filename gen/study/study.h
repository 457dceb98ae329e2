/* Compares runs: what differs between their specs, and between their results.
 *
 * A run is a program's folder: spec.toml and plan.json from the compiler, out/report.json from the
 * program, and out.2, out.3, ... if plan.json asks for repetitions. A study is the folder of a
 * [sweep]: its file `points` has a line per point, with the name of the point's folder and, if the
 * compiler refused the point, "refused". */
#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "plan/plan.h"
#include "spec/sweep.h"
#include "spec/toml.h"

#include <jansson.h>

/* The path of the step after which a run began: above 0 if it was resumed. */
#define FIRST_STEP "first_step"

/* The state of a point whose program has changed since it ran. */
#define RUN_STALE "stale"

typedef struct {
    const char *name;  /* the folder as the user named it, or the point */
    const char *state; /* "finished", "failed", "interrupted" (to be resumed), "not run", "refused"
                          (by the compiler), RUN_STALE */
    const Toml *spec;  /* NULL if there is none */
    json_t **reports;  /* one per repetition */
    int repeats;       /* number of reports; 0 unless finished */
} Run;

/* What a figure covers. Sums over different numbers of steps are not comparable, nor are means over
 * different data. */
typedef enum {
    ONE_STEP,
    WHOLE_RUN,     /* as a peak, or a number of steps */
    IN_WINDOW,     /* a rate in the profiled steps */
    TRAINING_DATA, /* all rows of it */
    HELDOUT_DATA,  /* its size */
    SUM_OF_STEPS,  /* over all trained steps */
    SUM_OF_WINDOW, /* over the profiled steps */
    HELDOUT_MEAN,  /* a mean, over the held-out targets */
    SUMS
} SumOf;

/* A figure of a run. */
typedef struct {
    const char
        *path; /* in report.json: "iteration_ms.median"; or a name, if it is not from there */
    int group; /* figures of a group share a table */
    const char *chart; /* title in a chart, without the unit; NULL: not drawn */
    const char *unit;  /* "" if it has none */
    SumOf sum;
} Figure;

/* Figures of this size, as the loss of a run that diverged, are printed with an exponent, and so
 * are ratios from LARGE_RATIO on. */
#define LARGE_FIGURE 1e15
#define LARGE_RATIO 1e7

/* A figure over the repetitions of a run; NAN: not measured. */
typedef struct {
    double median, least, most;
} Spread;

/* Of a figure that has one value. */
static inline Spread spread_of_one(double value) { return (Spread){value, value, value}; }

/* A line of the comparison. */
typedef struct {
    const Run *run;
    const char **keys;   /* values of the differing keys, as text; "-": no effect here */
    const Toml **values; /* the same in their own types; NULL: no effect here */
    Spread *figures;     /* [Comparison.figure_count] */
    bool uneven[SUMS];   /* over another number of steps or targets than the reference's: no ratios */
    const char *device;  /* its name; NULL: the run has not finished */
} Row;

typedef struct {
    const char *title;  /* the study's name; "" if folders were named */
    const char *device; /* of the finished runs, separated by commas; or "" */
    bool simulated;    /* the runs' device */
    bool predicted;    /* the rows are plans, nothing was run */
    bool points;       /* the rows are points of a study, whose names say what they are */
    const char **keys; /* "adapter.r", ...: the keys in which the runs differ */
    int key_count;
    const Figure *figures;
    int figure_count;
    Row *rows;
    int count;
    int reference; /* the row that ratios refer to: the first finished one; -1: none */
    int repeats;   /* the most of any run */
    int cards;     /* the most of any finished run */
} Comparison;

/* Reads a finished run from the folder of its program or of its results; anything missing is a
 * user_error. */
Run run_read(Arena *, const char *folder);
/* Reads a study's points; a point counts as finished if all of its repetitions have. */
Run *study_read(Arena *, const char *folder, int *count);
bool is_study(Arena *, const char *folder);
void run_free(Run *);
/* Warns if the program's folder has results of another spec, or of this spec with other --set. */
void warn_of_other_results(Arena *, const char *folder, const Spec *);

/* Prints a comparison in some format. */
typedef void (*PrintComparison)(const Comparison *, StrBuf *);
/* For "text" (or NULL), "csv", "json" or "svg"; any other name is a user_error. */
PrintComparison comparison_format(const char *name);

/* Mixing simulated and real runs is a user_error: their times are not comparable. */
Comparison compare_runs(Arena *, const char *title, const Run *runs, int count);
/* Whether two values of a key differ. "-" never does: the key has no effect because another one
 * differs. */
bool values_differ(const char *a, const char *b);
/* Returns the ratio of the median to the reference's; NAN if either is missing, the reference is 0,
 * they are over different numbers of steps or targets, or the reference is a wait of less than what
 * a call takes. */
double figure_ratio(const Comparison *, const Row *, int figure);
/* Whether any row is over another number of steps or targets than the reference. */
bool any_uneven(const Comparison *, SumOf);
/* Whether any run has the figure; whether the repetitions of any run differ in it. */
bool figure_measured(const Comparison *, int figure);
/* Whether the figure is the plan's prediction for a real device. */
bool figure_predicted(const Comparison *, int figure);
bool figure_spreads(const Comparison *, int figure);
/* Returns the figure of that path; -1: there is none. */
int figure_at(const Comparison *, const char *path);
/* Returns the step after which the run began, the last one of its repetitions; 0: at the start. Sums
 * of a run that was resumed cover only its steps since then. */
double resumed_after(const Comparison *, const Row *);
/* "step", "run", "window", "training data" or "held-out data" */
const char *figure_over(const Figure *);

void comparison_text(const Comparison *, StrBuf *);
void comparison_csv(const Comparison *, StrBuf *);
void comparison_json(const Comparison *, StrBuf *);
void comparison_svg(const Comparison *, StrBuf *); /* bars, as a standalone drawing */

/* Prints a line for each row that differs from the reference only in how the model is tuned, and in
 * several tables of that. */
void put_mixed(const Comparison *, StrBuf *);

/* --compare: prints a comparison of runs as `format`. A study's is also written to study.txt, .csv,
 * .json and .svg in its folder. */
void compare_folders(Arena *, const char *const *folders, int count, const char *format);

/* Makes the folder of a study that of a single program, which was written there. Points keep their
 * folders and results. Returns whether it was a study's. */
bool forget_study(Arena *, const char *folder);

/* --scaling: prints the predictions of `plans`, for the experiment `name` on growing numbers of
 * cards, as `format`. */
void scaling_print(Arena *, const char *name, const Plan *const *plans, int count,
                   const char *format);

/* --plan of a [sweep]: predictions for its points. Plans need not outlive predicted_add. */
typedef struct {
    Comparison table;
    const char *things; /* that a step processes: "tokens" */
} Predicted;

Predicted predicted_new(Arena *, const Sweep *);
void predicted_add(Arena *, Predicted *, const SweepPoint *, const Plan *);
/* As text (NULL), "markdown" or a comparison's formats. */
void predicted_print(Arena *, const Predicted *, const char *format);

#endif
