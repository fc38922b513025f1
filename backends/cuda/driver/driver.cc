#include "backends/cuda/driver/driver.h"

#include <atomic>

#include <fmt/format.h>

#define BURN_STRINGIFY_INNER(text) #text
#define BURN_STRINGIFY(text) BURN_STRINGIFY_INNER(text)  // expands macros of cuda.h first

namespace burn::backends::cuda {
namespace {

Driver table;
std::atomic<std::uint64_t> failed = 0;

Status load() {
  BURN_RETURN_IF_ERROR(driver_library().load());
  if (const auto result = table.cuInit(0); result != CUDA_SUCCESS) {
    const char* text = nullptr;
    table.cuGetErrorString(result, &text);
    return failed_precondition(fmt::format("no CUDA here: the driver does not start ({})", text ? text : "unknown"));
  }
  return {};
}

}  // namespace

SharedLibrary& driver_library() {
#define FN(name) BURN_LIBRARY_FUNCTION(BURN_STRINGIFY(name), table.name),
  static auto& library = *new SharedLibrary({
      .title = "driver",
      .file = "libcuda",
      .releases = {{"libcuda.so.1"}},
      .functions = {BURN_CUDA_DRIVER(FN)},
      .missing = "no CUDA here: the driver is not installed",
      .lacking = "no CUDA here: the driver is too old, it has no",
      .version =
          [] {
            int number = 0;
            return table.cuDriverGetVersion(&number) == CUDA_SUCCESS ? number : 0;
          },
      .written = [](int version) { return fmt::format("{}.{}", version / 1000, version / 10 % 10); },
  });
#undef FN
  return library;
}

Result<const Driver*> load_driver() {
  static const Status loaded = load();
  if (!loaded.ok()) return loaded;
  return &table;
}

const Driver& driver() { return table; }

Status check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return {};
  const char *name = nullptr, *text = nullptr;
  table.cuGetErrorName(result, &name);
  table.cuGetErrorString(result, &text);
  auto message = fmt::format("CUDA: {}: {} ({})", what, text ? text : "unknown error", name ? name : "?");
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return resource_exhausted(std::move(message));
  failed.fetch_add(1, std::memory_order_relaxed);
  return internal_error(std::move(message));
}

std::uint64_t failed_calls() { return failed.load(std::memory_order_relaxed); }

}  // namespace burn::backends::cuda
