#include "backends/cuda/cudnn_api.h"

#include <algorithm>
#include <array>

#include <dlfcn.h>
#include <fmt/format.h>

namespace burn::backends::cuda {
namespace {

CudnnApi api;

Status load() {
  void* library = nullptr;
  for (const auto* name : {"libcudnn.so.9", "/usr/local/cuda/lib64/libcudnn.so.9"}) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library) break;
  }
  if (!library)
    return failed_precondition(
        fmt::format("CUDA: libcudnn.so.9, which convolves and attends, is not there ({})",
                    // NOLINTNEXTLINE(concurrency-mt-unsafe): glibc keeps one text for each thread
                    dlerror()));
#define FN(name)                                                          \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, #name)); \
  if (!api.name) return failed_precondition("CUDA: libcudnn.so.9 has no " #name);
  BURN_CUDNN(FN)
#undef FN
  return {};
}

// What the library wrote down about the last failure of this thread, on one line.
std::string last_words() {
  std::array<char, 1024> text{};
  api.cudnnGetLastErrorString(text.data(), text.size());
  std::string words(text.data());
  std::ranges::replace(words, '\n', ' ');
  return words;
}

}  // namespace

Status load_cudnn() {
  static const Status loaded = load();
  return loaded;
}

const CudnnApi& cudnn_api() { return api; }

std::size_t cudnn_version() { return api.cudnnGetVersion(); }

std::string cudnn_version_text() {
  const auto number = cudnn_version();
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

Status check_cudnn(cudnnStatus_t status, std::string_view what) {
  if (status == CUDNN_STATUS_SUCCESS) return {};
  auto message = fmt::format("cuDNN {}: {}: {}", cudnn_version_text(), what, api.cudnnGetErrorString(status));
  if (const auto words = last_words(); !words.empty()) message += fmt::format(" ({})", words);
  return CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED ? unimplemented(message) : internal_error(message);
}

CudnnHandle::~CudnnHandle() {
  if (handle) api.cudnnDestroy(handle);
}

}  // namespace burn::backends::cuda
