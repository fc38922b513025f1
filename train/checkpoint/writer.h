// Writes the checkpoints of a training on a thread of its own, while training goes on.
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
    // When it is written: the epochs that stay, if any go; of those within epochs the newest so many.
    std::optional<std::vector<std::int64_t>> kept_epochs;
    std::int64_t kept_within_epochs = 0;
    bool is_snapshot = false;  // its records hold tensors of a device
  };
  // What has become of a job.
  struct Outcome {
    std::string name;
    CheckpointKind kind = CheckpointKind::epoch;
    std::int64_t epoch = 0, step = 0;
    double seconds = 0;   // that writing it took
    std::string failure;  // empty: it is written
    // Of a snapshot. What holds its tensors decides which tensors a step gives away, hence which program the step is.
    // So they are let go between two steps, not by the writer's thread in the middle of one.
    std::optional<Checkpoint> snapshot;
  };

  // Starts no thread until there is something to write.
  explicit CheckpointWriter(CheckpointStore store) : store_(std::move(store)) {}
  ~CheckpointWriter();  // writes what is left
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Jobs that may wait while one is written.
  static constexpr std::size_t kMaxWaiting = 1;
  // Returns at once, unless kMaxWaiting wait already.
  void write(Job job);
  bool is_idle() const;
  std::vector<Outcome> take_outcomes();
  void wait();  // until all is written

 private:
  void run();
  Outcome perform(const Job& job) const;

  const CheckpointStore store_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  std::vector<Outcome> outcomes_;
  bool is_writing_ = false, is_over_ = false;
  std::thread thread_;
};

}  // namespace burn::train
