// Kernels from text: NVRTC, found when the program runs, and a cache of what it has made, on disk.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/driver/shared_library.h"
#include "base/status.h"

namespace burn::backends::cuda {

// The headers that kernels may include, under the names they are included by; compiled into this library.
struct Header {
  const char* name;
  const char* text;
};
std::span<const Header> kernel_headers();

SharedLibrary& nvrtc_library();

// The machine code of a text for an architecture such as "sm_90". Errors: INTERNAL with the compiler's complaints;
// those of loading the library. Thread-safe.
Result<std::string> compile_kernel(const std::string& text, const std::string& architecture);

// The same, looked up first in the cache (BURN_CACHE, by content of text, headers, architecture and compiler).
Result<std::string> cached_kernel(const std::string& text, const std::string& architecture);

}  // namespace burn::backends::cuda
