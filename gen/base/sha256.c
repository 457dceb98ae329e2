#include "base/sha256.h"

#include <nettle/sha2.h>

void sha256_hex(const void *bytes, size_t size, char hex[SHA256_HEX_SIZE]) {
    static const char digits[] = "0123456789abcdef";
    unsigned char hash[SHA256_DIGEST_SIZE];
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, size, bytes);
    sha256_digest(&context, sizeof hash, hash);
    for (size_t i = 0; i < sizeof hash; i++) {
        hex[2 * i] = digits[hash[i] >> 4];
        hex[2 * i + 1] = digits[hash[i] & 15];
    }
    hex[SHA256_HEX_SIZE - 1] = '\0';
}
