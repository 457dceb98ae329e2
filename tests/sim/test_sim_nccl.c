/* Tests the simulated NCCL with as many ranks as mpirun starts, with sums that are known exactly.
 * With an argument the ranks call different operations, which must be an error on every rank:
 * `mismatch`, sums of different length; `roots`, broadcasts from different ranks. */
#include "runtime/comm/nccl_abi.h"
#include "sim_test.h"

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000, MANY = 3 << 20, VALUES = 7 };

static int rank, ranks;
static NcclComm comm, other_comm;
static CUstream stream, other_stream;

/* Creates a communicator for the ranks of an MPI communicator. */
static NcclComm connect_members(MPI_Comm members) {
    NcclId id;
    NcclComm made = NULL;
    NcclResult state = NCCL_IN_PROGRESS;
    NcclConfig config = NCCL_NON_BLOCKING;
    int place, count;
    MPI_Comm_rank(members, &place);
    MPI_Comm_size(members, &count);
    if (place == 0)
        assert_int_equal(ncclGetUniqueId(&id), NCCL_OK);
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, members);
    ncclCommInitRankConfig(&made, count, id, place, &config);
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
    comm = connect_members(MPI_COMM_WORLD);
    other_comm = connect_members(MPI_COMM_WORLD);
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

/* Converts a small integer to a 16-bit float with the given number of exponent bits. */
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

/* ---- parts: element i of rank r is r * 1000000 + i ---------------------------------------------- */

static int64_t element(int of_rank, size_t i) { return (int64_t)of_rank * 1000000 + (int64_t)i; }

static CUdeviceptr put_elements(size_t count) {
    int64_t *mine = malloc(count * sizeof *mine);
    for (size_t i = 0; i < count; i++)
        mine[i] = element(rank, i);
    CUdeviceptr at = put(mine, count * sizeof *mine);
    free(mine);
    return at;
}

static int64_t *get_elements(CUdeviceptr at, size_t count) {
    int64_t *found = malloc(count * sizeof *found);
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH(found, at, count * sizeof *found));
    OK(cuMemFree(at));
    return found;
}

static void *address(CUdeviceptr at) { return (void *)(uintptr_t)at; }

static void check_all_gather(size_t count) {
    const size_t all = count * (size_t)ranks;
    CUdeviceptr from = put_elements(count), to = put_elements(all);
    assert_int_equal(ncclAllGather(address(from), address(to), count, NCCL_I64, comm, stream),
                     NCCL_OK);
    int64_t *found = get_elements(to, all);
    for (size_t i = 0; i < all; i++)
        assert_int_equal(found[i], element((int)(i / count), i % count));
    free(found);
    OK(cuMemFree(from));
}

static void check_reduce_scatter(size_t count) {
    CUdeviceptr from = put_elements(count * (size_t)ranks), to = put_elements(count);
    assert_int_equal(
        ncclReduceScatter(address(from), address(to), count, NCCL_I64, NCCL_SUM, comm, stream),
        NCCL_OK);
    int64_t *found = get_elements(to, count);
    for (size_t i = 0; i < count; i++) {
        int64_t sum = 0;
        for (int r = 0; r < ranks; r++)
            sum += element(r, (size_t)rank * count + i);
        assert_int_equal(found[i], sum);
    }
    free(found);
    OK(cuMemFree(from));
}

static void check_broadcast(size_t count, int root) {
    CUdeviceptr at = put_elements(count);
    assert_int_equal(
        ncclBroadcast(address(at), address(at), count, NCCL_I64, root, comm, stream), NCCL_OK);
    int64_t *found = get_elements(at, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(found[i], element(root, i));
    free(found);
}

static void test_parts(void **state) {
    (void)state;
    const size_t counts[] = {1, COUNT, MANY / 4 + 1};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        check_all_gather(counts[i]);
        check_reduce_scatter(counts[i]);
        check_broadcast(counts[i], 0);
        check_broadcast(counts[i], ranks - 1);
    }
}

/* Even and odd ranks form separate groups, each in its own order. */
static void test_groups(void **state) {
    (void)state;
    MPI_Comm members;
    int count, sum = 0;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &members);
    MPI_Comm_size(members, &count);
    NcclComm group = connect_members(members);
    for (int r = rank % 2; r < ranks; r += 2)
        sum += r + 1;
    int64_t mine = rank + 1, *found;
    CUdeviceptr at = put(&mine, sizeof mine), all = put_elements((size_t)count);
    assert_int_equal(ncclAllGather(address(at), address(all), 1, NCCL_I64, group, stream), NCCL_OK);
    reduce(at, at, 1, NCCL_I64, group, stream);
    found = get_elements(at, 1);
    assert_int_equal(*found, sum);
    free(found);
    found = get_elements(all, (size_t)count);
    for (int i = 0; i < count; i++)
        assert_int_equal(found[i], rank % 2 + 2 * (count - 1 - i) + 1);
    free(found);
    assert_int_equal(ncclCommDestroy(group), NCCL_OK);
    MPI_Comm_free(&members);
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

/* Ranks that wait for their streams in different orders must not deadlock. */
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

/* ---- ranks that call different operations ----------------------------------------------------- */

static void expect_mismatch(const char *said, const char *also_said) {
    NcclResult now;
    assert_int_equal(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
    assert_int_equal(ncclCommGetAsyncError(comm, &now), NCCL_OK);
    assert_int_equal(now, NCCL_INVALID_USAGE);
    assert_non_null(strstr(ncclGetLastError(comm), said));
    assert_non_null(strstr(ncclGetLastError(comm), also_said));
}

static void test_mismatch(void **state) {
    (void)state;
    float values[COUNT] = {0};
    CUdeviceptr at = put(values, sizeof values);
    reduce(at, at, rank == 1 ? COUNT - 1 : COUNT, NCCL_F32, comm, stream);
    expect_mismatch("all-reduces 999 elements", "all-reduces 1000 elements");
}

static void test_roots(void **state) {
    (void)state;
    float values[COUNT] = {0};
    void *place = (void *)(uintptr_t)put(values, sizeof values);
    assert_int_equal(ncclBroadcast(place, place, COUNT, NCCL_F32, rank, comm, stream), NCCL_OK);
    expect_mismatch("rank 0 broadcasts 1000 elements of type 7 from rank 0",
                    "rank 1 broadcasts 1000 elements of type 7 from rank 1");
}

static int run_all(const char *what) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type),
        cmocka_unit_test(test_many_elements),
        cmocka_unit_test(test_order_is_that_of_ranks),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_graph),
        cmocka_unit_test(test_two_streams),
        cmocka_unit_test(test_wrong_arguments), /* the communicator cannot be used after it */
    };
    const struct CMUnitTest mismatch[] = {cmocka_unit_test(test_mismatch)};
    const struct CMUnitTest roots[] = {cmocka_unit_test(test_roots)};
    if (!what)
        return cmocka_run_group_tests(tests, open_all, close_all);
    return strcmp(what, "roots") ? cmocka_run_group_tests(mismatch, open_all, NULL)
                                 : cmocka_run_group_tests(roots, open_all, NULL);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int failed = run_all(argv[1]);
    MPI_Finalize();
    return failed;
}
