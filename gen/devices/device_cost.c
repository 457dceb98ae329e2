/* What work costs on a device: the longer of arithmetic and traffic (the roofline), where matrix
 * products lose the parts of tiles and waves that they leave empty. */
#include "devices/device.h"

#include <math.h>

static double ms_of(double work, double rate) { return 1e3 * work / rate; }

static double traffic_ms(const Device *device, double bytes) {
    return ms_of(bytes, device->memory_rate);
}

/* The share of the rate that a product of this shape can use. */
static double tile_share(const Device *device, double m, double n, double k) {
    double tiles_m = ceil(m / (double)device->matmul_tile_m);
    double tiles_n = ceil(n / (double)device->matmul_tile_n);
    double in_tiles =
        m * n / (tiles_m * tiles_n * (double)(device->matmul_tile_m * device->matmul_tile_n));
    double waves = tiles_m * tiles_n / device->multiprocessors;
    /* The library splits k or takes smaller tiles rather than leave most multiprocessors idle. */
    double in_waves = fmax(waves / ceil(waves), 0.5);
    return fmax(in_tiles, 0.25) * in_waves * k / (k + (double)device->matmul_half_k);
}

double device_matmul_ms(const Device *device, Rate rate, double m, double n, double k,
                        double bytes) {
    double arithmetic =
        ms_of(2 * m * n * k, device->matmul_flops[rate] * tile_share(device, m, n, k));
    return fmax(arithmetic, traffic_ms(device, bytes)) + device->kernel_gap_ms;
}

double device_kernel_ms(const Device *device, Rate rate, double flops, double bytes) {
    double arithmetic = ms_of(flops, device->vector_flops[rate == RATE_F64 ? RATE_F64 : RATE_F32]);
    return fmax(arithmetic, traffic_ms(device, bytes)) + device->kernel_gap_ms;
}

double device_fused_ms(const Device *device, Rate rate, double flops, double bytes) {
    double arithmetic = ms_of(flops, device->matmul_flops[rate] * device->fused_share);
    return fmax(arithmetic, traffic_ms(device, bytes)) + device->kernel_gap_ms;
}
