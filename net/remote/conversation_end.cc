// The end of a conversation: by either side, by the timeout for a server that does not answer, or by close() that does
// not wait for the server.
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "net/remote/conversation.h"
#include "net/remote/in_callback.h"
#include "net/remote/printable_status.h"

namespace burn::net {
namespace {

// Limit on waiting for the end. A peer that is reachable answers within a round trip.
constexpr auto kCloseTimeout = std::chrono::seconds{2};
// The end of a session with a server nearer than this is always awaited: it costs nothing, and all is cleaned up.
constexpr auto kFarAway = std::chrono::milliseconds{5};
// After the last answer, how long to wait until the server also acknowledges the question.
constexpr auto kLastAck = std::chrono::milliseconds{50};

}  // namespace

Status Conversation::on_close(const proto::Close& close) {
  const Status why = printable(close.status);
  const std::lock_guard lock(mutex_);
  if (connecting_ && addresses_ && close.elsewhere && why.code() == StatusCode::unavailable) {
    refusal_ = unavailable(url_ + ": " + why.message());
  } else if (welcome_) {
    broken_ = lost(url_, why.ok() ? "the server closed the session" : why.message());
  } else if (reconnector_.can_resume()) {
    broken_ = lost_for_good(
        url_, fmt::format("{}; the session cannot go on: {}", reconnector_.why().message(), why.message()));
  } else {
    broken_ = Status{why.ok() ? StatusCode::unavailable : why.code(), url_ + ": " + why.message()};
  }
  changed_.notify_all();
  if (channel_) channel_->close();
  return {};  // on_closed is called then
}

void Conversation::end(const Status& why) {
  Status cause;
  {
    const std::lock_guard lock(mutex_);
    if (!broken_) broken_ = why;
    cause = *broken_;
    has_ended_ = true;
    window_.clear();
    sent_runs_.end(closing_ ? StatusCode::ok : cause.code());
    changed_.notify_all();
  }
  for (const Completion& completion : requests_.fail_all(cause)) completion();
  tell_end();
}

void Conversation::listen(RemoteSession::Listener listener) {
  bool has_ended = false;
  {
    const std::lock_guard lock(mutex_);
    listener_ = std::make_shared<const RemoteSession::Listener>(std::move(listener));
    has_ended = has_ended_;
  }
  if (has_ended) tell_end();
}

void Conversation::tell_end() {
  std::shared_ptr<const RemoteSession::Listener> listener;
  Status why;
  {
    const std::lock_guard lock(mutex_);
    if (!listener_ || has_told_end_) return;
    has_told_end_ = true;
    listener = listener_;
    why = broken_.value_or(ok_status());
  }
  if (listener->ended) listener->ended(why);
}

// Requires: no more frames arrive.
void Conversation::end_without_channel(const Status& why) {
  end(why);
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

// Whether close() may return before the server's Close, which saves a round trip. Only without open questions: if the
// client is gone when their answers arrive, the connection may be reset before its Close has been read.
bool Conversation::may_close_early() const {
  return channel_ && !channel_->is_shared_memory() && round_trip() >= kFarAway && requests_.size() == 0;
}

// Acknowledgements of frames that are not awaited (such as releases) are not waited for.
bool Conversation::is_idle() const {
  return welcome_ && !broken_ && requests_.size() == 0 && window_.is_sent() && window_.is_work_done();
}

// Makes the watchdog drop the channel after kCloseTimeout, as close() would, if the server never closes it. Returns
// false if the watchdog's thread cannot be started.
bool Conversation::watch_close() {
  try {
    watch(weak_from_this(), kCloseTimeout);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

bool Conversation::has_sent_everything() const {
  return !in_frame_.load(std::memory_order_acquire) && (!channel_ || channel_->queued_bytes() == 0);
}

void Conversation::begin_close() {
  const InCallback in_callback;  // makes close() return without waiting
  close();
}

void Conversation::close() {
  constexpr auto kLook = std::chrono::milliseconds{1};
  std::unique_lock lock(mutex_);
  if (left_at_) return;
  closing_ = true;
  const bool is_callback = InCallback::is_inside();
  bool leaves = !is_callback && !broken_ && may_close_early();
  if (leaves && window_.ends_with_question()) {
    changed_.wait_for(lock, kLastAck, [&] { return broken_ || is_idle(); });
  }
  leaves = leaves && is_idle() && watch_close();
  if (!broken_) {
    broken_ = unavailable(fmt::format("the session with {} is closed", url_));
    changed_.notify_all();
    transmit(proto::encode({0, proto::Close{}, {}}), proto::Lane::control);
  }
  if (channel_) channel_->close();
  if (is_callback) return;
  if (leaves) {
    for (const auto deadline = Clock::now() + kCloseTimeout; !has_sent_everything() && Clock::now() < deadline;) {
      changed_.wait_for(lock, kLook);
    }
    left_at_ = Clock::now();
    return;
  }
  if (changed_.wait_for(lock, kCloseTimeout, [&] { return closed_; })) return;
  if (!claim_end()) return changed_.wait(lock, [&] { return closed_; });  // until its callbacks have returned
  auto channel = std::move(channel_);
  lock.unlock();
  channel.reset();  // no more frames arrive
  end_without_channel(ok_status());
}

// --- a server that does not answer -----------------------------------------------------------------------------------

bool Conversation::is_waiting() const { return requests_.size() > 0 || !window_.is_executed() || !window_.is_sent(); }

void Conversation::check_timeouts(Clock::time_point now) {
  const InCallback in_callback;
  std::shared_ptr<proto::Channel> channel;
  {
    const std::lock_guard lock(mutex_);
    if (left_at_ && now - *left_at_ >= kCloseTimeout) channel = std::move(channel_);
    const bool is_waiting = !connecting_ && !broken_ && this->is_waiting();
    if (is_ending_ || !progress_.is_over(now, is_waiting, welcome_, reconnector_.lease())) return;
    broken_ = Status{StatusCode::deadline_exceeded,
                     fmt::format("gave up on {}: it is there, but has not answered for {} s (BURN_ANSWER_TIMEOUT)",
                                 url_, answer_timeout_.count())};
    changed_.notify_all();
    if (reconnector_.is_trying() || !claim_end()) return;  // a thread that redials sees broken_ and ends it
    transmit(proto::encode({0, proto::Close{}, {}}), proto::Lane::control);
    channel = std::move(channel_);
  }
  if (channel) channel->close();
  channel.reset();
  end_without_channel(ok_status());
}

Status Conversation::health() const {
  const std::lock_guard lock(mutex_);
  return broken_.value_or(ok_status());
}

WireStats Conversation::stats() const { return counts_.read(); }

}  // namespace burn::net
