/* A number of four bytes, the highest first. */
#ifndef GPUOPT_BIG_ENDIAN_H
#define GPUOPT_BIG_ENDIAN_H

#include <stdint.h>

static inline uint32_t big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

#endif
