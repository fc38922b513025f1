// Small kernels that runs need besides those of the ops: fills, copies of words, and evaluation of check reports.
#pragma once

#include <vector>

#include "compile/codegen/dialects/kernel_source.h"

namespace burn::backends::vulkan {

enum class SystemKernel : std::uint8_t {
  fill_words,   // to, count: writes zeros, in 32-bit words
  fill_bytes,   // to, count: the same in bytes
  copy_words,   // from, to, count: copies 64-bit words
  clear_marked  // word, report: clears the 64-bit word if the mark of a check's report (gpu/outcome.h) is not 0
};
inline constexpr int kSystemThreads = 64;  // threads per block; each handles one word or byte

// In the order of the enum.
std::vector<compile::KernelSource> system_kernels();

}  // namespace burn::backends::vulkan
