/* What work costs on a device: arithmetic, instructions and traffic (the roofline). Kernels also
 * pay for multiprocessors that their blocks leave idle, and matrix products for partly filled
 * tiles and waves. Products and templates copy their operands while they multiply, and take the
 * longest of these times; other kernels take more. */
#include "devices/occupancy.h"

#include <math.h>

static double ms_of(double work, double rate) { return 1e3 * work / rate; }

const char *bound_name(Bound bound) {
    static const char *const names[BOUND_COUNT] = {"launch", "arithmetic", "instructions",
                                                   "DRAM",   "L2",         "few blocks",
                                                   "latency", "links",     "host"};
    return names[bound];
}

static Time longer(Time a, Time b) { return b.ms > a.ms ? b : a; }

/* Warps of ordinary kernels wait for what they read before they work on it, and only other warps
 * work meanwhile: where both take as long, the kernel takes 1.3 times that. Squares of errors, as
 * logarithms, are least with exponents from 2.5 to 2.7: 0.53 in all over the 44 ordinary kernels of
 * MobileNet v2, ResNet-50 and Llama 3.2 1B with LoRA that take 20 us or more on an H100, and 0.90 by
 * the longer of the two times alone. 32 of them are within 10 % of the planned time, 43 within 25 %.
 * The kernels: tests/bench/results, check-images and check-llama of 2026-11-28, by CUPTI. */
static const double JOINED = 2.5;

static Time joined(Time a, Time b) {
    Time most = longer(a, b), least = b.ms > a.ms ? a : b;
    if (least.ms > 0)
        most.ms *= pow(1 + pow(least.ms / most.ms, JOINED), 1 / JOINED);
    return most;
}

static Time traffic(const Device *device, Traffic bytes) {
    return longer((Time){ms_of(bytes.dram, device->memory_rate), BOUND_DRAM},
                  (Time){ms_of(bytes.moved, device->l2_rate), BOUND_L2});
}

/* The library splits k where the device file's tiles would leave more than half of the
 * multiprocessors idle, if k is long. Then it needs a second kernel, which adds the parts. So it
 * did on an H100 with all such products of MobileNet v2, Llama 3.2 1B with LoRA and a CNN, and it
 * had 28 such kernels beside the 33 of ResNet-50: all with k from 8192 on. None of up to 2048 were
 * split (tests/bench/results). The limit between them is chosen. */
enum { LONG_K = 4096 };

/* The library picks smaller tiles than the device file's before it uses less than these shares of
 * the elements in its tiles, and of the multiprocessors. Both are chosen. Among the products of
 * Llama 3.2 1B with LoRA only those of 48 columns depend on them: 8192 x 48 x 2048 is planned
 * with 22.0 us and took 18 with its gap on an H100 (tests/bench/results). */
static const double LEAST_IN_TILES = 0.25, LEAST_IN_WAVES = 0.5;

static double matmul_tiles(const Device *device, double m, double n) {
    return ceil(m / (double)device->matmul_tile_m) * ceil(n / (double)device->matmul_tile_n);
}

static bool few_tiles(const Device *device, double count, double m, double n) {
    return 2 * count * matmul_tiles(device, m, n) < device->multiprocessors;
}

static bool splits_k(const Device *device, double count, double m, double n, double k) {
    return k >= LONG_K && few_tiles(device, count, m, n);
}

/* The share of the rate that a batch of `count` products of this shape can reach. */
static double tile_share(const Device *device, double count, double m, double n, double k) {
    double tiles = matmul_tiles(device, m, n);
    double in_tiles = m * n / (tiles * (double)(device->matmul_tile_m * device->matmul_tile_n));
    double waves = count * tiles / device->multiprocessors;
    bool split = splits_k(device, count, m, n, k);
    double in_waves = split ? 1 : fmax(waves / ceil(waves), LEAST_IN_WAVES);
    return fmax(in_tiles, LEAST_IN_TILES) * in_waves * k / (k + (double)device->matmul_half_k);
}

/* Time of a launch that takes this long to do its work, and `own_ms` to start and end. */
static Time launch(const Device *device, double own_ms, Time work) {
    double fixed_ms = device->kernel_gap_ms + own_ms;
    return (Time){fixed_ms + work.ms, fixed_ms > work.ms ? BOUND_LAUNCH : work.bound};
}

Time device_matmul_time(const Device *device, Rate rate, double count, double m, double n, double k,
                        Traffic bytes) {
    double reached = device->matmul_flops[rate] * tile_share(device, count, m, n, k);
    bool split = splits_k(device, count, m, n, k);
    bool few = few_tiles(device, count, m, n) && !split;
    Time arithmetic = {ms_of(2 * count * m * n * k, reached), few ? BOUND_BLOCKS : BOUND_ARITHMETIC};
    double second_ms = split ? device->kernel_gap_ms + device->kernel_ms : 0;
    return launch(device, device->product_ms + second_ms, longer(arithmetic, traffic(device, bytes)));
}

