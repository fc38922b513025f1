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
      receiver_(proto::kInitialCredit) {
  session_->on_progress([this](std::uint64_t executed) { acknowledge(executed); });
  session_->on_upload_progress([this] {
    const std::lock_guard receiving{receiving_};
    check(grant());
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
  session_->on_end([this](const Status& why) { check(why); });  // now there is a link to tell
}

Status ServedConversation::resume(std::shared_ptr<ServedLink> link, proto::Welcome welcome, const proto::Resume& seen) {
  auto channel = link->channel();
  std::shared_ptr<ServedLink> old;
  // Dropped outside the locks: that waits for its handler, which may wait for us.
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
      welcome.resumed = proto::Resumed{received_, acknowledged_, receiver_.restart()};
      answers_.connect(std::move(channel), std::move(welcome));
    }
  }
  if (old) old->supersede();
  return fits;
}

bool ServedConversation::leave(const ServedLink& link, bool for_good) {
  std::shared_ptr<ServedLink> left;  // dropped outside the locks
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

void ServedConversation::announce_end(Clock::time_point end) {
  {
    const std::lock_guard lock{linking_};
    announced_end_ = end;
  }
  if (takes_notices_) check(tell_end());
}

Status ServedConversation::tell_end() {
  std::optional<Clock::time_point> end;
  {
    const std::lock_guard lock{linking_};
    end = announced_end_;
  }
  if (!end) return {};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*end - Clock::now());
  return answers_.tell(proto::Notice{proto::Notice::Kind::draining, left});
}

bool ServedConversation::is_idle() const { return is_caught_up() && unanswered_ == 0 && answers_.is_sent(); }

ServedConversation::Counts ServedConversation::counts() const { return {resumes_, duplicates_, session_->stats()}; }

// --- receiving -------------------------------------------------------------------------------------------------------

// One for each verb that a client sends to a session. The calls of the session fail only when it is closed: then the
// connection is, too.
struct ServedConversation::Handler {
  ServedConversation& self;
  proto::Frame& frame;
  proto::ServedSession& session = *self.session_;

  Status operator()(proto::DefineProgram& define) const {
    if (!define.program) return session.define_encoded(define.id, std::move(define.encoded), std::move(define.forget));
    return session.define(define.id, std::move(define.program), std::move(define.forget));
  }

  Status operator()(proto::RunProgram& run) const { return session.run(std::move(run.run)); }

  Status operator()(proto::Write& write) const {
    const auto bytes = write.type.num_bytes();
    if (frame.payload.size() == bytes)
      return session.write(write.id, {write.type, std::move(frame.payload)}, write.options);
    // A tensor that the session does not take fails alone; its chunks come all the same.
    auto upload = session.begin_upload(write.id, write.type, write.options);
    return self.receiver_.announce(write.id, bytes, upload.ok() ? *std::move(upload) : nullptr);
  }

  Status operator()(proto::Chunk& chunk) const {
    BURN_RETURN_IF_ERROR(self.receiver_.receive(chunk, frame.payload));
    return self.grant();
  }

  Status operator()(proto::Read& read) const {
    if (self.answers_.downloads() > self.max_in_flight_)
      return resource_exhausted("the client does not take what it asked for");
    BURN_RETURN_IF_ERROR(self.answers_.confirm(read.answers));
    ++self.unanswered_;
    session.read(read.id, [&self = self, request = read.request](auto tensor) {
      self.answer(request, std::move(tensor));
      --self.unanswered_;
    });
    return {};
  }

  Status operator()(proto::Release& release) const { return session.release(std::move(release.ids)); }

  Status operator()(proto::Sync& sync) const {
    BURN_RETURN_IF_ERROR(self.answers_.confirm(sync.answers));
    ++self.unanswered_;
    session.sync([&self = self, request = sync.request](Status status) {
      self.check(self.answers_.answer(proto::Done{request, std::move(status)}));
      --self.unanswered_;
    });
    return {};
  }

  // Told, not answered: a client that comes back asks again.
  Status operator()(proto::Stats& stats) const {
    ++self.unanswered_;
    session.stats([&self = self, request = stats.request](Result<proto::SessionStats> stats) {
      self.check(
          self.answers_.tell(proto::StatsReport{request, stats.status(), stats.ok() ? *stats : proto::SessionStats{}}));
      --self.unanswered_;
    });
    return {};
  }

  // Groups, told like stats.
  Status operator()(proto::PrepareGroup& ask) const {
    ++self.unanswered_;
    session.prepare_group(ask.place, [&self = self, request = ask.request](const Result<std::string>& address) {
      self.check(
          self.answers_.tell(proto::GroupAddress{request, address.status(), address.ok() ? *address : std::string{}}));
      --self.unanswered_;
    });
    return {};
  }

  Status operator()(proto::OpenGroup& ask) const {
    ++self.unanswered_;
    session.open_group(ask.place, std::move(ask.addresses), ask.deadline,
                       [&self = self, request = ask.request](const Status& status) {
                         self.check(self.answers_.tell(proto::GroupDone{request, status}));
                         --self.unanswered_;
                       });
    return {};
  }

  Status operator()(proto::AbortGroup& ask) const {
    session.abort_group(ask.group, ask.epoch, ask.why);
    return self.answers_.tell(proto::GroupDone{ask.request, {}});
  }

  Status operator()(proto::TakeNotices& /*ask*/) const {
    self.takes_notices_ = true;
    return self.tell_end();
  }

  Status operator()(proto::Credit& credit) const { return self.answers_.on_credit(credit); }

  // What only a server sends, a second Hello, and Close, which is the connection's.
  template <typename Other>
  Status operator()(Other& /*other*/) const {
    constexpr const auto& kVerb = proto::kVerbOf<Other>;
    static_assert(!kVerb.is_from_client() || kVerb.turn == proto::Turn::connection,
                  "what a client sends to a session has a handler here");
    return invalid_argument("a client may not send this now");
  }
};

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
  auto body = std::move(frame.body);
  return std::visit(Handler{*this, frame}, body);
}

std::shared_ptr<std::byte> ServedConversation::destination(const ServedLink& link, const proto::ChunkHead& chunk) {
  const std::lock_guard receiving{receiving_};
  {
    const std::lock_guard lock{linking_};
    if (link_.get() != &link) return nullptr;
  }
  return receiver_.destination(chunk.chunk, chunk.payload_size);
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

Status ServedConversation::grant() {
  const auto bytes = receiver_.take_grant(session_->upload_backlog());
  return bytes > 0 ? answers_.tell(proto::Credit{bytes}) : Status{};
}

// --- what it is told -------------------------------------------------------------------------------------------------

void ServedConversation::answer(std::uint64_t request, Result<proto::HostTensor> tensor) {
  if (!tensor.ok()) return check(answers_.answer(proto::Done{request, tensor.status()}));
  check(answers_.answer(proto::Data{request, tensor->type}, std::move(tensor->bytes)));
}

void ServedConversation::acknowledge(std::uint64_t executed) {
  acknowledged_ = executed;  // before the client may know
  check(answers_.tell(proto::Ack{executed}));
}

void ServedConversation::check(const Status& said) {
  if (said.ok()) [[likely]]
    return;
  std::shared_ptr<ServedLink> link;
  {
    const std::lock_guard lock{linking_};
    link = link_;
  }
  if (link) return link->end(said);
  begin_end();
}

}  // namespace burn::net
