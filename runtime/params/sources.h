/* The files that initial values of parameters come from. */
#ifndef GPUOPT_SOURCES_H
#define GPUOPT_SOURCES_H

#include "runtime/params/params.h"

struct RtSources {
    const char *model_dir, *adapter_dir; /* NULL: none */
    StFile *model, *adapter;
    void *staging; /* page-locked buffer of one block on its way to the device */
    void *raw;     /* what was read from the file for it, if that must be converted first */
    size_t raw_bytes;
};

#endif
