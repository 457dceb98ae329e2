/* SHA-256, written from FIPS 180-4. */
#include "base/sha256.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 64 };

static const uint32_t INITIAL[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotr(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void expand(uint32_t w[64], const unsigned char chunk[CHUNK]) {
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)chunk[4 * t] << 24 | (uint32_t)chunk[4 * t + 1] << 16 |
               (uint32_t)chunk[4 * t + 2] << 8 | chunk[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
}

/* One round. The eight words of the state change their names from round to round instead of their
 * places: what was a is b in the next. */
static inline void step(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f,
                        uint32_t g, uint32_t *h, uint32_t added) {
    uint32_t s1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25);
    uint32_t s0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22);
    uint32_t t1 = *h + s1 + ((e & f) ^ (~e & g)) + added;
    *d += t1;
    *h = t1 + s0 + ((a & b) ^ (a & c) ^ (b & c));
}

static void compress(uint32_t hash[8], const unsigned char chunk[CHUNK]) {
    uint32_t w[64], a = hash[0], b = hash[1], c = hash[2], d = hash[3], e = hash[4], f = hash[5],
                    g = hash[6], h = hash[7];
    expand(w, chunk);
    for (int t = 0; t < 64; t += 8) {
        step(a, b, c, &d, e, f, g, &h, K[t] + w[t]);
        step(h, a, b, &c, d, e, f, &g, K[t + 1] + w[t + 1]);
        step(g, h, a, &b, c, d, e, &f, K[t + 2] + w[t + 2]);
        step(f, g, h, &a, b, c, d, &e, K[t + 3] + w[t + 3]);
        step(e, f, g, &h, a, b, c, &d, K[t + 4] + w[t + 4]);
        step(d, e, f, &g, h, a, b, &c, K[t + 5] + w[t + 5]);
        step(c, d, e, &f, g, h, a, &b, K[t + 6] + w[t + 6]);
        step(b, c, d, &e, f, g, h, &a, K[t + 7] + w[t + 7]);
    }
    const uint32_t after[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++)
        hash[i] += after[i];
}

/* What follows the last whole chunk: the rest, a 1 bit, zeros, the length in bits. */
static void finish(uint32_t hash[8], const unsigned char *rest, size_t rest_size, uint64_t bits) {
    unsigned char tail[2 * CHUNK] = {0};
    if (rest_size)
        memcpy(tail, rest, rest_size);
    tail[rest_size] = 0x80;
    size_t size = rest_size + 9 <= CHUNK ? CHUNK : 2 * CHUNK;
    for (int i = 0; i < 8; i++)
        tail[size - 1 - (size_t)i] = (unsigned char)(bits >> 8 * i);
    for (size_t at = 0; at < size; at += CHUNK)
        compress(hash, tail + at);
}

void sha256_hex(const void *bytes, size_t size, char hex[SHA256_HEX_SIZE]) {
    const unsigned char *data = bytes;
    uint32_t hash[8];
    memcpy(hash, INITIAL, sizeof hash);
    size_t whole = size / CHUNK * CHUNK;
    for (size_t at = 0; at < whole; at += CHUNK)
        compress(hash, data + at);
    finish(hash, data ? data + whole : data, size - whole, (uint64_t)size * 8);
    for (int i = 0; i < 8; i++)
        snprintf(hex + 8 * i, 9, "%08x", hash[i]);
}
