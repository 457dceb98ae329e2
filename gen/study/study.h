/* Comparing runs: what differs between their specs, and what came of it.
 *
 * A run is a program's folder: spec.toml and plan.json as the compiler left them, out/report.json
 * as the program did, and out.2, out.3, ... where plan.json says that it is repeated. A study is the
 * folder of a [sweep]: its file `points` has a line a point, the name of the point's folder and,
 * where the compiler refused it, "refused". */
#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "plan/plan.h"
#include "spec/sweep.h"
#include "spec/toml.h"

#include <jansson.h>

typedef struct {
    const char *name;  /* the folder as the user named it, or the point */
    const char *state; /* "finished", "failed", "interrupted" (to be resumed), "not run", "refused"
                          (by the compiler) */
    const Toml *spec;  /* NULL: there is none */
    json_t **reports;  /* of each repetition */
    int repeats;       /* reports that are there; 0 unless finished */
} Run;

/* Sums have nothing beside those over more steps. */
typedef enum {
    NO_SUM,
    SUM_OF_STEPS,  /* of all that were trained */
    SUM_OF_WINDOW, /* of those that were profiled */
    SUMS
} SumOf;

/* What a run is asked for. */
typedef struct {
    const char
        *path; /* in report.json: "iteration_ms.median"; or a name, where it comes from elsewhere */
    int group; /* figures of one group stand in one table */
    const char *chart; /* its title in a chart; NULL: not drawn */
    SumOf sum;
} Figure;

/* A figure over the repetitions of a run; NAN: not measured. */
typedef struct {
    double median, least, most;
} Spread;

/* One line of the comparison. */
typedef struct {
    const Run *run;
    const char **keys; /* values of the keys that differ, as text; "-": without effect here */
    Spread *figures;   /* [Comparison.figure_count] */
} Row;

typedef struct {
    const char *title;  /* the study's name; "" where folders were named */
    const char *device; /* of the runs that finished; more than one with commas between; or "" */
    bool simulated;
    const char **keys; /* "adapter.r", ...: those in which the runs differ */
    int key_count;
    const Figure *figures;
    int figure_count;
    Row *rows;
    int count;
    int reference; /* the row that ratios refer to: the first that finished; -1: none did */
    int repeats;   /* the most that any run has */
    bool uneven[SUMS]; /* runs differ in how many steps it is of: it has no ratio */
} Comparison;

/* Reads a run that must have finished, from its program's folder or that of its results; anything
 * missing is a user_error. */
Run run_read(Arena *, const char *folder);
/* Reads a study's points, finished (every repetition of them) or not. */
Run *study_read(Arena *, const char *folder, int *count);
bool is_study(Arena *, const char *folder);
void run_free(Run *);
/* Where the program's folder has results that another spec had, or the same with other --set. */
void warn_of_other_results(Arena *, const char *folder, const Spec *);

/* How a comparison is printed. */
typedef void (*PrintComparison)(const Comparison *, StrBuf *);
/* "text" (NULL too), "csv", "json" or "svg"; another is a user_error. */
PrintComparison comparison_format(const char *name);

/* Simulated and real runs side by side are a user_error: their times have nothing in common. */
Comparison compare_runs(Arena *, const char *title, const Run *runs, int count);
/* Of a key in two rows. One that has no effect in either follows another key, which differs itself. */
bool values_differ(const char *a, const char *b);
/* The medians' ratio to the reference's; NAN where either is lacking, the reference is 0, or they are
 * sums over unequal numbers of steps. */
double figure_ratio(const Comparison *, const Row *, int figure);
/* Whether any run has the figure; whether repetitions of any differ in it. */
bool figure_measured(const Comparison *, int figure);
bool figure_spreads(const Comparison *, int figure);

void comparison_text(const Comparison *, StrBuf *);
void comparison_csv(const Comparison *, StrBuf *);
void comparison_json(const Comparison *, StrBuf *);
void comparison_svg(const Comparison *, StrBuf *); /* bars: a drawing that stands alone */

/* A line for each row that differs from the reference in how it is tuned alone, and there in several
 * things. */
void put_mixed(const Comparison *, StrBuf *);

/* --compare: prints the runs' comparison as `format`. A study's goes to study.txt, .csv, .json
 * and .svg in its folder too. */
void compare_folders(Arena *, const char *const *folders, int count, const char *format);

/* --scaling: prints what the plan predicts of the same experiment on growing numbers of cards, `plans`
 * in their order, as `format`. */
void scaling_print(Arena *, const Plan *const *plans, int count, const char *format);

/* --plan of a [sweep]: what the plan predicts of its points, which may be gone when it is printed. */
typedef struct {
    Comparison table;
    const char *things; /* that a step counts: "tokens" */
} Predicted;

Predicted predicted_new(Arena *, const Sweep *);
void predicted_add(Arena *, Predicted *, const SweepPoint *, const Plan *);
/* As text (NULL), as "markdown" or as a comparison's formats. */
void predicted_print(Arena *, const Predicted *, const char *format);

#endif
