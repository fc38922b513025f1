// How a conversation continues over another connection.
#include <algorithm>
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

std::chrono::milliseconds until(Clock::time_point deadline) {
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()), std::chrono::milliseconds{1});
}

}  // namespace

void Conversation::on_closed(Status said) {
  const InCallback in_callback;
  const Status why = printable(said);
  std::shared_ptr<proto::Channel> channel;  // destroyed outside the lock
  {
    const std::lock_guard lock(mutex_);
    channel = std::move(channel_);
    if (!broken_ && (connecting_ || reconnector_.can_resume())) {
      Status cause = why.ok() ? unavailable("the server closed it") : why;
      if (connecting_) cause = refusal_.value_or(lost(url_, cause.message()));
      reconnector_.lose(std::move(cause), std::exchange(welcome_, false), Clock::now());
      changed_.notify_all();
      if (connecting_ || reconnector_.is_trying() || start_redialling()) return;
    }
    if (!claim_end()) return;
  }
  end(lost(url_, why.ok() ? "the server closed it" : why.message()));
  channel.reset();
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

// --- what the server announces ---------------------------------------------------------------------------------------

std::optional<std::chrono::steady_clock::time_point> Conversation::announced_end() {
  const std::lock_guard lock(mutex_);
  if (!takes_notices_) {
    takes_notices_ = true;
    take_notices();
  }
  return announced_end_;
}

void Conversation::take_notices() {
  const bool is_known = check_known(proto::kVerbOf<proto::TakeNotices>).ok();
  if (takes_notices_ && welcome_ && !broken_ && is_known)
    transmit(proto::encode({0, proto::TakeNotices{}, {}}), proto::Lane::control);
}

Status Conversation::on_notice(const proto::Notice& notice) {
  if (notice.kind != proto::Notice::Kind::draining) return {};  // a kind from a newer version
  const std::lock_guard lock(mutex_);
  announced_end_ = Clock::now() + notice.left;
  return {};
}

// --- another connection ----------------------------------------------------------------------------------------------

// Uses a thread of its own: the channel's thread carries the answers of every session, so it must not wait to connect.
bool Conversation::start_redialling() {
  try {
    start_thread("burn-dial", [self = shared_from_this()] { self->redial(); }).detach();
  } catch (const std::system_error&) {
    return false;  // there are no more threads
  }
  reconnector_.set_trying(true);
  return true;
}

void Conversation::redial() {
  const InCallback in_callback;  // end() runs callbacks on this thread
  std::unique_lock lock(mutex_);
  while (!broken_) {
    changed_.wait_until(lock, reconnector_.next_try(Clock::now()), [&] { return broken_.has_value(); });
    if (broken_) break;
    const auto one_try = Clock::now() + std::chrono::seconds{options_.timeout_seconds};
    const auto deadline = std::min(reconnector_.deadline(), one_try);
    lock.unlock();
    const Status tried = try_again(deadline);
    lock.lock();
    if (broken_) break;
    if (welcome_) {
      reconnector_.set_trying(false);
      changed_.notify_all();
      return;
    }
    if (auto why = reconnector_.judge(url_, tried, Clock::now()); !why.ok()) broken_ = std::move(why);
  }
  give_up(lock);
  reconnector_.set_trying(false);
  changed_.notify_all();
}

// Requires: broken_ is set.
void Conversation::give_up(std::unique_lock<std::mutex>& lock) {
  if (closing_ && channel_) return;  // its on_closed() will call the callbacks
  if (!claim_end()) return;          // on_closed() of the previous channel is calling the callbacks
  const Status why = broken_.value_or(ok_status());
  auto channel = std::move(channel_);
  lock.unlock();
  channel.reset();
  end_without_channel(why);
  lock.lock();
}

Status Conversation::try_again(Clock::time_point deadline) {
  std::shared_ptr<proto::Channel> channel;  // destroyed outside the lock
  std::uint64_t losses = 0;                 // losses before this attempt
  {
    const std::lock_guard lock(mutex_);
    losses = reconnector_.losses();
    handshake_.restart();
    refusal_.reset();
    channel = std::move(channel_);
  }
  channel.reset();  // no more calls from an earlier channel
  BURN_TRY(channel, dial_(shared_from_this(), until(deadline)));
  std::unique_lock lock(mutex_);
  if (broken_ && !closing_) return *broken_;
  if (reconnector_.losses() != losses) return reconnector_.why();
  attach(channel);
  const auto is_over = [&] { return broken_ || reconnector_.losses() != losses; };
  const bool in_time = changed_.wait_until(lock, deadline, [&] { return welcome_ || is_over(); });
  if (broken_) return *broken_;
  if (reconnector_.losses() != losses) return reconnector_.why();
  if (in_time) return {};
  channel_ = nullptr;
  return unavailable(fmt::format("{} does not complete the handshake", url_));
}

}  // namespace burn::net
