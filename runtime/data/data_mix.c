/* Pseudo-random numbers that are the same on every machine. */
#include "runtime/data/data_kind.h"

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014) over both words. */
uint64_t mix64(uint64_t a, uint64_t b) {
    uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A Feistel network permutes [0, 4^half), the smallest such range that holds `count`. A result
 * outside [0, count) is permuted again until it falls inside. So a shuffle needs no memory and no
 * state. */
int64_t permute(int64_t index, int64_t count, uint64_t key) {
    int half = 1;
    while ((uint64_t)1 << (2 * half) < (uint64_t)count)
        half++;
    uint64_t mask = ((uint64_t)1 << half) - 1, x = (uint64_t)index;
    do {
        uint64_t left = x >> half, right = x & mask;
        for (uint64_t round = 0; round < 6; round++) {
            uint64_t mixed = left ^ (mix64(key + round, right) & mask);
            left = right;
            right = mixed;
        }
        x = left << half | right;
    } while (x >= (uint64_t)count);
    return (int64_t)x;
}
