/* The part of NCCL's binary interface that we use, under names of our own, since toolkits do not
 * include nccl.h. The numbers are those of NCCL 2.17 and later; tests compare them with nccl.h
 * where it is installed. */
#ifndef GPUOPT_NCCL_ABI_H
#define GPUOPT_NCCL_ABI_H

#include <cuda.h>
#include <limits.h>
#include <stddef.h>

enum { NCCL_LEAST_VERSION = 21701 };

typedef enum {
    NCCL_OK = 0,
    NCCL_SYSTEM_ERROR = 2,
    NCCL_INVALID_ARGUMENT = 4,
    NCCL_INVALID_USAGE = 5,
    NCCL_REMOTE_ERROR = 6,
    NCCL_IN_PROGRESS = 7
} NcclResult;

typedef enum {
    NCCL_U8 = 1,
    NCCL_I32 = 2,
    NCCL_I64 = 4,
    NCCL_F16 = 6,
    NCCL_F32 = 7,
    NCCL_F64 = 8,
    NCCL_BF16 = 9
} NcclType;

typedef enum { NCCL_SUM = 0 } NcclOp;

typedef struct {
    char bytes[128];
} NcclId;

typedef struct NcclCommOf *NcclComm;

/* As of 2.17.1; later versions supply defaults for the fields that they added. */
typedef struct {
    size_t size;
    unsigned magic, version;
    int blocking;
    int cga_cluster_size, min_ctas, max_ctas;
    const char *net_name;
} NcclConfig;

enum { NCCL_MAGIC = (int)0xcafebeef, NCCL_UNDEFINED = INT_MIN };

/* Configures a communicator whose calls do not block. */
#define NCCL_NON_BLOCKING                                                                          \
    {                                                                                              \
        .size = sizeof(NcclConfig), .magic = (unsigned)NCCL_MAGIC, .version = NCCL_LEAST_VERSION,  \
        .cga_cluster_size = NCCL_UNDEFINED, .min_ctas = NCCL_UNDEFINED, .max_ctas = NCCL_UNDEFINED \
    }

NcclResult ncclGetVersion(int *version);
NcclResult ncclGetUniqueId(NcclId *id);
NcclResult ncclCommInitRankConfig(NcclComm *comm, int ranks, NcclId id, int rank,
                                  NcclConfig *config);
NcclResult ncclCommGetAsyncError(NcclComm comm, NcclResult *error);
NcclResult ncclCommDestroy(NcclComm comm);
const char *ncclGetErrorString(NcclResult result);
const char *ncclGetLastError(NcclComm comm);
NcclResult ncclAllReduce(const void *from, void *to, size_t count, NcclType type, NcclOp op,
                         NcclComm comm, CUstream stream);
/* `count` elements from each rank. */
NcclResult ncclAllGather(const void *from, void *to, size_t count, NcclType type, NcclComm comm,
                         CUstream stream);
/* `count` elements for each rank. */
NcclResult ncclReduceScatter(const void *from, void *to, size_t count, NcclType type, NcclOp op,
                             NcclComm comm, CUstream stream);
NcclResult ncclGroupStart(void);
NcclResult ncclGroupEnd(void);
NcclResult ncclSend(const void *from, size_t count, NcclType type, int peer, NcclComm comm,
                    CUstream stream);
NcclResult ncclRecv(void *to, size_t count, NcclType type, int peer, NcclComm comm,
                    CUstream stream);
NcclResult ncclBroadcast(const void *from, void *to, size_t count, NcclType type, int root,
                         NcclComm comm, CUstream stream);

#endif
