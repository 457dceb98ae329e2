/* The simulated NCCL, in as many ranks as mpirun starts: sums that are known exactly. With the argument
 * `mismatch` the ranks ask for different things instead, which must be an error of every rank. */
#include "runtime/nccl_abi.h"
#include "sim_test.h"

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000, MANY = 3 << 20, VALUES = 7 };

static int rank, ranks;
static NcclComm comm, other_comm;
static CUstream stream, other_stream;

static NcclComm connect_ranks(void) {
    NcclId id;
    NcclComm made = NULL;
    NcclResult state = NCCL_IN_PROGRESS;
    NcclConfig config = NCCL_NON_BLOCKING;
    if (rank == 0)
        assert_int_equal(ncclGetUniqueId(&id), NCCL_OK);
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    ncclCommInitRankConfig(&made, ranks, id, rank, &config);
    while (state == NCCL_IN_PROGRESS)
        ncclCommGetAsyncError(made, &state);
    assert_int_equal(state, NCCL_OK);
    return made;
}

static int open_all(void **state) {
    (void)state;
    test_context();
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other_stream, CU_STREAM_NON_BLOCKING));
    comm = connect_ranks();
    other_comm = connect_ranks();
    return 0;
}

static int close_all(void **state) {
    (void)state;
    return ncclCommDestroy(comm) != NCCL_OK || ncclCommDestroy(other_comm) != NCCL_OK;
}

static CUdeviceptr put(const void *host, size_t bytes) {
    CUdeviceptr at;
    OK(cuMemAlloc(&at, bytes));
    OK(cuMemcpyHtoD(at, host, bytes));
    return at;
}

static void reduce(CUdeviceptr from, CUdeviceptr to, size_t count, NcclType type, NcclComm in,
                   CUstream on) {
    assert_int_equal(ncclAllReduce((void *)(uintptr_t)from, (void *)(uintptr_t)to, count, type,
                                   NCCL_SUM, in, on),
                     NCCL_OK);
}

/* ---- every type: rank r has (r + 1) * (1 .. VALUES) -------------------------------------------- */

/* Small whole numbers as a 16-bit float with that many bits of exponent. */
static uint16_t small_float(unsigned value, int exponent) {
    const int mantissa = 15 - exponent;
    int e = 0;
    while (value >> (e + 1))
        e++;
    const unsigned fraction = (value << mantissa >> e) & ((1u << mantissa) - 1);
    return (uint16_t)((unsigned)(e + (1 << (exponent - 1)) - 1) << mantissa | fraction);
}

static size_t store(NcclType type, void *to, size_t i, unsigned value) {
    switch (type) {
    case NCCL_U8:
        return ((uint8_t *)to)[i] = (uint8_t)value, 1;
    case NCCL_I32:
        return ((int32_t *)to)[i] = (int32_t)value, 4;
    case NCCL_I64:
        return ((int64_t *)to)[i] = value, 8;
    case NCCL_F16:
        return ((uint16_t *)to)[i] = small_float(value, 5), 2;
    case NCCL_BF16:
        return ((uint16_t *)to)[i] = small_float(value, 8), 2;
    case NCCL_F32:
        return ((float *)to)[i] = (float)value, 4;
    case NCCL_F64:
        return ((double *)to)[i] = value, 8;
    }
    return 0;
}

static void check_type(NcclType type, size_t count, bool in_place) {
    void *mine = malloc(count * 8), *sums = malloc(count * 8);
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const unsigned value = (unsigned)(1 + i % VALUES);
        bytes = count * store(type, mine, i, value * (unsigned)(rank + 1));
        store(type, sums, i, value * (unsigned)(ranks * (ranks + 1) / 2));
    }
    CUdeviceptr from = put(mine, bytes), to = in_place ? from : put(mine, bytes);
    reduce(from, to, count, type, comm, stream);
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH(mine, to, bytes));
    assert_memory_equal(mine, sums, bytes);
    OK(cuMemFree(from));
    if (!in_place)
        OK(cuMemFree(to));
    free(mine);
    free(sums);
}

static void test_every_type(void **state) {
    (void)state;
    const NcclType types[] = {NCCL_U8, NCCL_I32, NCCL_I64, NCCL_F16, NCCL_F32, NCCL_F64, NCCL_BF16};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        check_type(types[i], COUNT, true);
        check_type(types[i], COUNT, false);
        check_type(types[i], 1, true);
    }
}

