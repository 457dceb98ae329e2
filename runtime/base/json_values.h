/* Numbers in JSON, which knows neither NAN nor infinity: null stands for a figure that is missing. */
#ifndef GPUOPT_JSON_VALUES_H
#define GPUOPT_JSON_VALUES_H

#include <jansson.h>
#include <math.h>

static inline json_t *number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

/* The same of a number without a fraction; an integer of JSON has 64 bits. */
static inline json_t *whole(double value) {
    return fabs(value) < 0x1p63 ? json_integer((json_int_t)value) : number(value);
}

#endif
