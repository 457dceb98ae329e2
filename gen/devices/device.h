/* A device as the planner sees it: rates, sizes and fixed overheads, read from a TOML file of
 * gen/devices (built into the compiler) or of the user's; and what work costs on it.
 *
 * Units here: FLOP/s, bytes, bytes/s, milliseconds. The files use TFLOP/s, GB/s, MiB and
 * microseconds, as data sheets do. */
#ifndef DEVICES_DEVICE_H
#define DEVICES_DEVICE_H

#include "base/arena.h"
#include "base/diag.h"
#include "graph/graph.h"
#include <stdint.h>

/* What multiplies: fp64 and fp32 as such, fp32 operands rounded to tf32, bf16 and fp16. */
typedef enum { RATE_F64, RATE_F32, RATE_TF32, RATE_F16, RATE_COUNT } Rate;

enum { MAX_NUMBERS = 16 };

typedef struct {
    int count;
    double values[MAX_NUMBERS];
} NumberList;

typedef struct {
    const char *name;  /* of the file: "h100-sxm" */
    const char *title; /* "NVIDIA H100 SXM 80 GB" */
    const char *arch;  /* for nvcc: "sm_90a" */
    int multiprocessors;
    int64_t memory_bytes;            /* as the driver reports it */
    int64_t l2_bytes, l2_kept_bytes; /* all of it; what is read again at l2_rate, whoever reads */
    double peak_flops[RATE_COUNT];   /* of the data sheet, dense: shares of peak refer to it */
    double matmul_flops[RATE_COUNT]; /* of large matrix products */
    double vector_flops[2];          /* of ordinary arithmetic: fp64, fp32 */
    double memory_rate;              /* of device memory, streaming, in bytes/s */
    double l2_rate;                  /* of what is in the L2 cache */
    double host_rate_pinned, host_rate_pageable;
    double kernel_gap_ms;   /* idle between two kernels of a graph */
    double kernel_ms;       /* of a kernel without work: its start and its end */
    /* Idle before a kernel that is launched while the one before ends (programmatic dependent launch);
     * 0: it has none. */
    double programmatic_gap_ms;
    double launch_ms;       /* host time of one launch outside a graph */
    double graph_launch_ms; /* host time of a graph launch */
    /* A large matrix product fills all multiprocessors with tiles; a short inner dimension spends
     * more of its time filling the pipeline: half the rate at k = matmul_half_k. */
    int64_t matmul_tile_m, matmul_tile_n, matmul_half_k;
    double fused_share; /* of that rate, what kernels that multiply among other work reach */
    double wgmma_share; /* the same of those that do so by wgmma; 0: it has none */
    /* Collectives between the cards of a node: bus_rate of 2, 3, … cards, the last of all of them,
     * is what nccl-tests calls so; all_reduce_ms is measured with all of them, by size. */
    NumberList all_reduce_bytes, all_reduce_ms, bus_rate;
    int64_t collective_multiprocessors; /* that a collective holds while it runs */
    /* Between nodes: of one card to its like in another node, in bytes/s, and the time until the first
     * byte comes. */
    double network_rate, network_ms;
    /* Memory of the process besides the arenas. */
    int64_t context_bytes, library_bytes, collective_bytes, graph_node_bytes, module_bytes;
} Device;

/* The device called `name`, or read from it where it is a path (it ends in .toml). Unknown names
 * and malformed files are user errors; `blame` is where the name was written. */
const Device *device_read(Arena *, const char *name, Pos blame);

/* Bytes that operands and results have, and those of them that reach device memory. */
typedef struct {
    double moved, dram;
} Traffic;

/* Time of `count` products C[m,n] = A[m,k] B[k,n] at once. */
double device_matmul_ms(const Device *, Rate, double count, double m, double n, double k, Traffic);
/* Time of a kernel of ordinary arithmetic, in fp64 (RATE_F64) or fp32 (any other); instructions are
 * those of its threads, 0 where they are not known. */
double device_kernel_ms(const Device *, Rate, double flops, double instructions, Traffic);
/* Time of a kernel that multiplies matrices among other work, as attention does. */
double device_fused_ms(const Device *, Rate, double share, double flops, Traffic);

/* Cards of a node, between which collectives are as fast as the file says. */
int device_node_cards(const Device *);
/* Cards that do something together, and how many of them lie in one node. */
typedef struct {
    int cards, in_node;
} Party;
/* Every `stride`th card of a row of them. */
Party device_party(const Device *, int cards, int stride);
/* Time in which they sum `bytes` that each of them holds. */
double device_all_reduce_ms(const Device *, Party, double bytes);
/* Of any kind, `bytes` of all cards' parts. An all_reduce is a reduce_scatter and an all_gather,
 * each half of it; a broadcast passes through every card once, too. */
double device_collective_ms(const Device *, CollectiveKind, Party, double bytes);
/* The share of the multiprocessors that a collective leaves to others. */
double device_share_beside_collective(const Device *);
/* Time of a copy from one card of a node to another. */
double device_peer_copy_ms(const Device *, double bytes);

/* The unit that the program's matrix products run on. */
Rate program_rate(const Program *);
/* Time of one op, alone in its kernel. */
double device_op_ms(const Device *, const Program *, const Op *);

#endif
