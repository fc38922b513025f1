// How a conversation begins: the first connection, made here or by a thread of its own, and what a welcome says.
#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/settings.h"
#include "base/thread.h"
#include "ir/catalogue.h"
#include "net/dial/connect.h"
#include "net/remote/conversation.h"
#include "net/remote/in_callback.h"

namespace burn::net {
namespace {

constexpr std::uint64_t kAnswerTimeout = 600;  // seconds, where neither the options nor the environment say

std::chrono::seconds answer_timeout(const ConnectOptions& options) {
  constexpr std::uint64_t kMax = 1'000'000'000;  // leaves room to count in
  const auto seconds =
      options.answer_timeout_seconds.value_or(numeric_setting(Setting::answer_timeout).value_or(kAnswerTimeout));
  return std::chrono::seconds{std::min(seconds, kMax)};
}

}  // namespace

Conversation::Conversation(std::string url, std::uint32_t device, ChannelFactory dial, const ConnectOptions& options,
                           bool tries_again)
    : url_(std::move(url)),
      device_(device),
      dial_(std::move(dial)),
      options_(options),
      tries_again_(tries_again),
      answer_timeout_(net::answer_timeout(options)),
      progress_timeout_(answer_timeout_) {}

proto::Hello Conversation::hello() const {
  proto::Hello hello{proto::kProtocolVersion, ir::op_set_fingerprint(), "burn-cpp " BURN_VERSION, options_.token,
                     device_};
  hello.lease_seconds = options_.lease_seconds;
  if (can_resume()) {
    hello.resume = session_;
    hello.resume->answers = requests_.answers();
    hello.resume->downloads = requests_.downloads();
    hello.resume->offset = requests_.offset();
  }
  return hello;
}

std::optional<proto::EncodedFrame> Conversation::greeting() {
  const std::lock_guard lock(mutex_);
  if (broken_) return std::nullopt;
  auto frame = proto::encode({0, hello(), {}});
  hello_at_ = Clock::now();
  greeting_bytes_ = frame.size();
  return frame;
}

// With a greeting the server may have answered already, and have been answered.
void Conversation::attach(std::shared_ptr<proto::Channel> channel) {
  channel_ = std::move(channel);
  is_shared_memory_ = channel_->is_shared_memory();
  const auto said = std::exchange(greeting_bytes_, 0);
  if (said > 0) {
    counts_.frames_sent += 1;
    counts_.bytes_sent += said;
    for (auto& [frame, lane] : std::exchange(unattached_, {})) transmit(std::move(frame), lane);
  }
  if (broken_) return channel_->close();
  if (said > 0) return send_what_fits();
  hello_at_ = Clock::now();
  transmit(proto::encode({0, hello(), {}}), proto::Lane::control);
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

// A connection may be lost before there is a session to come back to.
void Conversation::connect() {
  constexpr auto kFirstPause = std::chrono::milliseconds{10}, kLastPause = std::chrono::milliseconds{80};
  const InCallback in_callback;  // of the end
  const auto deadline = Clock::now() + std::chrono::seconds{options_.timeout_seconds};
  for (auto pause = kFirstPause;; pause *= 2) {
    const Status tried = try_to_connect(deadline);
    std::unique_lock lock(mutex_);
    if (!connecting_) return;  // if it is lost again, another thread goes on
    const bool may_try_again = tries_again_ && options_.lease_seconds > 0 && tried.code() == StatusCode::unavailable &&
                               !is_gone_for_good(url_, tried);
    if (!broken_ && (!may_try_again || pause > kLastPause || Clock::now() + pause >= deadline)) broken_ = tried;
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
  static const auto& nothing = *new proto::SessionInfo;  // static objects may still ask
  if (const auto* known = known_info()) return *known;
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
    refused = requests_.fail_beside([&](const proto::Body& question) { return check_known(proto::verb_of(question)); });
    if (welcome_) {
      for (auto& question : requests_.beside())
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
  } else if (welcome.info.max_in_flight == 0 || welcome.info.bulk_credit == 0) {
    return invalid_argument("limits of zero");
  } else if (welcome.info.bulk_credit > UploadQueue::kMaxCredit) {
    return invalid_argument(fmt::format("credit for {} bytes at first; at most {} may be", welcome.info.bulk_credit,
                                        UploadQueue::kMaxCredit));
  } else {
    BURN_RETURN_IF_ERROR(can_resume() ? go_on(welcome) : begin(welcome));
    extensions_ = welcome.extensions;
    round_trip_ = std::chrono::nanoseconds{Clock::now() - hello_at_}.count();
    welcome_ = true;
    send_what_fits();
  }
  return {};
}

Status Conversation::begin(const proto::Welcome& welcome) {
  if (welcome.resumed) return invalid_argument("a session that goes on where a new one was asked for");
  info_ = welcome.info;
  lease_ = std::chrono::seconds{std::min(welcome.lease_seconds, options_.lease_seconds)};
  session_ = {.session = welcome.info.session, .secret = welcome.secret};
  uploads_ = UploadQueue{info_.bulk_credit, can_resume()};
  if (can_resume()) frames_.keep();
  is_known_.store(true, std::memory_order_release);
  connecting_ = false;
  return {};
}

Status Conversation::go_on(const proto::Welcome& welcome) {
  if (!welcome.resumed) return invalid_argument("a new session where one was to go on");
  const auto& [received, executed, uploads] = *welcome.resumed;
  if (executed > received) return invalid_argument(fmt::format("{} executed, {} received", executed, received));
  BURN_TRY(const std::uint64_t lost, frames_.resume(received));
  BURN_RETURN_IF_ERROR(acknowledged(executed));
  BURN_RETURN_IF_ERROR(uploads_.resume(welcome.info.bulk_credit, uploads, received));
  consumed_ = 0;
  counts_.resumes += 1;
  counts_.frames_resent += lost;
  return {};
}

}  // namespace burn::net
