/* SHA-256 (FIPS 180-4) of bytes in memory, as 64 lower-case hexadecimal digits and a NUL. */
#pragma once
#include <stddef.h>

enum { SHA256_HEX_SIZE = 65 };
void sha256_hex(const void *bytes, size_t size, char hex[SHA256_HEX_SIZE]);
