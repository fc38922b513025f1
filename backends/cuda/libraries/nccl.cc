#include "backends/cuda/libraries/nccl.h"

#include <cstdlib>

#include <fmt/format.h>

namespace burn::backends::cuda {
namespace {

Nccl table;

// Turns off the registration of memory that captured calls use: it needs a handshake with the other members that waits
// until each of them captures, too, but members capture graphs independently.
void choose_settings() {
  ::setenv("NCCL_GRAPH_REGISTER", "0", 0);  // NOLINT(concurrency-mt-unsafe): before the library reads it
}

}  // namespace

SharedLibrary& nccl_library() {
#define FN(member, name, parameters) BURN_LIBRARY_FUNCTION(name, table.member),
  static auto& library = *new SharedLibrary({
      .title = "NCCL",
      .file = "libnccl",
      .releases = {{"libnccl.so.2"}, {"/usr/local/cuda/lib64/libnccl.so.2"}},
      .functions = {BURN_NCCL(FN) BURN_LIBRARY_FUNCTION("ncclGetErrorString", table.error_text)},
      .missing = "CUDA: libnccl, for collectives between GPUs, is not there",
      .lacking = "CUDA: libnccl has no",
      .version =
          [] {
            int number = 0;
            return table.get_version(&number) == NcclResult::success ? number : 0;
          },
      .oldest = 21800,  // the first version with non-blocking calls in graphs
      .written = version_by_ten_thousands,
  });
#undef FN
  return library;
}

Result<const Nccl*> nccl() {
  static const Status loaded = [] {
    choose_settings();
    const auto& status = nccl_library().load();
    return status.ok() ? status : unimplemented(status.message());
  }();
  BURN_RETURN_IF_ERROR(loaded);
  return &table;
}

Status check(const Nccl& library, NcclResult result, const char* what) {
  if (result == NcclResult::success || result == NcclResult::in_progress) return {};
  auto message = fmt::format("NCCL: {}: {} ({})", what, library.error_text(result), static_cast<int>(result));
  return result == NcclResult::remote_error ? unavailable(std::move(message)) : internal_error(std::move(message));
}

}  // namespace burn::backends::cuda
