#include "train/checkpoint/writer.h"

#include <chrono>
#include <exception>
#include <utility>

#include "base/thread.h"

namespace burn::train {

CheckpointWriter::~CheckpointWriter() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void CheckpointWriter::write(Job job) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.size() < kMaxWaiting; });
  waiting_.push_back(std::move(job));
  if (!thread_.joinable()) thread_ = start_thread("burn-checkpoint", [this] { run(); });
  changed_.notify_all();
}

bool CheckpointWriter::is_idle() const {
  const std::lock_guard lock(mutex_);
  return waiting_.empty() && !is_writing_;
}

std::vector<CheckpointWriter::Outcome> CheckpointWriter::take_outcomes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(outcomes_, {});
}

void CheckpointWriter::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() && !is_writing_; });
}

void CheckpointWriter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_over_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::optional<Job> job = std::move(waiting_.front());
    waiting_.pop_front();
    is_writing_ = true;
    changed_.notify_all();
    lock.unlock();
    auto outcome = perform(*job);
    if (job->is_snapshot) outcome.snapshot = std::move(job->checkpoint);
    job.reset();  // releases its data before waiting for the next job
    lock.lock();
    is_writing_ = false;
    outcomes_.push_back(std::move(outcome));
    changed_.notify_all();
  }
}

CheckpointWriter::Outcome CheckpointWriter::perform(const Job& job) const {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto& state = job.checkpoint.state;
  Outcome outcome{.name = name_of(job.kind, state), .kind = job.kind, .epoch = state.epoch, .step = state.steps};
  try {
    store_.drop_later_than(state);
    store_.save(job.kind, job.checkpoint);
    if (job.kind != CheckpointKind::interrupted) store_.keep_within_epochs(job.kept_within_epochs);
    if (job.kept_epochs) store_.keep_only(*job.kept_epochs);
  } catch (const std::exception& error) {
    outcome.failure = error.what();
  } catch (...) {
    outcome.failure = "the checkpointer threw something that is no std::exception";
  }
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return outcome;
}

}  // namespace burn::train
