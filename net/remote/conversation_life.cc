// How a conversation goes on over another connection.
#include <algorithm>
#include <random>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/thread.h"
#include "net/dial/connect.h"
#include "net/remote/conversation.h"
#include "net/remote/in_callback.h"
#include "net/remote/printable_status.h"

namespace burn::net {
namespace {

// Pauses between tries to come back: none at first, then ever longer ones, each by chance a little so, that many
// clients of one server do not come at once.
class Backoff {
 public:
  std::chrono::milliseconds next() {
    const auto pause = std::exchange(pause_, std::clamp(pause_ * 2, kShortest, kLongest));
    return std::chrono::milliseconds{
        std::uniform_int_distribution<std::int64_t>{pause.count() / 2, pause.count()}(chance_)};
  }

 private:
  static constexpr std::chrono::milliseconds kShortest{20}, kLongest{2000};
  std::chrono::milliseconds pause_{0};
  std::minstd_rand chance_{std::random_device{}()};
};

std::chrono::milliseconds until(Clock::time_point deadline) {
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()), std::chrono::milliseconds{1});
}

}  // namespace

void Conversation::on_closed(Status said) {
  const InCallback in_callback;
  const Status why = printable(said);
  std::shared_ptr<proto::Channel> channel;  // dropped outside the lock
  {
    const std::lock_guard lock(mutex_);
    channel = std::move(channel_);
    if (!broken_ && (connecting_ || can_resume())) {
      if (std::exchange(welcome_, false)) lost_at_ = Clock::now();
      lost_why_ = why.ok() ? unavailable("the server closed it") : why;
      if (connecting_) lost_why_ = lost(url_, lost_why_.message());
      losses_ += 1;
      changed_.notify_all();
      if (connecting_ || redialling_ || start_redialling()) return;
    }
  }
  end(lost(url_, why.ok() ? "the server closed it" : why.message()));
  channel.reset();
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

// The channel's thread carries the answers of every session: it must not wait for a connection.
bool Conversation::start_redialling() {
  try {
    start_thread("burn-dial", [self = shared_from_this()] { self->redial(); }).detach();
  } catch (const std::system_error&) {
    return false;  // there are no more threads
  }
  return redialling_ = true;
}

void Conversation::redial() {
  const InCallback in_callback;  // of the end
  Backoff backoff;
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto lost_at = lost_at_;
    const auto deadline = lost_at + lease_;
    changed_.wait_until(lock, std::min(Clock::now() + backoff.next(), deadline), [&] { return broken_.has_value(); });
    if (broken_) break;
    lock.unlock();
    const Status tried = try_again(std::min(deadline, Clock::now() + std::chrono::seconds{options_.timeout_seconds}));
    lock.lock();
    if (broken_) break;
    if (welcome_) {
      redialling_ = false;
      changed_.notify_all();
      return;
    }
    if (lost_at_ != lost_at) {  // it went on, and is lost again
      backoff = {};
    } else if (is_gone_for_good(url_, tried)) {
      broken_ = lost_for_good(url_, tried.message() + "; the session ended with its server");
    } else if (Clock::now() >= deadline) {
      broken_ = lost_for_good(url_, fmt::format("{}; the session's lease of {} s is over: {}", lost_why_.message(),
                                                lease_.count(), tried.message()));
    }
    if (broken_) break;
  }
  give_up(lock);
  redialling_ = false;
  changed_.notify_all();
}

// Requires: it is broken.
void Conversation::give_up(std::unique_lock<std::mutex>& lock) {
  if (closing_ && channel_) return;  // which is told so, and says when it has ended
  const Status why = broken_.value_or(ok_status());
  auto channel = std::move(channel_);
  lock.unlock();
  channel.reset();
  end_without_channel(why);
  lock.lock();
}

Status Conversation::try_again(Clock::time_point deadline) {
  std::shared_ptr<proto::Channel> channel;  // dropped outside the lock
  std::uint64_t losses = 0;                 // before this one
  {
    const std::lock_guard lock(mutex_);
    losses = losses_;
    greeting_bytes_ = 0;
    unattached_.clear();
    channel = std::move(channel_);
  }
  channel.reset();  // nothing more comes of an earlier one
  BURN_TRY(channel, dial_(shared_from_this(), until(deadline)));
  std::unique_lock lock(mutex_);
  if (broken_ && !closing_) return *broken_;
  if (losses_ != losses) return lost_why_;
  attach(channel);
  const auto is_over = [&] { return broken_ || losses_ != losses; };
  const bool in_time = changed_.wait_until(lock, deadline, [&] { return welcome_ || is_over(); });
  if (broken_) return *broken_;
  if (losses_ != losses) return lost_why_;
  if (in_time) return {};
  channel_ = nullptr;
  return unavailable(fmt::format("{} does not complete the handshake", url_));
}

}  // namespace burn::net
