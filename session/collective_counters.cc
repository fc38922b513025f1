#include "session/collective_counters.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace burn::session {
namespace {

using Clock = std::chrono::steady_clock;

std::size_t place_of(const ir::Op& op) {
  return static_cast<std::size_t>(std::ranges::find(CollectiveCounters::kOps, ir::name(op)) -
                                  CollectiveCounters::kOps.begin());
}

class TimedCollective final : public backends::Collective {
 public:
  TimedCollective(std::shared_ptr<backends::Collective> collective, CollectiveCounters& counters,
                  std::shared_ptr<CollectiveTime> of_session)
      : collective_(std::move(collective)), counters_(counters), of_session_(std::move(of_session)) {}

  int rank() const override { return collective_->rank(); }
  int size() const override { return collective_->size(); }
  Status perform(const backends::CollectiveCall& call) override {
    const auto start = Clock::now();
    auto status = collective_->perform(call);
    count(call.op, Clock::now() - start);
    return status;
  }
  std::vector<Status> perform_together(std::span<const backends::CollectiveCall> calls) override {
    const auto start = Clock::now();
    auto done = collective_->perform_together(calls);
    if (!calls.empty()) count(calls.front().op, Clock::now() - start);
    return done;
  }
  backends::CollectiveThread* thread() override { return collective_->thread(); }
  void abort(const Status& why) override { collective_->abort(why); }
  void leave(const Status& why) override { collective_->leave(why); }
  Status health() const override { return collective_->health(); }

 private:
  void count(const ir::Op& op, std::chrono::nanoseconds time) {
    counters_.count_time(op, time);
    of_session_->fetch_add(time.count(), std::memory_order_relaxed);
  }

  const std::shared_ptr<backends::Collective> collective_;
  CollectiveCounters& counters_;
  const std::shared_ptr<CollectiveTime> of_session_;
};

}  // namespace

void CollectiveCounters::count(const ir::Op& op, std::uint64_t bytes) {
  const auto place = place_of(op);
  if (place == kOps.size()) return;
  by_op_[place].number.fetch_add(1, std::memory_order_relaxed);
  by_op_[place].bytes.fetch_add(bytes, std::memory_order_relaxed);
}

void CollectiveCounters::count_time(const ir::Op& op, std::chrono::nanoseconds time) {
  const auto place = place_of(op);
  if (place != kOps.size()) by_op_[place].time.fetch_add(time.count(), std::memory_order_relaxed);
}

CollectiveCounters::Counts CollectiveCounters::counts(std::size_t op) const {
  const auto& atomics = by_op_.at(op);
  return {atomics.number.load(std::memory_order_relaxed), atomics.bytes.load(std::memory_order_relaxed),
          std::chrono::nanoseconds{atomics.time.load(std::memory_order_relaxed)}};
}

std::shared_ptr<backends::Collective> make_timed(std::shared_ptr<backends::Collective> collective,
                                                 CollectiveCounters& counters,
                                                 std::shared_ptr<CollectiveTime> of_session) {
  return std::make_shared<TimedCollective>(std::move(collective), counters, std::move(of_session));
}

}  // namespace burn::session
