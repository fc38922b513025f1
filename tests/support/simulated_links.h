// The members of a group as threads of one test: streams in memory, with faults on demand.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/collective/links.h"

namespace burn::testing {

// Thread-safe.
class SimulatedGroup {
 public:
  // `capacity`: bytes that may be in flight from one member to another.
  explicit SimulatedGroup(int size, std::size_t capacity = 4096);
  ~SimulatedGroup();  // waits until all links are destroyed, which other threads may still use
  SimulatedGroup(const SimulatedGroup&) = delete;
  SimulatedGroup& operator=(const SimulatedGroup&) = delete;

  std::unique_ptr<backends::Links> links(int rank);  // to be called once per rank
  void vanish(int rank);                             // ends the member, as if its process had ended
  void vanish_after(int rank, std::size_t bytes);    // once it has sent `bytes` more

 private:
  class End;
  struct Pipe {
    std::deque<std::byte> bytes;
    Status said;  // why the receiver ended, as it told the sender
  };
  struct Member {
    Status ended;
    bool is_gone = false;
    std::size_t may_send = ~std::size_t{0};
  };
  Pipe& pipe(int from, int to) {
    return pipes_[static_cast<std::size_t>(from) * static_cast<std::size_t>(size_) + static_cast<std::size_t>(to)];
  }
  Member& member(int rank) { return members_[static_cast<std::size_t>(rank)]; }
  void end(int rank, const Status& why, const Status& told);  // Requires: `mutex_` is locked

  const int size_;
  const std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Pipe> pipes_;
  std::vector<Member> members_;
  int ends_ = 0;  // objects made by links() that still exist
};

}  // namespace burn::testing
