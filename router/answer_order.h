// Delivers answers in the order of their questions, whatever the order in which the members of a fleet answer.
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

  // Registers a question and returns its number.
  std::uint64_t add_question();
  // Sets the answer to a question. Calls it as soon as all earlier answers have been called, and then the later ones
  // that waited for it; one at a time, on this thread or on another thread that is inside this function.
  void deliver(std::uint64_t question, Answer answer);
  // Blocks until every question is answered.
  void wait();

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  std::deque<Answer> waiting_;  // answers by question, from first_ on; empty: not answered yet
  std::uint64_t first_ = 0;     // the question whose answer is called next
  bool is_calling_ = false;
};

}  // namespace burn::router
