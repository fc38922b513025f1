// Small kernels that runs are made of beside the ops: fills, copies of words, marks of checks.
#pragma once

#include <vector>

#include "compile/codegen/dialects/kernel_source.h"

namespace burn::backends::vulkan {

enum class SystemKernel : std::uint8_t {
  fill_words,   // to, count: zeros in words of 32 bits
  fill_bytes,   // to, count
  copy_words,   // from, to, count: words of 64 bits
  clear_marked  // word, report: makes the word of 64 bits 0 if the mark of a check's report (gpu/outcome.h) is not
};
inline constexpr int kSystemThreads = 64;  // of a block; each does one word or byte

// In the order of the enum.
std::vector<compile::KernelSource> system_kernels();

}  // namespace burn::backends::vulkan
