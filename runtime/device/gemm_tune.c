/* Choosing cuBLASLt's algorithms by measuring.
 *
 * The library ranks its algorithms by a cost model that errs for unusual shapes. --tune times the
 * first few for each GEMM on the present device and saves the fastest in products.json next to the
 * executable, where later runs find it. An ordinary run never measures, so results are
 * reproducible: the same file gives the same bits on all ranks. */
#include "runtime/device/device.h"
#include "runtime/device/driver.h"
#include "runtime/device/gemm.h"
#include "runtime/device/launch.h"
#include "runtime/files/outfile.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char file_name[] = "products.json";

enum { MOST_CANDIDATES = 16, BLOCKS = 3, LAUNCHES = 10, KEY_SIZE = 256 };
enum { ALGORITHM_BYTES = sizeof(cublasLtMatmulAlgo_t) };

/* ---- timing ---------------------------------------------------------------------------------- */

/* Milliseconds per launch in the fastest block of launches. */
static double time_algorithm(const Rt *rt, int index, const cublasLtMatmulAlgo_t *algorithm,
                             CUevent begin, CUevent end) {
    CUstream stream = rt->streams[rt->stream];
    double best = INFINITY;
    gemm_try(rt, index, algorithm); /* the library loads its kernel at the first launch */
    for (int block = 0; block < BLOCKS; block++) {
        float ms = 0;
        CU(EventRecord, begin, stream);
        for (int i = 0; i < LAUNCHES; i++)
            gemm_try(rt, index, algorithm);
        CU(EventRecord, end, stream);
        rt_finish_stream(rt, rt->stream);
        CU(EventElapsedTime, &ms, begin, end);
        best = fmin(best, (double)ms / LAUNCHES);
    }
    return best;
}

/* Sets the GEMM's algorithm to the fastest and prints the gain. Returns the number of candidates. */
static int tune_one(const Rt *rt, int index, CUevent begin, CUevent end) {
    cublasLtMatmulHeuristicResult_t candidates[MOST_CANDIDATES];
    int count = gemm_candidates(rt, index, candidates, MOST_CANDIDATES), fastest = 0;
    double first = 0, least = INFINITY;
    for (int i = 0; i < count; i++) {
        double ms = time_algorithm(rt, index, &candidates[i].algo, begin, end);
        if (i == 0)
            first = ms;
        if (ms < least) {
            least = ms;
            fastest = i;
        }
    }
    rt->gemms->gemms[index].algorithm = candidates[fastest].algo;
    printf("%-40s %10.1f us %10.1f us   algorithm %d of %d\n", rt->program->gemms[index].name,
           1e3 * first, 1e3 * least, fastest + 1, count);
    fflush(stdout);
    return count;
}

/* ---- products.json --------------------------------------------------------------------------- */

/* Everything that the choice of an algorithm depends on except device and library. */
static void print_key(const Rt *rt, int index, char key[KEY_SIZE]) {
    const RtGemm *row = &rt->program->gemms[index];
    const Gemm *gemm = &rt->gemms->gemms[index];
    snprintf(key, KEY_SIZE, "%s %s %s %s compute %d alpha %g beta %g aligned %u %u %u %u",
             row->name, rt_dtype_name(row->a), rt_dtype_name(row->b), rt_dtype_name(row->c),
             row->compute, row->alpha, row->beta, gemm->alignment[A], gemm->alignment[B],
             gemm->alignment[C], gemm->alignment[BIAS]);
}

