// CUDA graphs of programs: all commands of a run are launched with one call instead of one call per kernel.
//
// A graph contains addresses. Training steps that update in place use the same addresses again and again, except for a
// few operands, such as a batch that was uploaded or a loss that is still being read: these have other addresses in
// every run. Small operands whose addresses changed lately get slots of their own, which the graph reads and writes
// instead; a run copies to and from the slots.
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>
#include <vector>

#include "backends/cuda/device/transfers.h"
#include "backends/cuda/driver/driver.h"
#include "backends/cuda/driver/memory.h"
#include "backends/cuda/graphs/graph_race.h"
#include "backends/cuda/libraries/nccl_group.h"

namespace burn::backends::cuda {

// The addresses of a run's inputs and outputs, and of the other memory that its commands use.
struct RunMemory {
  struct Operand {
    CUdeviceptr address = 0;  // 0: no command uses it
    std::size_t bytes = 0;
    bool operator==(const Operand&) const = default;
  };
  std::vector<Operand> inputs, outputs;
  CUdeviceptr arena = 0, bindings = 0, failures = 0;
  RunGroups groups;
};

// A graph of a run's commands.
class CapturedRun {
 public:
  CapturedRun() = default;
  CapturedRun(const CapturedRun&) = delete;
  CapturedRun& operator=(const CapturedRun&) = delete;

  // Whether the graph can execute a run with this memory.
  bool fits(const RunMemory& run) const;
  // The memory that the graph is captured with: the run's, with slots for operands whose addresses change.
  const RunMemory& memory() const { return memory_; }
  void add_copies_in(const RunMemory& run, Transfers& before) const;
  void add_copies_out(const RunMemory& run, Transfers& after) const;
  // Frees the slots, once no graph that uses them is needed any more.
  void drop_slots() { slots_ = nullptr; }

 private:
  friend class Graphs;
  RunMemory memory_;  // keeps its groups alive longer than the graph, which NCCL requires

 public:
  GraphRace graph;

 private:
  std::vector<bool> has_slot_;  // inputs, then outputs
  std::vector<int> aliases_;    // per output: the input that it shares memory with, or -1
  CudaBufferPtr slots_;         // null: dropped
};

// Belongs to one stream; used by one thread at a time.
class Graphs {
 public:
  explicit Graphs(StreamMemory& memory) : memory_(memory) {}
  Graphs(const Graphs&) = delete;
  Graphs& operator=(const Graphs&) = delete;

  // The graph for a run with this memory; null: there is none. Records the run's addresses.
  CapturedRun* find(std::uint64_t program, const RunMemory& run);
  // Prepares a graph for the run that find() was called with: the result is to be filled by capturing. Null: not yet,
  // as too much of its memory has changed lately.
  std::unique_ptr<CapturedRun> prepare(std::uint64_t program, const RunMemory& run);
  CapturedRun* keep(std::uint64_t program, std::unique_ptr<CapturedRun> captured);
  void clear() { programs_.clear(); }
  // Destroys the graphs of runs with groups that have ended: NCCL waits for that.
  void forget_ended_groups();

 private:
  static constexpr std::size_t kMaxPrograms = 64, kMaxPerProgram = 4, kMaxSlotBytes = std::size_t{32} << 20,
                               kMaxSlotBytesOfAll = std::size_t{256} << 20;
  // An address that did not change for so many runs is expected to stay.
  static constexpr int kRunsToSettle = 8;

  struct ProgramGraphs {
    std::list<std::unique_ptr<CapturedRun>> captured;  // most recently used first
    RunMemory last;
    std::vector<std::uint8_t> moved;  // per operand, a bit for each of the last runs: whether its address had changed
    std::uint8_t rest_moved = 0;
    int runs_since_capture = 0;
    std::uint64_t last_use = 0;
  };

  ProgramGraphs& of(std::uint64_t program);
  void limit_slot_bytes(std::uint64_t newest);
  static void note(ProgramGraphs& of, const RunMemory& run);

  StreamMemory& memory_;
  std::unordered_map<std::uint64_t, ProgramGraphs> programs_;
  std::uint64_t uses_ = 0;
};

}  // namespace burn::backends::cuda
