/* CRC-32 as in zlib and Ethernet (polynomial 0xedb88320), for finding damaged files. */
#ifndef GPUOPT_CHECKSUM_H
#define GPUOPT_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Of bytes that follow those `crc` is of; 0 to begin with. */
uint32_t crc32_add(uint32_t crc, const void *bytes, size_t size);

#endif
