/* Signals that ask a run to end. */
#ifndef GPUOPT_SIGNALS_H
#define GPUOPT_SIGNALS_H

void signals_install(void);
int signals_caught(void); /* the signal's number; 0: none */

#endif
