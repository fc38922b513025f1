#include "serving/preparation.h"

#include <algorithm>
#include <exception>
#include <system_error>

#include "base/fork.h"
#include "base/machine.h"
#include "base/settings.h"
#include "base/thread.h"

namespace burn::serving {
namespace {

std::size_t wanted_threads() {
  constexpr std::uint64_t kMaxThreads = 64;
  if (const auto set = numeric_setting(Setting::plan_threads)) return std::min(*set, kMaxThreads);
  return static_cast<std::size_t>(std::clamp(usable_cores() / 4, 0, 4));
}

}  // namespace

void Preparation::perform() {
  {
    const std::lock_guard lock{mutex_};
    if (state_ != State::waiting) return;
    state_ = State::working;
  }
  std::optional<PreparedProgram> made;
  try {
    made = job_();
  } catch (const std::exception&) {  // the executor repeats the work, and reports the error
    made.reset();
  }
  {
    const std::lock_guard lock{mutex_};
    made_ = std::move(made);
    state_ = State::over;
  }
  is_over_.notify_all();
}

std::optional<PreparedProgram> Preparation::take() {
  std::unique_lock lock{mutex_};
  if (state_ == State::waiting) state_ = State::over;
  is_over_.wait(lock, [&] { return state_ == State::over; });
  job_ = nullptr;
  return std::exchange(made_, std::nullopt);
}

PreparationThreads::PreparationThreads() : PreparationThreads(wanted_threads()) {}

PreparationThreads::PreparationThreads(std::size_t threads) {
  try {
    threads_.reserve(threads);  // push_back() must not throw: destroying a running thread ends the process
    while (threads_.size() < threads) threads_.push_back(start_thread("burn-plan", [this] { work(); }));
  } catch (const std::exception&) {  // the system has no more threads: use fewer
  }
}

PreparationThreads::~PreparationThreads() {
  {
    const std::lock_guard lock{mutex_};
    is_ending_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
}

PreparationThreads& PreparationThreads::instance() {
  // Never destroyed: sessions may end after static objects.
  static auto& instances = *new OnePerProcess<PreparationThreads>;
  return instances.get();
}

PreparationHolder PreparationThreads::prepare(Preparation::Job job) {
  auto preparation = std::make_shared<Preparation>(std::move(job));
  {
    const std::lock_guard lock{mutex_};
    waiting_.push_back(preparation);
  }
  changed_.notify_one();
  return PreparationHolder{std::move(preparation)};
}

void PreparationThreads::work() {
  std::unique_lock lock{mutex_};
  while (true) {
    changed_.wait(lock, [&] { return is_ending_ || !waiting_.empty(); });
    if (is_ending_) return;
    const auto next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    next->perform();
    lock.lock();
  }
}

}  // namespace burn::serving
