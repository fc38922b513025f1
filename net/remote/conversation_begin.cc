// The beginning of a conversation: the first connection, made here or by a thread of its own, and handling a welcome.
#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/settings.h"
#include "base/thread.h"
#include "net/dial/connect.h"
#include "net/remote/conversation.h"
#include "net/remote/in_callback.h"

namespace burn::net {
namespace {

constexpr std::uint64_t kAnswerTimeout = 600;  // seconds, if neither the options nor the environment say

std::chrono::seconds answer_timeout(const ConnectOptions& options) {
  constexpr std::uint64_t kMax = 1'000'000'000;  // far from overflow
  const auto seconds =
      options.answer_timeout_seconds.value_or(numeric_setting(Setting::answer_timeout).value_or(kAnswerTimeout));
  return std::chrono::seconds{std::min(seconds, kMax)};
}

}  // namespace

Conversation::Conversation(std::string url, DeviceChoice device, ChannelFactory dial, const ConnectOptions& options,
                           std::shared_ptr<AddressChoice> addresses)
    : url_(std::move(url)),
      dial_(std::move(dial)),
      options_(options),
      addresses_(std::move(addresses)),
      answer_timeout_(net::answer_timeout(options)),
      progress_(answer_timeout_),
      handshake_(std::move(device), options),
      sent_runs_(options.spans, url_) {}

// std::nullopt if there is no session to resume. Requires: no hello was sent on this channel yet, so that no answer can
// arrive meanwhile.
std::optional<proto::Resume> Conversation::resumed_session() const {
  if (!reconnector_.can_resume()) return std::nullopt;
  auto resume = reconnector_.session();
  resume.answers = requests_.answers();
  resume.downloads = requests_.downloads();
  resume.offset = requests_.offset();
  return resume;
}

std::optional<proto::EncodedFrame> Conversation::greeting() {
  const std::lock_guard lock(mutex_);
  if (broken_) return std::nullopt;
  return handshake_.greet(resumed_session());
}

// With a greeting, the server's first frames may already have been handled, and answered with held frames.
void Conversation::attach(std::shared_ptr<proto::Channel> channel) {
  channel_ = std::move(channel);
  is_shared_memory_ = channel_->is_shared_memory();
  auto [greeting_bytes, held] = handshake_.attach();
  if (greeting_bytes > 0) {
    counts_.frames_sent += 1;
    counts_.bytes_sent += greeting_bytes;
    for (auto& [frame, lane] : held) transmit(std::move(frame), lane);
  }
  if (broken_) return channel_->close();
  if (greeting_bytes > 0) return send_what_fits();
  transmit(handshake_.hello(resumed_session()), proto::Lane::control);
}

// --- the first connection --------------------------------------------------------------------------------------------

Status Conversation::start() {
  using std::chrono::milliseconds;
  if (answer_timeout_.count() > 0) {
    watch(weak_from_this(), std::clamp(milliseconds{answer_timeout_} / 8, milliseconds{50}, milliseconds{30'000}));
  }
  const bool is_elsewhere = options_.welcome_wait && start_connecting();
  if (!is_elsewhere) connect();
  std::unique_lock lock(mutex_);
  if (is_elsewhere) changed_.wait_for(lock, *options_.welcome_wait, [&] { return !connecting_; });
  return broken_.value_or(ok_status());
}

bool Conversation::start_connecting() {
  try {
    start_thread("burn-dial", [self = shared_from_this()] { self->connect(); }).detach();
    return true;
  } catch (const std::system_error&) {
    return false;  // there are no more threads
  }
}

Status Conversation::try_to_connect(Clock::time_point deadline) {
  try {
    return try_again(deadline);
  } catch (const std::exception& error) {  // no memory, no thread
    return internal_error(fmt::format("cannot connect to {}: {}", url_, error.what()));
  }
}

// Retries, as a connection may be lost before there is a session to resume.
void Conversation::connect() {
  constexpr auto kFirstPause = std::chrono::milliseconds{10}, kLastPause = std::chrono::milliseconds{80};
  const InCallback in_callback;  // end() runs callbacks on this thread
  const auto deadline = Clock::now() + std::chrono::seconds{options_.timeout_seconds};
  for (auto pause = kFirstPause;; pause *= 2) {
    const Status tried = try_to_connect(deadline);
    std::unique_lock lock(mutex_);
    if (!connecting_) return;  // after the welcome, redial() handles a lost connection
    if (addresses_) addresses_->refuse();
    const bool was_sent_elsewhere = refusal_.has_value();
    const bool may_be_lost = options_.lease_seconds > 0 && pause <= kLastPause && !is_gone_for_good(url_, tried);
    const bool may_try_again =
        addresses_ && tried.code() == StatusCode::unavailable && (was_sent_elsewhere || may_be_lost);
    if (was_sent_elsewhere) pause = std::min(pause, kLastPause);
    if (!broken_ && (!may_try_again || Clock::now() + pause >= deadline)) broken_ = tried;
    if (!broken_) changed_.wait_for(lock, pause, [&] { return broken_.has_value(); });
    if (!broken_) continue;
    give_up(lock);
    connecting_ = false;
    changed_.notify_all();
    return;
  }
}

const proto::SessionInfo* Conversation::known_info() const {
  return is_known_.load(std::memory_order_acquire) ? &info_ : nullptr;
}

const proto::SessionInfo& Conversation::info() const {
  static const auto& nothing = *new proto::SessionInfo;  // never destroyed: static objects may use it at exit
  if (const auto* known = known_info()) return *known;
  if (options_.assumed_info) return *options_.assumed_info;
  if (InCallback::is_inside()) return nothing;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !connecting_ || broken_; });
  return is_known_ ? info_ : nothing;
}

// --- a welcome -------------------------------------------------------------------------------------------------------

Status Conversation::on_welcome(const proto::Welcome& welcome) {
  std::vector<Completion> refused;
  {
    const std::lock_guard lock(mutex_);
    BURN_RETURN_IF_ERROR(take_welcome(welcome));
    changed_.notify_all();
    refused =
        requests_.fail_unordered([&](const proto::Body& question) { return check_known(proto::verb_of(question)); });
    if (welcome_) {
      for (auto& question : requests_.unordered_to_resend())
        transmit(proto::encode({0, std::move(question), {}}), proto::Lane::control);
    }
  }
  for (const auto& completion : refused) completion();
  return {};
}

Status Conversation::take_welcome(const proto::Welcome& welcome) {
  if (welcome.version != proto::kProtocolVersion) {
    broken_ = failed_precondition(
        fmt::format("{} speaks protocol {}, this client {}", url_, welcome.version, proto::kProtocolVersion));
    return {};
  }
  const bool resumes = reconnector_.can_resume();
  BURN_RETURN_IF_ERROR(ClientHandshake::check(welcome, resumes));
  if (resumes) {
    BURN_RETURN_IF_ERROR(resume(welcome));
  } else {
    begin(welcome);
  }
  extensions_ = welcome.extensions;
  round_trip_ = handshake_.round_trip().count();
  welcome_ = true;
  take_notices();
  send_what_fits();
  return {};
}

void Conversation::begin(const proto::Welcome& welcome) {
  info_ = welcome.info;
  op_set_ = welcome.fingerprint;
  reconnector_.begin({.session = welcome.info.session, .secret = welcome.secret},
                     std::chrono::seconds{std::min(welcome.lease_seconds, options_.lease_seconds)});
  window_.open(info_.max_in_flight, info_.bulk_credit, reconnector_.can_resume());
  if (const auto endpoint = parse_url(url_); addresses_ && endpoint.ok())
    addresses_->settle(find_address(welcome.advertised, *endpoint));
  is_known_.store(true, std::memory_order_release);
  connecting_ = false;
}

// Requires: welcome.resumed.
Status Conversation::resume(const proto::Welcome& welcome) {
  const auto resumed = welcome.resumed.value_or(proto::Resumed{});
  BURN_TRY(const std::uint64_t lost, window_.resume(resumed.received, welcome.info.bulk_credit, resumed.uploads));
  BURN_RETURN_IF_ERROR(acknowledged(resumed.executed));
  confirmation_.restart();
  counts_.resumes += 1;
  counts_.frames_resent += lost;
  return {};
}

}  // namespace burn::net
