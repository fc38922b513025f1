#include "client/record/pacer.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace burn::client {

using Clock = std::chrono::steady_clock;

// How far ahead a thread may run follows from two measurements. The round trip is the shortest of the handshake's and
// those of the marks (syncs). The time of a step is measured between marks; it is short if the device waits for the
// client. Then `ahead` increases at the next mark, at most twofold, until the device no longer waits. That is a round
// trip too late for a following loop of shorter steps, so `ahead` covers steps of a quarter of the time (validation,
// compared with training) for two round trips, hence kTrips = 8. While no mark is under way it is unknown what the
// device does, so such a pause (a checkpoint, the end of an epoch) is not counted as a step's time.
//
// A device that is not connected yet is treated as a distant one.
struct Pacer::Shared {
  // The assumed time of a step before one is measured. The session's credit limits the memory of large batches anyway.
  static constexpr std::chrono::milliseconds kLikelyStep{4};
  static constexpr int kTrips = 8;
  static constexpr std::uint64_t kMaxAtFirst = kMaxAheadFarAway / 2;

  void begin(std::chrono::nanoseconds trip);
  void mark(std::uint64_t step, Clock::time_point asked);
  void adapt(std::uint64_t steps, Clock::duration took);

  std::mutex mutex;
  std::condition_variable came;
  std::uint64_t begun = 0, done = 0;  // steps
  std::uint64_t ahead = kMaxAtFirst;
  bool is_measured = false;  // the handshake's round trip is known
  Clock::duration round_trip{0};
  Status failure;

  // The last marks, in a ring buffer: the time since a single one says little, as several may arrive together.
  struct Mark {
    std::uint64_t step = 0;
    Clock::time_point at;
  };
  static constexpr std::size_t kMarks = 4;
  std::array<Mark, kMarks> marks;
  std::size_t count = 0;
};

void Pacer::Shared::begin(std::chrono::nanoseconds trip) {
  is_measured = true;
  round_trip = trip;
  ahead = std::clamp<std::uint64_t>(kMaxAhead + kTrips * trip / kLikelyStep, kMaxAhead, kMaxAtFirst);
}

void Pacer::Shared::mark(std::uint64_t step, Clock::time_point asked) {
  const auto now = Clock::now();
  done = std::max(done, step);
  if (round_trip == Clock::duration::zero()) return;  // in this process
  round_trip = std::min(round_trip, now - asked);
  const Mark first = marks[count % kMarks];
  marks[count % kMarks] = {step, now};
  if (++count > kMarks && step > first.step) adapt(step - first.step, now - first.at);
}

void Pacer::Shared::adapt(std::uint64_t steps, Clock::duration took) {
  const auto a_step = std::max<std::int64_t>(took.count() / static_cast<std::int64_t>(steps), 1);
  const auto in_some_trips = static_cast<std::uint64_t>(kTrips * round_trip.count() / a_step);
  ahead = std::clamp(kMaxAhead + in_some_trips, kMaxAhead, std::min(2 * ahead, kMaxAheadFarAway));
}

Pacer::Pacer(proto::Session& session, RoundTrip round_trip)
    : session_(session), round_trip_(std::move(round_trip)), shared_(std::make_shared<Shared>()) {
  if (const auto trip = round_trip_()) shared_->begin(*trip);
}

void Pacer::step() {
  std::unique_lock lock(shared_->mutex);
  if (!shared_->is_measured) {
    if (const auto trip = round_trip_()) shared_->begin(*trip);
  }
  const auto step = shared_->begun++;  // the number of steps before this one
  if (step != 0 && step % kMarkEvery == 0) {
    if (shared_->done + kMarkEvery == step) shared_->count = 0;  // no mark is under way: a pause
    lock.unlock();
    session_.sync([shared = shared_, step, asked = Clock::now()](Status status) {
      const std::lock_guard inner(shared->mutex);
      shared->mark(step, asked);
      if (shared->failure.ok()) shared->failure = std::move(status);
      shared->came.notify_all();
    });
    lock.lock();
  }
  shared_->came.wait(lock, [&] { return step - shared_->done <= shared_->ahead; });
}

Status Pacer::take_failure() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->failure, {});
}

void Pacer::forget_failure(const Status& reported) {
  const std::lock_guard lock(shared_->mutex);
  auto& failure = shared_->failure;
  if (failure.code() == reported.code() && failure.message() == reported.message()) failure = {};
}

std::uint64_t Pacer::ahead() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->ahead;
}

}  // namespace burn::client
