// NCCL, loaded at run time. Its functions and types are declared here as in nccl.h, which is not part of the CUDA
// toolkit. Tests provide a table of functions of their own.
#pragma once

#include <climits>
#include <cstddef>

#include "backends/cuda/driver/driver.h"
#include "backends/cuda/driver/shared_library.h"

namespace burn::backends::cuda {

struct NcclCommunicator;  // ncclComm
using NcclComm = NcclCommunicator*;

struct NcclId {  // ncclUniqueId, which is passed by value
  char bytes[128];
};

// ncclConfig_t of version 2.14: newer fields take their defaults.
struct NcclConfig {
  std::size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;  // 0: calls return at once with NcclResult::in_progress
};

enum class NcclResult : int { success = 0, invalid_argument = 4, invalid_usage = 5, remote_error = 6, in_progress = 7 };
enum class NcclType : int { i8 = 0, u8 = 1, i32 = 2, u32 = 3, i64 = 4, u64 = 5, f32 = 7, f64 = 8 };
enum class NcclFunction : int { sum = 0, prod = 1, max = 2, min = 3 };

// FN(member, name, parameters): every function that is used. All return NcclResult.
#define BURN_NCCL(FN)                                                                                            \
  FN(get_version, "ncclGetVersion", (int*))                                                                      \
  FN(get_unique_id, "ncclGetUniqueId", (NcclId*))                                                                \
  FN(init_rank, "ncclCommInitRankConfig", (NcclComm*, int, NcclId, int, NcclConfig*))                            \
  FN(get_async_error, "ncclCommGetAsyncError", (NcclComm, NcclResult*))                                          \
  FN(abort, "ncclCommAbort", (NcclComm))                                                                         \
  FN(all_reduce, "ncclAllReduce", (const void*, void*, std::size_t, NcclType, NcclFunction, NcclComm, CUstream)) \
  FN(reduce_scatter, "ncclReduceScatter",                                                                        \
     (const void*, void*, std::size_t, NcclType, NcclFunction, NcclComm, CUstream))                              \
  FN(reduce, "ncclReduce", (const void*, void*, std::size_t, NcclType, NcclFunction, int, NcclComm, CUstream))   \
  FN(all_gather, "ncclAllGather", (const void*, void*, std::size_t, NcclType, NcclComm, CUstream))               \
  FN(broadcast, "ncclBroadcast", (const void*, void*, std::size_t, NcclType, int, NcclComm, CUstream))           \
  FN(send, "ncclSend", (const void*, std::size_t, NcclType, int, NcclComm, CUstream))                            \
  FN(receive, "ncclRecv", (void*, std::size_t, NcclType, int, NcclComm, CUstream))                               \
  FN(group_start, "ncclGroupStart", ())                                                                          \
  FN(group_end, "ncclGroupEnd", ())

struct Nccl {
#define FN(member, name, parameters) NcclResult(*member) parameters = nullptr;
  BURN_NCCL(FN)
#undef FN
  const char* (*error_text)(NcclResult) = nullptr;
};

SharedLibrary& nccl_library();

// Opened at the first call. Errors: UNIMPLEMENTED, naming the library and what is missing.
Result<const Nccl*> nccl();

// Converts a result: ok also if the call is in progress. Errors: UNAVAILABLE for another member that failed, otherwise
// INTERNAL, with NCCL's message.
Status check(const Nccl& library, NcclResult result, const char* what);

}  // namespace burn::backends::cuda
