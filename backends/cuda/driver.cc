#include "backends/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#define BURN_STRINGIFY_INNER(text) #text
#define BURN_STRINGIFY(text) BURN_STRINGIFY_INNER(text)  // of what cuda.h's macros make of a name: its version

namespace burn::backends::cuda {
namespace {

Driver table;

Status load() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): glibc keeps one text for each thread
  if (!library) return failed_precondition(fmt::format("no CUDA here: the driver is not installed ({})", dlerror()));
#define FN(name)                                                                                 \
  table.name = reinterpret_cast<decltype(table.name)>(dlsym(library, BURN_STRINGIFY(name)));     \
  if (!table.name) {                                                                             \
    return failed_precondition(                                                                  \
        fmt::format("no CUDA here: the driver is too old, it has no {}", BURN_STRINGIFY(name))); \
  }
  BURN_CUDA_DRIVER(FN)
#undef FN
  if (const auto result = table.cuInit(0); result != CUDA_SUCCESS) {
    const char* text = nullptr;
    table.cuGetErrorString(result, &text);
    return failed_precondition(fmt::format("no CUDA here: the driver does not start ({})", text ? text : "unknown"));
  }
  return {};
}

}  // namespace

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
  return internal_error(std::move(message));
}

}  // namespace burn::backends::cuda
