/* The files that first values of parameters come from. */
#ifndef GPUOPT_SOURCES_H
#define GPUOPT_SOURCES_H

#include "runtime/params/params.h"

struct RtSources {
    const char *model_dir, *adapter_dir; /* NULL where there are none */
    StFile *model, *adapter;
    void *staging; /* what goes to the device, a block of it */
    void *raw;     /* what was read for that, where it is not as the device has it */
    size_t raw_bytes;
};

#endif
