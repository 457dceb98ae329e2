/* Programs whose kernels are printed, compiled for the simulated device and launched there, for tests that
 * compare what they leave in memory and the bytes that they asked for.
 *
 * Environment: FLAVOUR=release|asan|race, SIM_FOLDER the built device, SIM_TESTS where modules are compiled to
 * and taken from by the runs that follow. Every failure ends the test. */
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
/* What runs in the program's entries, with fusion; nothing is placed or predicted. */
Plan *generated_plan(Program *);

/* The program planned, compiled and with memory, which the caller fills; `name` names its files. */
Case case_open(const char *name, Program *);
void case_close(Case *);
void case_upload(const Case *, int storage);
void case_download(Case *, int storage);
/* Runs a kernel to its end; a product on the host, of what memory has there. */
void case_launch(Case *, const Launch *);

/* Runs the named test of this program in a process of its own that counts; every kernel of the plan must have
 * asked for the bytes that the plan says. For the race flavour, which alone counts. */
void generated_compare_counts(const char *test, const Plan *);

#endif
