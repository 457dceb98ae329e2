/* Conversions of 16-bit floats on the host, rounding to nearest, ties to even. */
#ifndef SIM_SCALAR_H
#define SIM_SCALAR_H

#include <stdint.h>
#include <string.h>

__extension__ typedef _Float16 Half;

static inline float float_of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t bits_of_float(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float from_half(uint16_t h) {
    Half x;
    memcpy(&x, &h, sizeof x);
    return (float)x;
}

static inline uint16_t to_half(float x) {
    const Half h = (Half)x;
    uint16_t bits;
    memcpy(&bits, &h, sizeof bits);
    return bits;
}

static inline float from_bfloat16(uint16_t b) { return float_of_bits((uint32_t)b << 16); }

static inline uint16_t to_bfloat16(float x) {
    const uint32_t bits = bits_of_float(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return 0x7fff;
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

#endif
