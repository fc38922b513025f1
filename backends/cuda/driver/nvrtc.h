// Compiles kernels from text by NVRTC, loaded at run time, with a cache of machine code on disk.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/driver/shared_library.h"
#include "base/status.h"

namespace burn::backends::cuda {

// The headers that kernels may include, under their include names; compiled into this library.
struct Header {
  const char* name;
  const char* text;
};
std::span<const Header> kernel_headers();

SharedLibrary& nvrtc_library();

// Compiles a text for an architecture such as "sm_90", and returns the machine code. Errors: INTERNAL with the
// compiler's messages; those of loading the library. Thread-safe.
Result<std::string> compile_kernel(const std::string& text, const std::string& architecture);

// The same, but looked up in the cache first (BURN_CACHE, by content of text, headers, architecture and compiler).
Result<std::string> cached_kernel(const std::string& text, const std::string& architecture);

}  // namespace burn::backends::cuda
