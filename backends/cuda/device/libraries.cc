#include "backends/cuda/device/libraries.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace burn::backends::cuda {
namespace {

template <typename Library>
Result<Library*> opened(Device& device) {
  if (is_for_compiling(device)) return failed_precondition("there is no GPU");
  // Never destroyed: the driver may already be unloaded when static objects are destroyed.
  static auto& mutex = *new std::mutex;
  static auto& libraries = *new std::map<CUcontext, std::unique_ptr<Library>>;
  const std::lock_guard lock(mutex);
  auto& library = libraries[device.context()];
  if (!library) {
    device.make_current();
    BURN_TRY(library, Library::open());
  }
  return library.get();
}

}  // namespace

Result<Cufft*> cufft_of(Device& device) { return opened<Cufft>(device); }
Result<Solver*> solver_of(Device& device) { return opened<Solver>(device); }

bool can_be_captured(std::span<const Command> commands) {
  return std::ranges::none_of(commands, [](const Command& command) {
    const auto* call = std::get_if<LibraryCall>(&command.what);
    return call && call->target<UncapturedCall>();
  });
}

}  // namespace burn::backends::cuda
