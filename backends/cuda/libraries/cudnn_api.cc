#include "backends/cuda/libraries/cudnn_api.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace burn::backends::cuda {
namespace {

CudnnApi api;

// The library's message about the last failure of this thread, on one line.
std::string last_words() {
  std::array<char, 1024> text{};
  api.cudnnGetLastErrorString(text.data(), text.size());
  std::string words(text.data());
  std::ranges::replace(words, '\n', ' ');
  return words;
}

}  // namespace

SharedLibrary& cudnn_library() {
#define FN(name) BURN_LIBRARY_FUNCTION(#name, api.name),
  static auto& library = *new SharedLibrary({
      .title = "cuDNN",
      .file = "libcudnn.so.9",
      .releases = {{"libcudnn.so.9"}, {"/usr/local/cuda/lib64/libcudnn.so.9"}},
      .functions = {BURN_CUDNN(FN)},
      .missing = "CUDA: libcudnn.so.9, which convolves and attends, is not there",
      .lacking = "CUDA: libcudnn.so.9 has no",
      .version = [] { return static_cast<int>(api.cudnnGetVersion()); },
      .written = version_by_ten_thousands,
  });
#undef FN
  return library;
}

const CudnnApi& cudnn_api() { return api; }

Status check_cudnn(cudnnStatus_t status, std::string_view what) {
  if (status == CUDNN_STATUS_SUCCESS) return {};
  auto message = fmt::format("cuDNN {}: {}: {}", cudnn_library().version_text(), what, api.cudnnGetErrorString(status));
  if (const auto words = last_words(); !words.empty()) message += fmt::format(" ({})", words);
  return CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED ? unimplemented(message) : internal_error(message);
}

CudnnHandle::~CudnnHandle() {
  if (handle) api.cudnnDestroy(handle);
}

}  // namespace burn::backends::cuda
