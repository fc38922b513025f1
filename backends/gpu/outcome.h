// Whether the device could compute what a run asked for. This is known only after the run was enqueued if an op looks
// up indices that only the device sees.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backends/stream.h"

namespace burn::backends {

inline constexpr std::size_t kReportBytes =
    16;  // the report of a check: a number, and a mark that is not 0 if it failed

// What the checks of one run found. Written once, by the thread that completes the stream's runs; read by others after
// is_known().
class Report {
 public:
  // `found`: the memory that the device writes the reports to, kReportBytes for each check.
  explicit Report(std::size_t checks, HostBlockPtr found = nullptr)
      : number_(next_number_++), failures_(checks), found_(std::move(found)) {}

  std::uint64_t number() const { return number_; }  // rises from run to run

  bool is_known() const { return is_known_.load(std::memory_order_acquire); }
  // Null: the check passed. Requires: is_known().
  const Failure& failure(std::size_t check) const { return failures_[check]; }

  std::size_t size() const { return failures_.size(); }  // checks
  void set_failure(std::size_t check, Failure failure) { failures_[check] = std::move(failure); }
  void publish() {
    is_known_.store(true, std::memory_order_release);
    const std::lock_guard lock{mutex_};
    found_ = nullptr;
  }
  // The reports' memory, which the device has written before it executes what is enqueued next; valid for as long as it
  // is held. Null: the report is known.
  HostBlockPtr found() const {
    const std::lock_guard lock{mutex_};
    return found_;
  }

 private:
  static inline constinit std::atomic<std::uint64_t> next_number_ = 0;

  const std::uint64_t number_;
  std::vector<Failure> failures_;
  std::atomic<bool> is_known_ = false;
  mutable std::mutex mutex_;
  HostBlockPtr found_;
};

// The checks that a buffer's content depends on, in the order of the runs.
class Outcome {
 public:
  struct Entry {
    std::shared_ptr<const Report> report;
    std::size_t check = 0;
  };

  explicit Outcome(std::vector<Entry> entries) : entries_(std::move(entries)) {}

  // The first known failure. Null: none is known.
  Failure failure() const {
    for (const auto& entry : entries_) {
      if (entry.report->is_known() && entry.report->failure(entry.check)) return entry.report->failure(entry.check);
    }
    return nullptr;
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  const std::vector<Entry> entries_;
};

// Computes the outcomes of a run's outputs from those of its inputs: outputs that are computed from the same inputs and
// checks share one outcome. While the device is many runs behind, every parameter depends on a check of each of those
// runs.
class OutcomePropagation {
 public:
  using OutcomePtr = std::shared_ptr<const Outcome>;

  // `inputs`: their outcomes, null for an input without one; not used after the constructor. `report`: of the run's own
  // checks; null: it has none.
  OutcomePropagation(std::span<const Outcome* const> inputs, std::shared_ptr<const Report> report);

  // The outcome of an output that is computed from the marked inputs and checks; null: it depends on no open check.
  OutcomePtr of(const std::vector<bool>& inputs, const std::vector<bool>& checks);

 private:
  using Entries = std::vector<Outcome::Entry>;
  struct Known {
    std::vector<bool> sources, checks;
    OutcomePtr outcome;
  };

  Entries entries_of(const std::vector<bool>& sources, const std::vector<bool>& checks) const;

  const std::shared_ptr<const Report> report_;
  std::vector<Entries> sources_;       // the distinct outcomes of the inputs, without checks that have passed
  std::vector<std::ptrdiff_t> which_;  // per input: its index in sources_, or -1
  std::vector<Known> known_;
};

}  // namespace burn::backends
