/* A device as the planner sees it: rates, sizes and fixed overheads, read from a TOML file in
 * gen/devices (built into the compiler) or from one of the user's; and what work costs on it.
 *
 * Units here: FLOP/s, bytes, bytes/s, milliseconds. The files use TFLOP/s, GB/s, MiB and
 * microseconds, as data sheets do. */
#ifndef DEVICES_DEVICE_H
#define DEVICES_DEVICE_H

#include "base/arena.h"
#include "base/diag.h"
#include "graph/graph.h"
#include <stdint.h>

/* How matrix products are computed: in fp64, in fp32, with fp32 operands rounded to tf32, or in
 * bf16 and fp16, which share a rate. */
typedef enum { RATE_F64, RATE_F32, RATE_TF32, RATE_F16, RATE_COUNT } Rate;

enum { MAX_NUMBERS = 16 };

typedef struct {
    int count;
    double values[MAX_NUMBERS];
} NumberList;

typedef struct {
    const char *name;  /* the file's name: "h100-sxm" */
    const char *title; /* "NVIDIA H100 SXM 80 GB" */
    const char *arch;  /* for nvcc: "sm_90a" */
    int multiprocessors;
    int64_t memory_bytes;            /* all that processes can have: cuDeviceTotalMem */
    int64_t l2_kept_bytes;           /* what any multiprocessor can reread at l2_rate */
    double peak_flops[RATE_COUNT];   /* data sheet, dense; "share of peak" refers to it */
    double matmul_flops[RATE_COUNT]; /* reached by large matrix products */
    double vector_flops[2];          /* ordinary arithmetic: fp64, fp32 */
    double instruction_rate;         /* issued in a second, by all threads */
    double memory_rate;              /* streaming from device memory, in bytes/s */
    double l2_rate;                  /* hits in the L2 cache, in bytes/s */
    double multiprocessor_rate;      /* what one multiprocessor can draw from there, in bytes/s */
    double memory_latency_ms, l2_latency_ms; /* of one access */
    double host_rate_pinned, host_rate_pageable;
    double kernel_gap_ms;   /* idle between two kernels of a graph */
    double kernel_ms;       /* an empty kernel: its start and its end */
    double product_ms;      /* the same of a matrix product of the library */
    /* Idle before a kernel that is launched while its predecessor ends (programmatic dependent
     * launch); 0: the device has no such launches. */
    double programmatic_gap_ms;
    double launch_ms;       /* host time of one launch outside a graph */
    double graph_launch_ms; /* host time of a graph launch */
    /* A large matrix product fills all multiprocessors with tiles. The shorter its inner dimension,
     * the more of its time goes into filling the pipeline: half the rate at k = matmul_half_k. */
    int64_t matmul_tile_m, matmul_tile_n, matmul_half_k;
    double fused_share; /* of matmul_flops: reached by kernels that multiply among other work */
    double wgmma_share; /* the same for kernels that multiply by wgmma; 0: no wgmma */
    /* Collectives between the cards of a node. bus_rate[i] is the bus bandwidth, as nccl-tests
     * defines it, of i + 2 cards; its last entry is that of the whole node. all_reduce_ms lists the
     * times measured on the whole node, by size. */
    NumberList all_reduce_bytes, all_reduce_ms, bus_rate;
    int64_t collective_multiprocessors; /* that a collective holds while it runs */
    /* Between nodes: bytes/s from a card to its counterpart in another node, and the latency. */
    double network_rate, network_ms;
    /* Memory that the process uses outside the arenas. */
    int64_t context_bytes, library_bytes, collective_bytes, graph_node_bytes, module_bytes;
} Device;

/* Returns the built-in device called `name`, or reads the file if `name` is a path, which ends in
 * .toml. Unknown names and malformed files are user errors, blamed on the position `blame`. */
const Device *device_read(Arena *, const char *name, Pos blame);

/* Shared memory that a block can have; the least of all GPUs if the device is NULL. */
int64_t device_block_shared_bytes(const Device *);

/* Threads, and blocks, that a multiprocessor can run at a time. */
int device_threads(const Device *);
int device_blocks(const Device *);

/* Bytes of operands and results, and how many of them reach device memory. */
typedef struct {
    double moved, dram;
} Traffic;

/* What takes most of a launch's time, where each of these by itself would take a time of its own. */
typedef enum {
    BOUND_LAUNCH,       /* the gap before it, its start and its end */
    BOUND_ARITHMETIC,   /* FLOPs */
    BOUND_INSTRUCTIONS, /* issuing them */
    BOUND_DRAM,         /* bytes to and from device memory */
    BOUND_L2,           /* bytes to and from the L2 cache */
    BOUND_BLOCKS,       /* arithmetic or bytes of so few blocks that most multiprocessors are idle */
    BOUND_LATENCY,      /* waiting for memory: too few bytes are under way */
    BOUND_LINKS,        /* bytes between cards, and waiting for these */
    BOUND_HOST,         /* the host's time to launch it */
    BOUND_COUNT
} Bound;
const char *bound_name(Bound);

typedef struct {
    double ms;
    Bound bound;
} Time;

/* Time of a batch of `count` products C[m,n] = A[m,k] B[k,n] in one launch. */
Time device_matmul_time(const Device *, Rate, double count, double m, double n, double k, Traffic);

/* The blocks of a kernel. */
typedef struct {
    double count; /* 0: not known yet; the kernel counts as one that fills the device */
    int threads;  /* of a block, as the next ones */
    int64_t shared_bytes;
    double under_way; /* bytes that it can await at a time */
    double drawn;     /* bytes that all blocks draw from the L2 cache or device memory */
} Grid;

/* Time of a kernel of ordinary arithmetic, in fp64 (RATE_F64) or fp32 (any other rate). The
 * instructions are the sum over all threads; 0 if unknown. */
Time device_kernel_time(const Device *, Rate, double flops, double instructions, Traffic, Grid);
/* Time of a kernel that multiplies matrices among other work, such as attention. */
Time device_fused_time(const Device *, Rate, double share, double flops, Traffic, Grid);

/* Number of cards in a node; collectives between them are as fast as the device file says. */
int device_node_cards(const Device *);
/* A group of cards that work together, and how many of them are in one node. */
typedef struct {
    int cards, in_node;
} Party;
/* The party of `cards` cards in which neighbours are `stride` cards apart. */
Party device_party(const Device *, int cards, int stride);
/* Time of an all_reduce of `bytes` per card. */
double device_all_reduce_ms(const Device *, Party, double bytes);
/* Time of any collective; `bytes` counts the parts of all cards. An all_reduce is a reduce_scatter
 * plus an all_gather, and each takes half its time; so does a broadcast, which passes through every
 * card once. */
double device_collective_ms(const Device *, CollectiveKind, Party, double bytes);
/* The share of the multiprocessors that a running collective leaves to other kernels. */
double device_share_beside_collective(const Device *);
/* Time of a copy between two cards of a node. */
double device_peer_copy_ms(const Device *, double bytes);

/* The rate at which the program's matrix products run. */
Rate program_rate(const Program *);
/* Time of one op in a kernel of its own. */
double device_op_ms(const Device *, const Program *, const Op *);

#endif
