// Programs whose commands the driver has seen as a whole: launched with one call instead of one for each kernel.
//
// A graph has the addresses of one run in it. Training steps that update in place meet the same few addresses again and
// again; a run whose addresses come for the second time is captured.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "backends/cuda/driver.h"

namespace burn::backends::cuda {

// Of one stream, and of one thread at a time.
class Graphs {
 public:
  Graphs() = default;
  Graphs(const Graphs&) = delete;
  Graphs& operator=(const Graphs&) = delete;
  ~Graphs() { clear(); }

  // The graph of a program with these addresses; null: there is none.
  CUgraphExec find(std::uint64_t program, std::span<const CUdeviceptr> addresses);
  // Whether find() was asked for just this lately, and in vain.
  bool is_repeated(std::uint64_t program, std::span<const CUdeviceptr> addresses);
  void keep(std::uint64_t program, std::span<const CUdeviceptr> addresses, CUgraphExec graph);
  void clear();

 private:
  static constexpr std::size_t kMostPrograms = 64, kMostOfOne = 4, kMostSeen = 8;

  struct Captured {
    std::vector<CUdeviceptr> addresses;
    CUgraphExec graph;
  };
  struct OfProgram {
    std::vector<Captured> captured;   // used most recently first
    std::vector<std::uint64_t> seen;  // hashes of addresses, the newest last
    std::uint64_t last_use = 0;
  };

  void make_room();

  std::unordered_map<std::uint64_t, OfProgram> programs_;
  std::uint64_t uses_ = 0;
};

}  // namespace burn::backends::cuda
