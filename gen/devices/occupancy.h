/* How the blocks of a kernel occupy a device's multiprocessors. */
#ifndef DEVICES_OCCUPANCY_H
#define DEVICES_OCCUPANCY_H

#include "devices/device.h"

/* Bytes of shared memory that a multiprocessor reserves for each block it runs; it has as many more
 * than a block may have (CUDA C++ Programming Guide, compute capabilities 8.x and 9.0). */
enum { RESERVED_SHARED = 1024 };

/* The share of the device's arithmetic that the blocks can use. */
double grid_share(const Device *, Grid);
/* Time in which they draw their bytes, of which the share `dram` comes from device memory. */
Time grid_draw_time(const Device *, Grid, double dram);

#endif
