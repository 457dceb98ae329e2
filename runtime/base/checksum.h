/* CRC-32 as in zlib and Ethernet (polynomial 0xedb88320), used to detect damaged files. */
#ifndef GPUOPT_CHECKSUM_H
#define GPUOPT_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Extends `crc`, the checksum of the bytes so far (0 at first), by further bytes. */
uint32_t crc32_add(uint32_t crc, const void *bytes, size_t size);

#endif
