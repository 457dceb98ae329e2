/* The second way into simcc: PTX, the text that nvcc makes of a kernels.cu, becomes C++ that calls a
 * function of sim_ptx.h for each instruction. What the host's compiler never sees of a kernels.cu, its
 * inline PTX and what stands outside GPUOPT_SIM, thus runs on the simulated device too.
 */
#ifndef SIMCC_PTX_H
#define SIMCC_PTX_H

#include <stdio.h>

/* Writes a module's C++ for `ptx`, which it takes apart; `flavour` is the SimFlavour's name. Tables
 * of branches are not translated. Returns null, or what is wrong. */
const char *ptx_to_cpp(char *ptx, const char *flavour, FILE *out);

#endif
