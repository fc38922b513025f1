// Small pieces of memory moved by one launch of a kernel: the device's copy engines take longer to start than such
// pieces take to copy, and several pieces cost no more than one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/cuda/device/device.h"

namespace burn::backends::cuda {

class Transfers {
 public:
  // Addresses are those of whole allocations, or multiples of 16 bytes in them; host memory has to be pinned.
  void copy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes);
  void zero(CUdeviceptr to, std::size_t bytes) { copy(to, 0, bytes); }
  // Copies, and leaves zeros behind.
  void take(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) { copy(to, from | kTaken, bytes); }
  // Makes the word 0 if the mark of a check's report (outcome.h), at `report`, is not.
  void clear_if_marked(CUdeviceptr word, CUdeviceptr report) { copy(word, report | kMark, sizeof(std::uint64_t)); }
  // By value: the words need not lie still until the device has read them.
  void store(CUdeviceptr to, std::span<const std::uint64_t> words);

  bool is_empty() const { return pieces_.empty() && words_.empty(); }
  // In one launch where it fits into one. Nothing where there is nothing to move.
  Status launch(const Kernel& kernel, CUstream stream) const;

  static const KernelSource& source();

 private:
  static constexpr CUdeviceptr kTaken = 1, kMark = 2;  // in an address, which are multiples of 16

  struct Piece {
    CUdeviceptr to, from;
    std::size_t bytes;
  };
  std::vector<Piece> pieces_;
  std::vector<std::uint64_t> words_;
  CUdeviceptr words_to_ = 0;
};

}  // namespace burn::backends::cuda