/* The opaque bytes of an algorithm, which are valid for the same version of cuBLASLt. */
static void to_hex(const cublasLtMatmulAlgo_t *algorithm, char hex[2 * ALGORITHM_BYTES + 1]) {
    unsigned char bytes[ALGORITHM_BYTES];
    memcpy(bytes, algorithm, sizeof bytes);
    for (int i = 0; i < ALGORITHM_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
}

static bool from_hex(const char *hex, cublasLtMatmulAlgo_t *algorithm) {
    unsigned char bytes[ALGORITHM_BYTES];
    if (!hex || strspn(hex, "0123456789abcdef") != 2 * ALGORITHM_BYTES || hex[2 * ALGORITHM_BYTES])
        return false;
    for (int i = 0; i < ALGORITHM_BYTES; i++) {
        const char digits[] = {hex[2 * i], hex[2 * i + 1], '\0'};
        bytes[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
    memcpy(algorithm, bytes, sizeof bytes);
    return true;
}

static json_t *facts(const Rt *rt) {
    return json_pack("{s:s, s:I, s:I}", "device", rt->device.name, "cublaslt",
                     (json_int_t)rt->device.cublaslt_version, "workspace_bytes",
                     (json_int_t)rt->gemms->workspace_bytes);
}

static void write_file(const Rt *rt) {
    json_t *products = json_object();
    for (int i = 0; i < rt->program->gemm_count; i++) {
        char key[KEY_SIZE], hex[2 * ALGORITHM_BYTES + 1];
        if (!rt->gemms->gemms[i].called)
            continue;
        print_key(rt, i, key);
        to_hex(&rt->gemms->gemms[i].algorithm, hex);
        json_object_set_new(products, key, json_string(hex));
    }
    json_t *root = json_pack("{s:o, s:o}", "measured_on", facts(rt), "products", products);
    char *text = json_dumps(root, JSON_INDENT(2));
    char error[1024];
    if (!outfile_write(rt->options.exe_dir, file_name, text, error, sizeof error))
        rt_fail("%s", error);
    printf("%s/%s: later runs use these algorithms\n", rt->options.exe_dir, file_name);
    free(text);
    json_decref(root);
}

/* Takes the algorithms from the file. Returns NULL, or how the file fails to match this program,
 * device or library. */
static const char *take(Rt *rt, const json_t *root) {
    json_t *now = facts(rt);
    bool same = json_equal(json_object_get(root, "measured_on"), now);
    const json_t *products = json_object_get(root, "products");
    json_decref(now);
    if (!same)
        return "was measured on another device, or with another cuBLASLt or workspace size";
    for (int i = 0; i < rt->program->gemm_count; i++) {
        Gemm *gemm = &rt->gemms->gemms[i];
        char key[KEY_SIZE];
        if (!gemm->called)
            continue;
        print_key(rt, i, key);
        if (!from_hex(json_string_value(json_object_get(products, key)), &gemm->algorithm))
            return "lacks products of this program";
        if (!gemm_allows(rt, i, &gemm->algorithm))
            return "has algorithms that cuBLASLt does not accept";
    }
    return NULL;
}

bool gemms_read_tuned(Rt *rt) {
    char path[RT_MAX_PATH + sizeof file_name + 1];
    json_error_t reason = {.text = "is not a regular file"};
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", rt->options.exe_dir, file_name);
    if (stat(path, &info) != 0)
        return false;
    json_t *root = S_ISREG(info.st_mode) ? json_load_file(path, JSON_REJECT_DUPLICATES, &reason) : NULL;
    const char *problem = root ? take(rt, root) : reason.text;
    json_decref(root);
    if (problem && rt->rank == 0 && rt->card == 0)
        rt_warn("%s: %s: using cuBLASLt's own choice; run with --tune again, or remove the file",
                path, problem);
    return !problem;
}

void gemms_tune(Rt *rt, bool keep) {
    CUevent begin, end;
    int most = 0;
    char error[1024];
    if (keep && !outfile_check(rt->options.exe_dir, file_name, error, sizeof error))
        rt_fail("%s; remove it, or change the permissions of its folder", error);
    CU(EventCreate, &begin, CU_EVENT_DEFAULT);
    CU(EventCreate, &end, CU_EVENT_DEFAULT);
    if (rt->device.simulated)
        printf("These are times of the simulated device, a CPU; they say nothing about a GPU.\n");
    printf("%-40s %13s %13s\n", "product", "library's", "fastest");
    for (int i = 0; i < rt->program->gemm_count; i++)
        if (rt->gemms->gemms[i].called) {
            int count = tune_one(rt, i, begin, end);
            most = count > most ? count : most;
        }
    if (most == 1)
        printf("cuBLASLt offered one algorithm for each product, so there was nothing to choose\n");
    CU(EventDestroy, begin);
    CU(EventDestroy, end);
    if (keep)
        write_file(rt);
}
