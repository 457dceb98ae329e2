#include "runtime/base/sha256.h"

#include <string.h>

#include "runtime/base/big_endian.h"

/* The fractional parts of the square roots of the first 8 primes, and of the cube roots of the first
 * 64. */
static const uint32_t first_state[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotated(uint32_t x, int bits) { return x >> bits | x << (32 - bits); }

/* The message schedule: the block's 16 words, and 48 that follow from them. */
static void schedule(const uint8_t *block, uint32_t w[64]) {
    for (int i = 0; i < 16; i++)
        w[i] = big_endian(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        uint32_t sigma0 = rotated(a, 7) ^ rotated(a, 18) ^ a >> 3;
        uint32_t sigma1 = rotated(b, 17) ^ rotated(b, 19) ^ b >> 10;
        w[i] = w[i - 16] + sigma0 + w[i - 7] + sigma1;
    }
}

static void add_block(uint32_t state[8], const uint8_t *block) {
    uint32_t w[64];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5],
             g = state[6], h = state[7];
    schedule(block, w);
    for (int i = 0; i < 64; i++) {
        uint32_t sum1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
        uint32_t sum0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
        uint32_t next = h + sum1 + ((e & f) ^ (~e & g)) + round_constant[i] + w[i];
        uint32_t first = next + sum0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + next;
        d = c, c = b, b = a, a = first;
    }
    const uint32_t add[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++)
        state[i] += add[i];
}

void sha256_begin(Sha256 *sha) {
    *sha = (Sha256){0};
    memcpy(sha->state, first_state, sizeof first_state);
}

void sha256_add(Sha256 *sha, const void *bytes, size_t size) {
    const uint8_t *from = bytes;
    while (size > 0) {
        size_t used = sha->size % SHA256_BLOCK, room = SHA256_BLOCK - used;
        size_t taken = size < room ? size : room;
        memcpy(sha->block + used, from, taken);
        if (taken == room)
            add_block(sha->state, sha->block);
        from += taken;
        size -= taken;
        sha->size += taken;
    }
}

/* The message ends with a bit that is set, zeros, and its length in bits. */
void sha256_end(Sha256 *sha, char hex[SHA256_HEX_SIZE]) {
    static const uint8_t padding[SHA256_BLOCK] = {0x80};
    static const char digits[] = "0123456789abcdef";
    uint8_t length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(sha->size * 8 >> (56 - 8 * i));
    size_t used = sha->size % SHA256_BLOCK;
    sha256_add(sha, padding, (used < 56 ? 56 : 120) - used);
    sha256_add(sha, length, sizeof length);
    for (int i = 0; i < 64; i++)
        hex[i] = digits[sha->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    hex[64] = '\0';
}
