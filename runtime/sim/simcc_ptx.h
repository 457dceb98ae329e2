/* simcc's second input language: PTX, which nvcc makes from a kernels.cu, is translated to C++ that
 * calls a function of sim_ptx.h for each instruction. So the code that the host's compiler never
 * sees, inline PTX and what GPUOPT_SIM excludes, runs on the simulated device too.
 */
#ifndef SIMCC_PTX_H
#define SIMCC_PTX_H

#include <stdio.h>

/* Writes the C++ of a module for `ptx`, modifying `ptx`; `flavour` is the name of the SimFlavour.
 * Branch tables are not supported. Returns null, or an error message. */
const char *ptx_to_cpp(char *ptx, const char *flavour, FILE *out);

#endif
