// Programs whose commands the driver has seen as a whole: launched with one call instead of one for each kernel.
//
// A graph has addresses in it. Training steps that update in place meet the same addresses again and again, but for a
// few operands, such as a batch that was uploaded or a loss that is still being read: these lie elsewhere in every run.
// Operands that moved lately and are small get slots of their own, which the graph reads and writes instead; a run
// copies to and from them.
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

// The inputs and outputs of a run, and what else its commands use.
struct RunMemory {
  struct Operand {
    CUdeviceptr address = 0;  // 0: none, no command uses it
    std::size_t bytes = 0;
    bool operator==(const Operand&) const = default;
  };
  std::vector<Operand> inputs, outputs;
  CUdeviceptr arena = 0, bindings = 0, failures = 0;
  RunGroups groups;
};

// A run's commands as one graph.
class CapturedRun {
 public:
  CapturedRun() = default;
  CapturedRun(const CapturedRun&) = delete;
  CapturedRun& operator=(const CapturedRun&) = delete;

  // Whether it does what a run with this memory is to do.
  bool fits(const RunMemory& run) const;
  // The memory that the graph is captured with: the run's, with slots for what is moved.
  const RunMemory& memory() const { return memory_; }
  void add_copies_in(const RunMemory& run, Transfers& before) const;
  void add_copies_out(const RunMemory& run, Transfers& after) const;
  // Where no graph is needed any more that reads and writes them.
  void drop_slots() { slots_ = nullptr; }

 private:
  friend class Graphs;
  RunMemory memory_;  // its groups outlive the graph: NCCL waits for that

 public:
  GraphRace graph;

 private:
  std::vector<bool> has_slot_;  // inputs, then outputs
  std::vector<int> aliases_;    // per output: the input in whose memory it is, or -1
  CudaBufferPtr slots_;         // null: dropped
};

// Of one stream, and of one thread at a time.
class Graphs {
 public:
  explicit Graphs(StreamMemory& memory) : memory_(memory) {}
  Graphs(const Graphs&) = delete;
  Graphs& operator=(const Graphs&) = delete;

  // The graph that does such a run; null: there is none. Notes the run.
  CapturedRun* find(std::uint64_t program, const RunMemory& run);
  // Where the run that find() was asked for should be captured: what to fill in the graph of. Null: not yet, as too
  // much of its memory moves.
  std::unique_ptr<CapturedRun> prepare(std::uint64_t program, const RunMemory& run);
  CapturedRun* keep(std::uint64_t program, std::unique_ptr<CapturedRun> captured);
  void clear() { programs_.clear(); }
  // Forgets the graphs of runs with groups that have ended, for which NCCL waits.
  void forget_ended_groups();

 private:
  static constexpr std::size_t kMaxPrograms = 64, kMaxOfOne = 4, kMaxSlotBytes = std::size_t{32} << 20,
                               kMaxSlotBytesOfAll = std::size_t{256} << 20;
  // What has lain still for so many runs is expected to stay.
  static constexpr int kRunsToSettle = 8;

  struct OfProgram {
    std::list<std::unique_ptr<CapturedRun>> captured;  // used most recently first
    RunMemory last;
    std::vector<std::uint8_t> moved;  // per operand, a bit for each of the last runs: whether it had moved
    std::uint8_t rest_moved = 0;
    int runs_since_capture = 0;
    std::uint64_t last_use = 0;
  };

  OfProgram& of(std::uint64_t program);
  void bound_slots(std::uint64_t newest);
  static void note(OfProgram& of, const RunMemory& run);

  StreamMemory& memory_;
  std::unordered_map<std::uint64_t, OfProgram> programs_;
  std::uint64_t uses_ = 0;
};

}  // namespace burn::backends::cuda
