// Index operands of gather and scatter.
#pragma once

#include <algorithm>
#include <atomic>

#include "backends/cpu/runtime/run.h"

namespace burn::backends::cpu {

// Returns the index as i64, in the same shape. Errors: OUT_OF_RANGE if an element is outside 0 .. size - 1. Elements
// that an expanded view repeats are checked once.
Result<Array> checked_index(Run& run, const Array& index, std::int64_t size);

// For kernels that read an index only once: checks a block at a time, just before the block is used and while it is in
// the nearest cache. If has_failed(), the kernel calls checked_index() for the error.
class UncheckedIndex {
 public:
  explicit UncheckedIndex(std::int64_t size) : last_(size - 1) {}

  static bool takes(const Array& index) { return index.dtype() == ir::DType::i64 && index.is_contiguous(); }

  // Calls body(first, count) for the blocks of positions [0, n) whose indices are all inside. Thread-safe.
  template <typename Body>
  void each_block(std::int64_t n, const std::int64_t* index, const Body& body) {
    constexpr std::int64_t kBlock = 512;
    for (std::int64_t i = 0; i < n; i += kBlock) {
      const auto count = std::min(kBlock, n - i);
      std::int64_t outside = 0;  // negative if one of them is
      for (auto k = i; k < i + count; ++k) outside |= index[k] | (last_ - index[k]);
      if (outside >= 0)
        body(i, count);
      else
        failed_.store(true, std::memory_order_relaxed);
    }
  }
  bool has_failed() const { return failed_; }

 private:
  const std::int64_t last_;
  std::atomic<bool> failed_ = false;
};

}  // namespace burn::backends::cpu