static Time issue(const Device *device, double instructions) {
    return (Time){ms_of(instructions, device->instruction_rate), BOUND_INSTRUCTIONS};
}

/* Blocks that use less than half of the device are what binds their arithmetic. */
static Time on_blocks(const Device *device, Time work, Grid grid) {
    double share = grid_share(device, grid);
    return (Time){work.ms / share, share < 0.5 ? BOUND_BLOCKS : work.bound};
}

static Time memory_time(const Device *device, Traffic bytes, Grid grid) {
    double dram = bytes.moved > 0 ? bytes.dram / bytes.moved : 0;
    return longer(traffic(device, bytes), grid_draw_time(device, grid, dram));
}

Time device_kernel_time(const Device *device, Rate rate, double flops, double instructions,
                        Traffic bytes, Grid grid) {
    double flop_rate = device->vector_flops[rate == RATE_F64 ? RATE_F64 : RATE_F32];
    Time arithmetic = {ms_of(flops, flop_rate), BOUND_ARITHMETIC};
    Time work = on_blocks(device, longer(arithmetic, issue(device, instructions)), grid);
    return launch(device, device->kernel_ms, joined(work, memory_time(device, bytes, grid)));
}

Time device_fused_time(const Device *device, Rate rate, double share, double flops, Traffic bytes,
                       Grid grid) {
    Time arithmetic = {ms_of(flops, device->matmul_flops[rate] * share), BOUND_ARITHMETIC};
    Time work = on_blocks(device, arithmetic, grid);
    return launch(device, device->kernel_ms, longer(work, memory_time(device, bytes, grid)));
}

/* ---- collectives ------------------------------------------------------------------------------ */

int device_node_cards(const Device *device) { return device->bus_rate.count + 1; }

Party device_party(const Device *device, int cards, int stride) {
    int near = device_node_cards(device) / stride;
    near = near < 1 ? 1 : near;
    return (Party){cards, cards < near ? cards : near};
}

/* A ring through several nodes enters and leaves each node through the ports of all its cards. */
static double bus_rate(const Device *device, Party p) {
    double ports = p.cards > p.in_node ? p.in_node * device->network_rate : INFINITY;
    return p.in_node > 1 ? fmin(ports, device->bus_rate.values[p.in_node - 2]) : ports;
}

/* Time on the links: each card sends and receives 2 (n - 1) / n of the bytes. */
static double links_ms(const Device *device, Party p, double bytes) {
    return ms_of(2 * bytes * (p.cards - 1) / p.cards, bus_rate(device, p));
}

/* Latency of going up a tree of nodes and down again. */
static double network_ms(const Device *device, Party p) {
    return 2 * ceil(log2(ceil((double)p.cards / p.in_node))) * device->network_ms;
}

/* The part of measured time i that the links do not explain: start-up, and steps that wait for each
 * other. */
static double overhead_ms(const Device *device, int i) {
    double bytes = device->all_reduce_bytes.values[i];
    Party node = device_party(device, device_node_cards(device), 1);
    return fmax(device->all_reduce_ms.values[i] - links_ms(device, node, bytes), 0);
}

/* Interpolates the overhead between two measured sizes. */
double device_all_reduce_ms(const Device *device, Party party, double bytes) {
    const NumberList *sizes = &device->all_reduce_bytes;
    int above = 0;
    while (above < sizes->count && sizes->values[above] < bytes)
        above++;
    double links = links_ms(device, party, bytes) + network_ms(device, party);
    if (above == 0 || above == sizes->count)
        return links + overhead_ms(device, above ? above - 1 : 0);
    double low = sizes->values[above - 1], share = (bytes - low) / (sizes->values[above] - low);
    return links + (1 - share) * overhead_ms(device, above - 1) +
           share * overhead_ms(device, above);
}

double device_collective_ms(const Device *device, CollectiveKind kind, Party party, double bytes) {
    double ms = device_all_reduce_ms(device, party, bytes);
    return kind == COLLECTIVE_ALL_REDUCE ? ms : ms / 2;
}

double device_share_beside_collective(const Device *device) {
    return 1 - (double)device->collective_multiprocessors / device->multiprocessors;
}

/* A peer copy runs at the bus rate of two cards. */
double device_peer_copy_ms(const Device *device, double bytes) {
    return ms_of(bytes, device->bus_rate.values[0]) + device->kernel_gap_ms;
}