static void test_many_elements(void **state) {
    (void)state;
    check_type(NCCL_F32, MANY, true);
    check_type(NCCL_F64, MANY / 2 + 1, false);
}

/* ---- the order of the ranks --------------------------------------------------------------------- */

static float unlike(int of_rank, int i) {
    return (float)(of_rank % 2 ? -1 : 1) * (float)(1 << (7 * ((of_rank + i) % 4))) +
           0.1f * (float)i;
}

static void test_order_is_that_of_ranks(void **state) {
    (void)state;
    float mine[COUNT], sums[COUNT];
    for (int i = 0; i < COUNT; i++) {
        mine[i] = unlike(rank, i);
        sums[i] = unlike(0, i);
        for (int r = 1; r < ranks; r++)
            sums[i] += unlike(r, i);
    }
    CUdeviceptr at = put(mine, sizeof mine);
    reduce(at, at, COUNT, NCCL_F32, comm, stream);
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH(mine, at, sizeof mine));
    assert_memory_equal(mine, sums, sizeof sums);
    OK(cuMemFree(at));
}

/* ---- graphs and streams ------------------------------------------------------------------------- */

static void test_graph(void **state) {
    (void)state;
    enum { REPLAYS = 3 };
    int64_t value = 1, expected = 1;
    CUdeviceptr at = put(&value, sizeof value);
    CUgraph graph;
    CUgraphExec exec;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    reduce(at, at, 1, NCCL_I64, comm, stream);
    reduce(at, at, 1, NCCL_I64, comm, stream);
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < REPLAYS; i++) {
        OK(cuGraphLaunch(exec, stream));
        expected *= ranks * ranks;
    }
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH(&value, at, sizeof value));
    assert_int_equal(value, expected);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuMemFree(at));
}

/* Ranks that wait for their streams in different orders must not wait for ever. */
static void test_two_streams(void **state) {
    (void)state;
    int64_t one = 1, found[2];
    CUdeviceptr a = put(&one, sizeof one), b = put(&one, sizeof one);
    reduce(a, a, 1, NCCL_I64, comm, stream);
    reduce(b, b, 1, NCCL_I64, other_comm, other_stream);
    OK(cuStreamSynchronize(rank % 2 ? stream : other_stream));
    OK(cuStreamSynchronize(rank % 2 ? other_stream : stream));
    OK(cuMemcpyDtoH(&found[0], a, sizeof one));
    OK(cuMemcpyDtoH(&found[1], b, sizeof one));
    assert_int_equal(found[0], ranks);
    assert_int_equal(found[1], ranks);
    OK(cuMemFree(a));
    OK(cuMemFree(b));
}

static void test_wrong_arguments(void **state) {
    (void)state;
    int64_t value = 1;
    CUdeviceptr at = put(&value, sizeof value);
    void *place = (void *)(uintptr_t)at;
    NcclResult now;
    assert_int_not_equal(ncclAllReduce(place, place, 1 << 20, NCCL_I64, NCCL_SUM, comm, stream),
                         NCCL_OK);
    assert_int_equal(ncclCommGetAsyncError(comm, &now), NCCL_OK);
    assert_int_equal(now, NCCL_INVALID_ARGUMENT);
    OK(cuMemFree(at));
}

/* ---- ranks that ask for different things ---------------------------------------------------------- */

static void test_mismatch(void **state) {
    (void)state;
    float values[COUNT] = {0};
    NcclResult now;
    CUdeviceptr at = put(values, sizeof values);
    reduce(at, at, rank == 1 ? COUNT - 1 : COUNT, NCCL_F32, comm, stream);
    assert_int_equal(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
    assert_int_equal(ncclCommGetAsyncError(comm, &now), NCCL_OK);
    assert_int_equal(now, NCCL_INVALID_USAGE);
    assert_non_null(strstr(ncclGetLastError(comm), "all-reduces"));
}

static int run_all(int argc) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type),
        cmocka_unit_test(test_many_elements),
        cmocka_unit_test(test_order_is_that_of_ranks),
        cmocka_unit_test(test_graph),
        cmocka_unit_test(test_two_streams),
        cmocka_unit_test(test_wrong_arguments), /* the communicator cannot be used after it */
    };
    const struct CMUnitTest mismatch[] = {cmocka_unit_test(test_mismatch)};
    return argc > 1 ? cmocka_run_group_tests(mismatch, open_all, NULL)
                    : cmocka_run_group_tests(tests, open_all, close_all);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int failed = run_all(argc);
    MPI_Finalize();
    return failed;
}
