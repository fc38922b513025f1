// A worker's counters of the collectives of its sessions' runs, by op, for metrics.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "backends/collective/collective.h"
#include "ir/op.h"

namespace burn::session {

// Thread-safe.
class CollectiveCounters {
 public:
  static constexpr std::array<std::string_view, 4> kOps{"all_reduce", "reduce_scatter", "all_gather", "all_to_all"};

  struct Counts {
    std::uint64_t number = 0, bytes = 0;
    std::chrono::nanoseconds time{0};
  };

  // `op`: one of kOps; others are not counted. `bytes`: of this member's operand.
  void count(const ir::Op& op, std::uint64_t bytes);
  // Adds the time that a collective took, including waiting for other members.
  void count_time(const ir::Op& op, std::chrono::nanoseconds time);

  Counts counts(std::size_t op) const;  // `op`: an index into kOps

 private:
  struct Atomics {
    std::atomic<std::uint64_t> number = 0, bytes = 0;
    std::atomic<std::chrono::nanoseconds::rep> time = 0;
  };
  std::array<Atomics, kOps.size()> by_op_;
};

// The time of one session's collectives, in nanoseconds.
using CollectiveTime = std::atomic<std::chrono::nanoseconds::rep>;

// Wraps `collective` to also count the time of its operations, by op and for its session. `counters` must outlive it.
std::shared_ptr<backends::Collective> make_timed(std::shared_ptr<backends::Collective> collective,
                                                 CollectiveCounters& counters,
                                                 std::shared_ptr<CollectiveTime> of_session);

}  // namespace burn::session
