// Whether the device computed what a run was to compute: known later than the run is enqueued, when an op looks up
// indices that only the device sees.
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
    16;  // of what a check finds: a number, and a mark that is not 0 if it failed

// What the checks of one run found. Written once, by the thread that answers for the stream; read by others after
// is_known().
class Report {
 public:
  // `found`: where the device writes what it found, kReportBytes for each check.
  explicit Report(std::size_t checks, HostBlockPtr found = nullptr)
      : number_(next_number_++), failures_(checks), found_(std::move(found)) {}

  std::uint64_t number() const { return number_; }  // rises from run to run

  bool is_known() const { return is_known_.load(std::memory_order_acquire); }
  // Null: the check found nothing. Requires: is_known().
  const Failure& failure(std::size_t check) const { return failures_[check]; }

  std::size_t size() const { return failures_.size(); }  // checks
  void set_failure(std::size_t check, Failure failure) { failures_[check] = std::move(failure); }
  void publish() {
    is_known_.store(true, std::memory_order_release);
    const std::lock_guard lock{mutex_};
    found_ = nullptr;
  }
  // What the device has written by when it does what is enqueued next, for as long as it is held; null: it is known.
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

// The checks that a buffer's content hangs on, in the order of the runs.
class Outcome {
 public:
  struct Entry {
    std::shared_ptr<const Report> report;
    std::size_t check = 0;
  };

  explicit Outcome(std::vector<Entry> entries) : entries_(std::move(entries)) {}

  // The first failure that is known. Null: none is.
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

// What a run's outputs hang on, given what its inputs do: outputs that are computed from the same have one outcome.
// While the device is many runs behind, there is a check of each of them, which every parameter hangs on.
class Inheritance {
 public:
  using OutcomePtr = std::shared_ptr<const Outcome>;

  // `inputs`: their outcomes, null where there is none; not needed later. `report`: of the run's own checks; null: it
  // has none.
  Inheritance(std::span<const Outcome* const> inputs, std::shared_ptr<const Report> report);

  // Of an output that is computed from the inputs and checks that are marked; null: there is nothing to wait for.
  OutcomePtr of(const std::vector<bool>& inputs, const std::vector<bool>& checks);

 private:
  using Entries = std::vector<Outcome::Entry>;
  struct Known {
    std::vector<bool> sources, checks;
    OutcomePtr outcome;
  };

  Entries entries_of(const std::vector<bool>& sources, const std::vector<bool>& checks) const;

  const std::shared_ptr<const Report> report_;
  std::vector<Entries> sources_;       // the different outcomes of the inputs: what is not settled of them
  std::vector<std::ptrdiff_t> which_;  // of each input: which of them is its, or -1
  std::vector<Known> known_;
};

}  // namespace burn::backends
