// Answers in the order of their questions, whatever order the members of a fleet give theirs in.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

namespace burn::router {

// Thread-safe.
class AnswerOrder {
 public:
  using Answer = std::function<void()>;

  // A question is asked now: its place in the order.
  std::uint64_t ask();
  // Its answer is there. Calls it, and those behind it that waited for it, once all before are called; one at a time,
  // on this thread or on another one that is in here.
  void give(std::uint64_t question, Answer answer);
  // Until every question is answered.
  void wait();

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  std::deque<Answer> waiting_;  // by question from first_ on; empty where there is none yet
  std::uint64_t first_ = 0;     // the next to be called
  bool is_calling_ = false;
};

}  // namespace burn::router
