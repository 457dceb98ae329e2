/* SHA-256 (FIPS 180-4). Of our own, because no library that programs link has it. */
#ifndef GPUOPT_SHA256_H
#define GPUOPT_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BLOCK = 64, SHA256_HEX_SIZE = 65 };

typedef struct {
    uint32_t state[8];
    uint8_t block[SHA256_BLOCK]; /* bytes that do not fill a block yet */
    uint64_t size;               /* of all bytes so far */
} Sha256;

void sha256_begin(Sha256 *sha);
void sha256_add(Sha256 *sha, const void *bytes, size_t size);
/* Writes 64 lower-case hexadecimal digits and a NUL. */
void sha256_end(Sha256 *sha, char hex[SHA256_HEX_SIZE]);

#endif
