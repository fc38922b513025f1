#include "net/serve/served_conversation.h"

#include <utility>

#include <fmt/format.h>

#include "proto/verbs.h"

namespace burn::net {

ServedConversation::ServedConversation(std::unique_ptr<proto::ServedSession> session, Terms terms)
    : terms_(std::move(terms)),
      session_(std::move(session)),
      max_in_flight_(session_->info().max_in_flight),
      answers_(terms_.lease.count() > 0),
      verbs_(*session_, answers_, [this](const Status& why) { end_link(why); }) {
  session_->on_progress([this](std::uint64_t executed) { acknowledge(executed); });
  session_->on_upload_progress([this] {
    const std::lock_guard receiving{receiving_};
    check(verbs_.grant());
  });
}

ServedConversation::~ServedConversation() { dispose(); }

bool ServedConversation::is_secret(const std::string& secret) const {
  if (secret.size() != terms_.secret.size()) return false;
  unsigned char differs = 0;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    differs |= static_cast<unsigned char>(secret[i]) ^ static_cast<unsigned char>(terms_.secret[i]);
  }
  return differs == 0 && !secret.empty();
}

// --- connections -----------------------------------------------------------------------------------------------------

void ServedConversation::begin(std::shared_ptr<ServedLink> link, proto::Welcome welcome) {
  auto channel = link->channel();
  {
    const std::lock_guard lock{linking_};
    link_ = std::move(link);
  }
  answers_.connect(std::move(channel), std::move(welcome));
  session_->on_end([this](const Status& why) { check(why); });  // now there is a link that can be told
}

Status ServedConversation::resume(std::shared_ptr<ServedLink> link, proto::Welcome welcome, const proto::Resume& seen) {
  auto channel = link->channel();
  std::shared_ptr<ServedLink> old;
  // Destroyed outside the locks: its destructor waits for its handler, which may wait for our locks.
  std::shared_ptr<proto::Channel> old_channel;
  Status fits;
  {
    const std::lock_guard receiving{receiving_};
    {
      const std::lock_guard lock{linking_};
      if (is_over_) return not_found(fmt::format("session {} is over", terms_.name));
      old = std::exchange(link_, std::move(link));
      lost_at_.reset();
    }
    old_channel = answers_.disconnect();
    ++resumes_;
    fits = answers_.resume(seen);
    if (fits.ok()) {
      welcome.resumed = proto::Resumed{received_, acknowledged_, verbs_.restart_uploads()};
      answers_.connect(std::move(channel), std::move(welcome));
    }
  }
  if (old) old->supersede();
  return fits;
}

bool ServedConversation::leave(const ServedLink& link, bool for_good) {
  std::shared_ptr<ServedLink> left;  // destroyed outside the locks
  std::shared_ptr<proto::Channel> channel;
  const std::lock_guard lock{linking_};
  if (link_.get() != &link) return false;
  left = std::exchange(link_, nullptr);
  channel = answers_.disconnect();
  lost_at_ = Clock::now();
  if (for_good || terms_.lease.count() == 0) is_over_ = true;
  if (is_over_) session_->begin_close();
  return true;
}

std::optional<ServedConversation::Clock::time_point> ServedConversation::lost_at() const {
  const std::lock_guard lock{linking_};
  return lost_at_;
}

bool ServedConversation::is_over() const {
  const std::lock_guard lock{linking_};
  return is_over_;
}

bool ServedConversation::end_if_lost() {
  const std::lock_guard lock{linking_};
  if (link_) return false;
  is_over_ = true;
  session_->begin_close();
  return true;
}

void ServedConversation::begin_end() {
  const std::lock_guard lock{linking_};
  is_over_ = true;
  session_->begin_close();
}

void ServedConversation::dispose() {
  begin_end();
  session_->close();
  answers_.clear();
}

bool ServedConversation::is_idle() const { return is_caught_up() && verbs_.is_answered() && answers_.is_sent(); }

ServedConversation::Counts ServedConversation::counts() const { return {resumes_, duplicates_, session_->stats()}; }

// --- receiving -------------------------------------------------------------------------------------------------------

Status ServedConversation::on_frame(const ServedLink& link, proto::Frame frame) {
  const std::lock_guard receiving{receiving_};
  {
    const std::lock_guard lock{linking_};
    if (link_.get() != &link) return {};
  }
  if (proto::is_ordered(frame.body)) {
    if (draining_) return {};
    bool is_duplicate = false;
    BURN_RETURN_IF_ERROR(take_turn(frame, &is_duplicate));
    if (is_duplicate) return {};
  }
  return verbs_.handle(frame);
}

std::shared_ptr<std::byte> ServedConversation::destination(const ServedLink& link, const proto::ChunkHead& chunk) {
  const std::lock_guard receiving{receiving_};
  {
    const std::lock_guard lock{linking_};
    if (link_.get() != &link) return nullptr;
  }
  return verbs_.destination(chunk);
}

Status ServedConversation::take_turn(const proto::Frame& frame, bool* is_duplicate) {
  const auto due = received_ + 1;
  if (frame.seq < due && frame.seq != 0 && resumes_ > 0) {
    ++duplicates_;
    *is_duplicate = true;
    return {};
  }
  if (frame.seq != due) return invalid_argument(fmt::format("frame {} where {} is due", frame.seq, due));
  if (due - acknowledged_ > max_in_flight_) {
    return resource_exhausted(fmt::format("frame {} while {} is the last acknowledged; at most {} may be under way",
                                          due, acknowledged_.load(), max_in_flight_));
  }
  received_ = due;
  return {};
}

// --- callbacks of the session ----------------------------------------------------------------------------------------

void ServedConversation::acknowledge(std::uint64_t executed) {
  acknowledged_ = executed;  // before the client can know it
  check(answers_.tell(proto::Ack{executed}));
}

void ServedConversation::end_link(const Status& why) {
  std::shared_ptr<ServedLink> link;
  {
    const std::lock_guard lock{linking_};
    link = link_;
  }
  if (link) return link->end(why);
  begin_end();
}

}  // namespace burn::net
