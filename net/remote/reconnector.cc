#include "net/remote/reconnector.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "net/dial/connect.h"
#include "net/remote/in_callback.h"

namespace burn::net {

std::chrono::milliseconds Backoff::next() {
  const auto pause = std::exchange(pause_, std::clamp(pause_ * 2, kShortest, kLongest));
  return std::chrono::milliseconds{
      std::uniform_int_distribution<std::int64_t>{pause.count() / 2, pause.count()}(chance_)};
}

void Reconnector::begin(proto::Resume session, std::chrono::seconds lease) {
  session_ = std::move(session);
  lease_ = lease;
}

void Reconnector::lose(Status why, bool was_welcome, Clock::time_point now) {
  if (was_welcome) lost_at_ = now;
  why_ = std::move(why);
  losses_ += 1;
}

void Reconnector::set_trying(bool is_trying) {
  is_trying_ = is_trying;
  backoff_.reset();
}

Reconnector::Clock::time_point Reconnector::next_try(Clock::time_point now) {
  tried_lost_at_ = lost_at_;
  if (!backoff_) backoff_.emplace();
  return std::min(now + backoff_->next(), deadline());
}

Status Reconnector::judge(const std::string& url, const Status& tried, Clock::time_point now) {
  if (lost_at_ != tried_lost_at_) {
    backoff_.reset();
    return {};
  }
  if (is_gone_for_good(url, tried)) {
    return lost_for_good(url, tried.message() + "; the session ended with its server");
  }
  if (now < deadline()) return {};
  return lost_for_good(
      url, fmt::format("{}; the session's lease of {} s is over: {}", why_.message(), lease_.count(), tried.message()));
}

}  // namespace burn::net
