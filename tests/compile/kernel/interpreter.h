// Runs kernels of the kernel language on the host, slowly and strictly: what a device leaves undefined is an error.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compile/codegen/kernel/kernel.h"

namespace burn::testing {

// The order in which the threads of a grid run, from one barrier to the next.
enum class ThreadOrder { forward, backward, shuffled };

// A thread at a time: between two barriers that order memory.
struct ThreadPlace {
  std::int64_t block = 0, thread = 0;
  int epoch = 0;
  bool operator==(const ThreadPlace&) const = default;
  // Whether accesses by these two are ordered: by one thread, or by a barrier between them.
  bool is_ordered(const ThreadPlace& other) const {
    return block == other.block && (thread == other.thread || epoch != other.epoch);
  }
};

// Host memory that kernels may reach, and what the threads of one launch did there.
class KernelMemory {
 public:
  // Addresses begin .. begin + bytes. `may_race`: several threads may write an element, as reports of errors do.
  void add(const void* begin, std::size_t bytes, bool may_race = false);

  // Throws std::runtime_error: outside, misaligned, or touched by another thread of this launch that wrote, or was
  // written to, in between.
  void check(std::uint64_t address, std::size_t bytes, const ThreadPlace& thread, bool is_write, bool is_atomic);
  // Of a word of 32 bits that has elements of 8 or 16 bits: outside altogether, or misaligned.
  void check_word(std::uint64_t address) const;
  void begin_launch() { touched_.clear(); }

 private:
  struct Region {
    std::size_t bytes;
    bool may_race;
  };
  struct Touched {
    std::vector<ThreadPlace> readers;  // since it was written last; a few of them
    std::vector<ThreadPlace> writers;
    bool is_atomic = false;
  };
  std::map<std::uint64_t, Region> regions_;
  std::map<std::uint64_t, Touched> touched_;
};

struct KernelLaunch {
  std::int64_t blocks = 1, blocks_y = 1;
  std::vector<std::uint64_t> arguments;  // a word for each parameter
  ThreadOrder order = ThreadOrder::forward;
  int subgroup_size = 8;
};

// Throws std::runtime_error where the kernel does what is undefined: reads memory or shared elements that were never
// written, races, barriers that not all threads of a block reach, shifts beyond a type, divisions by 0. `memory` null:
// addresses are not checked.
void interpret(const burn::compile::kernel::Kernel& kernel, const KernelLaunch& launch, KernelMemory* memory);

}  // namespace burn::testing
