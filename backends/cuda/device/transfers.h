// Copies small pieces of memory by one kernel launch: the device's copy engines take longer to start than such pieces
// take to copy, and several pieces cost no more than one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/cuda/device/device.h"

namespace burn::backends::cuda {

class Transfers {
 public:
  // Addresses are those of whole allocations, or multiples of 16 bytes in them; host memory must be pinned.
  void copy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes);
  void zero(CUdeviceptr to, std::size_t bytes) { copy(to, 0, bytes); }
  // Copies, and zeroes the source.
  void copy_and_zero(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) { copy(to, from | kTaken, bytes); }
  // Clears the word if the mark of a check's report (outcome.h), at `report`, is not 0.
  void clear_if_marked(CUdeviceptr word, CUdeviceptr report) { copy(word, report | kMark, sizeof(std::uint64_t)); }
  // Stores the words, which are passed by value: their memory may be reused before the device has read them.
  void store(CUdeviceptr to, std::span<const std::uint64_t> words);

  bool is_empty() const { return pieces_.empty() && words_.empty(); }
  // Launches everything, in one launch if it fits; does nothing if there is nothing to move.
  Status launch(const Kernel& kernel, CUstream stream) const;

  static const KernelSource& source();

 private:
  static constexpr CUdeviceptr kTaken = 1, kMark = 2;  // flags in addresses, which are multiples of 16

  struct Piece {
    CUdeviceptr to, from;
    std::size_t bytes;
  };
  std::vector<Piece> pieces_;
  std::vector<std::uint64_t> words_;
  CUdeviceptr words_to_ = 0;
};

}  // namespace burn::backends::cuda
