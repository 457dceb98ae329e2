/* Prints the kernels of programs, compiles them for the simulated device and launches them there,
 * for tests that compare their results in memory and the bytes that they request.
 *
 * Environment: FLAVOUR=release|asan|race; SIM_FOLDER, the built device; SIM_TESTS, the folder for
 * compiled modules, which later runs reuse. Every failure ends the test. */
#ifndef SIM_GENERATED_H
#define SIM_GENERATED_H

#include "sim_test.h"

#include "eval.h"

typedef struct {
    const char *name;
    Plan *plan;
    CUmodule module;
    Memory memory;        /* on the host */
    CUdeviceptr *buffers; /* on the device, by storage id */
} Case;

const char *generated_flavour(void);
/* Plans the launches of the program's entries for a device or, if NULL, any one, with fusion; nothing is
 * placed or predicted. */
Plan *generated_plan(Program *, const Device *);

/* Plans and compiles the program, and allocates memory, which the caller fills; `name` names its
 * files. */
Case case_open(const char *name, Program *, const Device *);
void case_close(Case *);
void case_upload(const Case *, int storage);
void case_download(Case *, int storage);
/* Runs a kernel to its end, or a product on the host, from the host's memory. */
void case_launch(Case *, const Launch *);

/* Runs the named test of this program in a separate process that counts bytes; every kernel of the
 * plan must request the bytes that the plan says. Only the race flavour counts. */
void generated_compare_counts(const char *test, const Plan *);

#endif
