// Whether the device computed what a run was to compute: known later than the run is enqueued, when an op looks up
// indices that only the device sees.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "backends/cuda/memory.h"

namespace burn::backends::cuda {

// What the checks of one run found. Written once, by the thread that answers for the stream; read by others after
// is_known().
class Report {
 public:
  explicit Report(std::size_t checks) : failures_(checks) {}

  bool is_known() const { return is_known_.load(std::memory_order_acquire); }
  // Null: the check found nothing. Requires: is_known().
  const Failure& failure(std::size_t check) const { return failures_[check]; }

  std::size_t size() const { return failures_.size(); }  // checks
  void set_failure(std::size_t check, Failure failure) { failures_[check] = std::move(failure); }
  void publish() { is_known_.store(true, std::memory_order_release); }

 private:
  std::vector<Failure> failures_;
  std::atomic<bool> is_known_ = false;
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

// Why a buffer has not what it should, as far as that is known; null: nothing is.
inline Failure failure_of(const BufferPtr& buffer) {
  const auto& outcome = cuda(buffer).outcome;
  return outcome ? outcome->failure() : nullptr;
}

}  // namespace burn::backends::cuda
