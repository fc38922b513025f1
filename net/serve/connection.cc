#include "net/serve/connection.h"

#include <utility>

#include <fmt/format.h>

#include "net/serve/handshake.h"

namespace burn::net {

Connection::Connection(std::shared_ptr<proto::Channel> channel, std::shared_ptr<SessionHost> host, Ended ended,
                       Status full)
    : channel_(std::move(channel)),
      host_(std::move(host)),
      on_end_(std::move(ended)),
      full_(std::move(full)),
      caller_{.address = channel_->peer(), .security = channel_->peer_security()} {}

Connection::~Connection() { dispose(); }

std::shared_ptr<proto::Channel> Connection::channel() const {
  const std::lock_guard lock{channel_mutex_};
  return channel_;
}

void Connection::dispose() {
  std::shared_ptr<proto::Channel> channel;  // destroyed outside the lock
  {
    const std::lock_guard lock{channel_mutex_};
    channel = std::move(channel_);
  }
  if (conversation_ && !is_superseded_ && conversation_->is_over()) conversation_->dispose();
}

void Connection::on_closed(Status why) {
  const bool was_ended = has_ended_.exchange(true);
  if (conversation_ && conversation_->leave(*this, was_ended) && !was_ended) log_loss(why);
  if (!conversation_ && !was_ended) tell_host_end(why, SessionEnd::connection);
  tell_ended();
}

void Connection::tell_ended() {
  if (!has_told_end_.exchange(true) && on_end_) on_end_(shared_from_this());
}

void Connection::supersede() {
  is_superseded_ = true;
  has_ended_ = true;
  tell_ended();
}

bool Connection::is_caught_up() const { return !is_welcome_ || conversation_->is_caught_up(); }

bool Connection::is_idle() const {
  const auto channel = this->channel();
  return (!is_welcome_ || conversation_->is_idle()) && (!channel || channel->queued_bytes() == 0);
}

void Connection::announce_end(std::chrono::steady_clock::time_point end) {
  if (is_welcome_ && !has_announced_end_.exchange(true)) conversation_->announce_end(end);
}

bool Connection::takes_notices() const { return is_welcome_ && !has_ended_ && conversation_->takes_notices(); }

void Connection::drain() {
  is_draining_ = true;
  if (is_welcome_) conversation_->drain();
}

void Connection::end(const Status& why) {
  if (has_ended_.exchange(true)) return;
  tell_host_end(why, why.code() == StatusCode::unavailable ? SessionEnd::drain : SessionEnd::rule);
  if (const auto channel = this->channel()) {
    const bool elsewhere = !is_welcome_ && host_->is_draining() && why.code() == StatusCode::unavailable;
    channel->send(proto::encode({0, proto::Close{why, elsewhere}, {}}), proto::Lane::control);
    channel->close();
  }
  end_session();
}

// A Close from either side ends the session, not only the connection.
void Connection::end_session() {
  if (is_welcome_ && conversation_->leave(*this, true)) host_->leases().remove(*conversation_);
}

void Connection::tell_host_end(const Status& why, SessionEnd how) const {
  const auto reason = why.ok() ? std::string{"the client left"} : why.to_string();
  if (!is_welcome_) {
    host_->count_refused(how, why);
    host_->audit({.kind = SessionEvent::Kind::refused, .peer = caller_.address, .reason = reason});
    return host_->log_unauthenticated(
        fmt::format("connection from {} closed before its hello: {}", caller_.address, reason));
  }
  host_->count_closed(how);
  audit_end(*host_, *conversation_, reason, caller_.address);
  host_->log(Severity::info, describe_end(*conversation_, reason));
}

void Connection::log_loss(const Status& why) const {
  const auto lease = conversation_->terms().lease;
  if (lease.count() == 0) return tell_host_end(why, SessionEnd::connection);
  host_->log(Severity::info,
             fmt::format("session {} lost its connection from {}: {}; it is kept for {} s", conversation_->terms().name,
                         caller_.address, why.ok() ? "closed" : why.to_string(), lease.count()));
}

std::string describe_end(const ServedConversation& conversation, std::string_view reason) {
  const auto counts = conversation.counts();
  const auto& stats = counts.session;
  auto line =
      fmt::format("session {} closed: {}; {} programs, {} runs, peak {:.1f} MiB", conversation.terms().name, reason,
                  stats.programs, stats.session.runs, static_cast<double>(stats.session.memory_peak) / (1 << 20));
  if (counts.resumes == 0) return line;
  return line + fmt::format("; resumed {} times, {} frames dropped that came twice", counts.resumes, counts.duplicates);
}

void audit_end(SessionHost& host, const ServedConversation& conversation, std::string_view reason,
               std::string_view peer) {
  const auto& terms = conversation.terms();
  const auto counts = conversation.counts();
  const Identity identity{.tenant = terms.tenant, .proof = terms.proof};
  host.audit({.kind = SessionEvent::Kind::closed,
              .session = terms.name,
              .identity = &identity,
              .peer = peer,
              .reason = reason,
              .stats = &counts.session});
}

// --- receiving --------------------------------------------------------------------------------------------

void Connection::on_frame(SharedBytes bytes) {
  // Programs stay encoded here and are decoded later, as this thread serves other connections, too.
  if (!has_ended_) serve(proto::decode(bytes, proto::Programs::later));
}

proto::ReceiveSpace Connection::receive_space(std::span<const std::byte> head, std::uint64_t size) {
  if (has_ended_ || !conversation_) return {};
  const auto chunk = proto::peek_chunk(head, size);
  if (!chunk) return {};
  auto bytes = conversation_->destination(*this, *chunk);
  if (!bytes) return {};
  const std::span rest{bytes.get(), chunk->payload_size};
  return {chunk->payload_begin, std::move(bytes), rest};
}

void Connection::on_frame_in_place(SharedBytes head, SharedBytes rest) {
  if (!has_ended_) serve(proto::decode(head, std::move(rest)));
}

void Connection::serve(Result<proto::Frame> decoded) {
  if (!decoded.ok()) return end(decoded.status());
  auto frame = *std::move(decoded);
  if (!conversation_) return handshake(frame.body);
  if (const auto* close = std::get_if<proto::Close>(&frame.body)) return on_close(close->status);
  const auto kind = proto::name(frame.body);
  const auto status = conversation_->on_frame(*this, std::move(frame));
  if (!status.ok()) end(status.with_context(kind));
}

void Connection::on_close(const Status& why) {
  if (!has_ended_.exchange(true)) tell_host_end(why, SessionEnd::client);
  end_session();
  if (const auto channel = this->channel()) channel->close();
}

void Connection::handshake(const proto::Body& first) {
  const auto read = Handshake::read(first);
  if (!read.ok()) return end(read.status());
  const auto& hello = **read;
  const Handshake handshake{*host_, hello, caller_};
  hello.resume ? resume_session(handshake, *hello.resume) : open_session(handshake);
}

void Connection::open_session(const Handshake& handshake) {
  auto opened = handshake.open(full_);
  if (!opened.ok()) return end(opened.status());
  conversation_ = *std::move(opened);
  if (conversation_->terms().lease.count() > 0) host_->leases().add(conversation_);
  is_welcome_ = true;
  host_->count_opened();
  conversation_->begin(shared_from_this(), handshake.welcome(*conversation_));
  if (is_draining_) conversation_->drain();
}

void Connection::resume_session(const Handshake& handshake, const proto::Resume& resume) {
  auto found = handshake.resume(resume);
  if (!found.ok()) return end(found.status());
  conversation_ = *std::move(found);
  is_welcome_ = true;
  const auto status = conversation_->resume(shared_from_this(), handshake.welcome(*conversation_), resume);
  if (!status.ok()) return end(status);
  const auto& terms = conversation_->terms();
  host_->log(Severity::info, fmt::format("session {} goes on from {}", terms.name, caller_.address));
  const Identity identity{.tenant = terms.tenant, .proof = terms.proof};
  host_->audit(
      {.kind = SessionEvent::Kind::resumed, .session = terms.name, .identity = &identity, .peer = caller_.address});
}

}  // namespace burn::net
