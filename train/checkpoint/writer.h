// Writes the checkpoints of a training on a background thread while training continues.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "train/checkpoint/checkpoint.h"

namespace burn::train {

// Used by the thread that trains.
class CheckpointWriter {
 public:
  struct Job {
    CheckpointKind kind = CheckpointKind::epoch;
    Checkpoint checkpoint;
    // Clean-up after the write: kept_epochs: epochs whose checkpoints stay; std::nullopt: all. kept_within_epochs: how
    // many of the newest checkpoints within epochs stay.
    std::optional<std::vector<std::int64_t>> kept_epochs;
    std::int64_t kept_within_epochs = 0;
    bool is_snapshot = false;  // its records hold tensors of a device
  };
  // The outcome of a job.
  struct Outcome {
    std::string name;
    CheckpointKind kind = CheckpointKind::epoch;
    std::int64_t epoch = 0, step = 0;
    double seconds = 0;   // duration of the write
    std::string failure;  // empty: success
    // The written checkpoint, if it was a snapshot. While it holds tensors, a step cannot donate them, which makes the
    // step a different program. So the training thread releases it between two steps, not the writer's thread during
    // one.
    std::optional<Checkpoint> snapshot;
  };

  // The thread is started by the first write().
  explicit CheckpointWriter(CheckpointStore store) : store_(std::move(store)) {}
  ~CheckpointWriter();  // writes the remaining jobs
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // How many jobs may wait while one is being written.
  static constexpr std::size_t kMaxWaiting = 1;
  // Returns at once, unless kMaxWaiting jobs are waiting already; then blocks until one of them is started.
  void write(Job job);
  bool is_idle() const;
  std::vector<Outcome> take_outcomes();
  void wait();  // until all jobs are written

 private:
  void run();
  Outcome perform(const Job& job) const;

  const CheckpointStore store_;
  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  std::vector<Outcome> outcomes_;
  bool is_writing_ = false, is_over_ = false;
  std::thread thread_;
};

}  // namespace burn::train
