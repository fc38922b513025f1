#include "router/answer_order.h"

#include <utility>

namespace burn::router {

std::uint64_t AnswerOrder::add_question() {
  const std::lock_guard lock{mutex_};
  waiting_.emplace_back();
  return first_ + waiting_.size() - 1;
}

void AnswerOrder::deliver(std::uint64_t question, Answer answer) {
  std::unique_lock lock{mutex_};
  waiting_[question - first_] = std::move(answer);
  if (is_calling_) return;
  is_calling_ = true;
  while (!waiting_.empty() && waiting_.front()) {
    const auto call = std::move(waiting_.front());
    waiting_.pop_front();
    ++first_;
    lock.unlock();
    call();
    lock.lock();
  }
  is_calling_ = false;
  if (waiting_.empty()) done_.notify_all();
}

void AnswerOrder::wait() {
  std::unique_lock lock{mutex_};
  done_.wait(lock, [&] { return waiting_.empty() && !is_calling_; });
}

}  // namespace burn::router
