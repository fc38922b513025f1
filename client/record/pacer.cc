#include "client/record/pacer.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace burn::client {

struct Pacer::Shared {
  std::mutex mutex;
  std::condition_variable came;
  std::uint64_t begun = 0, done = 0;  // steps
  Status failure;
};

Pacer::Pacer(proto::Session& session) : session_(session), shared_(std::make_shared<Shared>()) {}

void Pacer::step() {
  std::unique_lock lock(shared_->mutex);
  const auto step = shared_->begun++;  // so many are before it
  if (step != 0 && step % kMarkEvery == 0) {
    lock.unlock();
    session_.sync([shared = shared_, step](Status status) {
      const std::lock_guard inner(shared->mutex);
      shared->done = std::max(shared->done, step);
      if (shared->failure.ok()) shared->failure = std::move(status);
      shared->came.notify_all();
    });
    lock.lock();
  }
  shared_->came.wait(lock, [&] { return step - shared_->done <= kMostAhead; });
}

Status Pacer::take_failure() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->failure, {});
}

}  // namespace burn::client
