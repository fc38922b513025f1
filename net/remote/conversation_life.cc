// How a conversation begins, and goes on over another connection.
#include <algorithm>
#include <random>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/settings.h"
#include "ir/catalogue.h"
#include "net/dial/connect.h"
#include "net/remote/as_said.h"
#include "net/remote/conversation.h"
#include "net/remote/in_callback.h"

namespace burn::net {
namespace {

constexpr std::uint64_t kAnswerTimeout = 600;  // seconds, where nobody says

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

std::chrono::seconds answer_timeout(const ConnectOptions& options) {
  constexpr std::uint64_t kMost = 1'000'000'000;  // leaves room to count in
  const auto seconds =
      options.answer_timeout_seconds.value_or(numeric_setting(Setting::answer_timeout).value_or(kAnswerTimeout));
  return std::chrono::seconds{std::min(seconds, kMost)};
}

}  // namespace

// --- the beginning ---------------------------------------------------------------------------------------------------

Conversation::Conversation(std::string url, std::uint32_t device, ChannelFactory dial, const ConnectOptions& options)
    : url_(std::move(url)),
      device_(device),
      dial_(std::move(dial)),
      options_(options),
      answer_timeout_(net::answer_timeout(options)) {}

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
  if (broken_) return;
  if (const auto said = std::exchange(greeting_bytes_, 0); said > 0) {
    counts_.frames_sent += 1;
    counts_.bytes_sent += said;
    for (auto& [frame, lane] : std::exchange(unattached_, {})) transmit(std::move(frame), lane);
    return send_what_fits();
  }
  hello_at_ = Clock::now();
  transmit(proto::encode({0, hello(), {}}), proto::Lane::control);
}

Status Conversation::start(std::shared_ptr<proto::Channel> channel, Clock::time_point deadline) {
  {
    std::unique_lock lock(mutex_);
    // One that was lost in the meantime stays with the caller: a thread is dialling again.
    if (std::exchange(first_, First::attached) == First::awaited) attach(std::move(channel));
    if (!changed_.wait_until(lock, deadline, [&] { return welcome_ || broken_; })) {
      broken_ = unavailable(fmt::format("{} does not complete the handshake", url_));
    }
    if (broken_) return *broken_;
  }
  using std::chrono::milliseconds;
  if (answer_timeout_.count() > 0) {
    watch(weak_from_this(), std::clamp(milliseconds{answer_timeout_} / 8, milliseconds{50}, milliseconds{30'000}));
  }
  return {};
}

Status Conversation::on_welcome(const proto::Welcome& welcome) {
  const std::lock_guard lock(mutex_);
  if (welcome.version != proto::kProtocolVersion) {
    broken_ = failed_precondition(
        fmt::format("{} speaks protocol {}, this client {}", url_, welcome.version, proto::kProtocolVersion));
  } else if (welcome.info.max_in_flight == 0 || welcome.info.bulk_credit == 0) {
    return invalid_argument("limits of zero");
  } else {
    BURN_RETURN_IF_ERROR(can_resume() ? go_on(welcome) : begin(welcome));
    round_trip_ = std::chrono::nanoseconds{Clock::now() - hello_at_}.count();
    welcome_ = true;
    send_what_fits();
  }
  changed_.notify_all();
  return {};
}

Status Conversation::begin(const proto::Welcome& welcome) {
  if (welcome.resumed) return invalid_argument("a session that goes on where a new one was asked for");
  info_ = welcome.info;
  lease_ = std::chrono::seconds{std::min(welcome.lease_seconds, options_.lease_seconds)};
  session_ = {.session = welcome.info.session, .secret = welcome.secret};
  uploads_ = UploadQueue{info_.bulk_credit, can_resume()};
  if (can_resume()) frames_.keep();
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
  progress_ = true;
  return {};
}

// --- another connection ----------------------------------------------------------------------------------------------

void Conversation::on_closed(Status said) {
  const InCallback in_callback;
  const Status why = as_said(said);
  std::shared_ptr<proto::Channel> channel;  // dropped outside the lock
  {
    const std::lock_guard lock(mutex_);
    if (first_ == First::awaited) first_ = First::lost;
    channel = std::move(channel_);
    if (!broken_ && can_resume()) {
      if (std::exchange(welcome_, false)) lost_at_ = Clock::now();
      lost_why_ = why.ok() ? unavailable("the server closed it") : why;
      link_lost_ = true;
      changed_.notify_all();
      if (redialling_ || start_redialling()) return;
    }
  }
  end(lost(url_, why.ok() ? "the server closed it" : why.message()));
  channel.reset();
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

// The channel's thread carries everybody's answers: it must not wait for a connection.
bool Conversation::start_redialling() {
  try {
    std::thread([self = shared_from_this()] { self->redial(); }).detach();
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
      broken_ = lost(url_, tried.message() + "; the session ended with its server");
    } else if (Clock::now() >= deadline) {
      broken_ = lost(url_, fmt::format("{}; the session's lease of {} s is over: {}", lost_why_.message(),
                                       lease_.count(), tried.message()));
    }
    if (broken_) break;
  }
  const Status why = *broken_;
  auto channel = std::move(channel_);
  lock.unlock();
  channel.reset();
  end_without_channel(why);
  lock.lock();
  redialling_ = false;
  changed_.notify_all();
}

Status Conversation::try_again(Clock::time_point deadline) {
  std::shared_ptr<proto::Channel> channel;  // dropped outside the lock
  {
    const std::lock_guard lock(mutex_);
    link_lost_ = false;
    greeting_bytes_ = 0;
    unattached_.clear();
    channel = std::move(channel_);
  }
  channel.reset();  // nothing more comes of an earlier one
  BURN_TRY(channel, dial_(shared_from_this(), until(deadline)));
  std::unique_lock lock(mutex_);
  if (broken_) return *broken_;
  if (link_lost_) return lost_why_;
  attach(channel);
  const bool in_time = changed_.wait_until(lock, deadline, [&] { return welcome_ || broken_ || link_lost_; });
  if (broken_) return *broken_;
  if (link_lost_) return lost_why_;
  if (in_time) return {};
  channel_ = nullptr;
  return unavailable(fmt::format("{} does not complete the handshake", url_));
}

}  // namespace burn::net
