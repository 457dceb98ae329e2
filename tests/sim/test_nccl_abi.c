/* Compares our declarations of NCCL's binary interface with nccl.h, if the toolkit has it. This
 * file is compiled, but never run. */
#define ncclGetVersion our_GetVersion
#define ncclGetUniqueId our_GetUniqueId
#define ncclCommInitRankConfig our_CommInitRankConfig
#define ncclCommGetAsyncError our_CommGetAsyncError
#define ncclCommDestroy our_CommDestroy
#define ncclGetErrorString our_GetErrorString
#define ncclGetLastError our_GetLastError
#define ncclAllReduce our_AllReduce
#define ncclAllGather our_AllGather
#define ncclReduceScatter our_ReduceScatter
#define ncclBroadcast our_Broadcast
#define ncclGroupStart our_GroupStart
#define ncclGroupEnd our_GroupEnd
#define ncclSend our_Send
#define ncclRecv our_Recv
#include "runtime/comm/nccl_abi.h"
#undef ncclGetVersion
#undef ncclGetUniqueId
#undef ncclCommInitRankConfig
#undef ncclCommGetAsyncError
#undef ncclCommDestroy
#undef ncclGetErrorString
#undef ncclGetLastError
#undef ncclAllReduce
#undef ncclAllGather
#undef ncclReduceScatter
#undef ncclBroadcast
#undef ncclGroupStart
#undef ncclGroupEnd
#undef ncclSend
#undef ncclRecv

#include <nccl.h>

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
SAME(NCCL_OK, ncclSuccess);
SAME(NCCL_SYSTEM_ERROR, ncclSystemError);
SAME(NCCL_INVALID_ARGUMENT, ncclInvalidArgument);
SAME(NCCL_INVALID_USAGE, ncclInvalidUsage);
SAME(NCCL_REMOTE_ERROR, ncclRemoteError);
SAME(NCCL_IN_PROGRESS, ncclInProgress);
SAME(NCCL_U8, ncclUint8);
SAME(NCCL_I32, ncclInt32);
SAME(NCCL_I64, ncclInt64);
SAME(NCCL_F16, ncclFloat16);
SAME(NCCL_F32, ncclFloat32);
SAME(NCCL_F64, ncclFloat64);
SAME(NCCL_BF16, ncclBfloat16);
SAME(NCCL_SUM, ncclSum);
SAME(NCCL_UNDEFINED, NCCL_CONFIG_UNDEF_INT);
SAME(NCCL_LEAST_VERSION, NCCL_VERSION(2, 17, 1));
SAME(sizeof(NcclId), sizeof(ncclUniqueId));
SAME(offsetof(NcclConfig, magic), offsetof(ncclConfig_t, magic));
SAME(offsetof(NcclConfig, version), offsetof(ncclConfig_t, version));
SAME(offsetof(NcclConfig, blocking), offsetof(ncclConfig_t, blocking));
SAME(offsetof(NcclConfig, cga_cluster_size), offsetof(ncclConfig_t, cgaClusterSize));
SAME(offsetof(NcclConfig, max_ctas), offsetof(ncclConfig_t, maxCTAs));
SAME(offsetof(NcclConfig, net_name), offsetof(ncclConfig_t, netName));
static const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
unsigned magic(void) { return theirs.magic ^ (unsigned)NCCL_MAGIC; }
