#include "net/serve/connection.h"

#include <utility>

#include <fmt/format.h>

#include "base/one_line.h"
#include "ir/catalogue.h"
#include "proto/verbs.h"

namespace burn::net {
namespace {

// "0: cpu, 1: null"
std::string list(const std::vector<std::string>& names) {
  std::string all;
  for (std::size_t k = 0; k < names.size(); ++k) all += fmt::format("{}{}: {}", k == 0 ? "" : ", ", k, names[k]);
  return all;
}

}  // namespace

Connection::Connection(std::shared_ptr<proto::Channel> channel, std::shared_ptr<SessionHost> host, Ended ended,
                       Status full)
    : channel_(std::move(channel)),
      host_(std::move(host)),
      ended_callback_(std::move(ended)),
      full_(std::move(full)),
      peer_(channel_->peer()) {}

Connection::~Connection() { dispose(); }

std::shared_ptr<proto::Channel> Connection::channel() const {
  const std::lock_guard lock{channel_mutex_};
  return channel_;
}

void Connection::dispose() {
  std::shared_ptr<proto::Channel> channel;  // dropped outside the lock
  {
    const std::lock_guard lock{channel_mutex_};
    channel = std::move(channel_);
  }
  if (conversation_ && !superseded_ && conversation_->is_over()) conversation_->dispose();
}

void Connection::on_closed(Status why) {
  const bool was_ended = ended_.exchange(true);
  if (conversation_ && conversation_->leave(*this, was_ended) && !was_ended) log_loss(why);
  if (!conversation_ && !was_ended) log_end(why);
  tell_ended();
}

void Connection::tell_ended() {
  if (!told_.exchange(true) && ended_callback_) ended_callback_(shared_from_this());
}

void Connection::supersede() {
  superseded_ = true;
  ended_ = true;
  tell_ended();
}

bool Connection::is_caught_up() const { return !welcome_ || conversation_->is_caught_up(); }

bool Connection::is_idle() const {
  const auto channel = this->channel();
  return (!welcome_ || conversation_->is_idle()) && (!channel || channel->queued_bytes() == 0);
}

void Connection::drain() {
  draining_ = true;
  if (welcome_) conversation_->drain();
}

void Connection::end(const Status& why) {
  if (ended_.exchange(true)) return;
  log_end(why);
  if (const auto channel = this->channel()) {
    channel->send(proto::encode({0, proto::Close{why}, {}}), proto::Lane::control);
    channel->close();
  }
  end_session();
}

// Not only the connection: a Close of either side is its end.
void Connection::end_session() {
  if (welcome_ && conversation_->leave(*this, true)) host_->leases().remove(*conversation_);
}

void Connection::log_end(const Status& why) const {
  const auto reason = why.ok() ? std::string{"the client left"} : why.to_string();
  if (!welcome_)
    return host_->log_of_stranger(fmt::format("connection from {} closed before its hello: {}", peer_, reason));
  host_->log(Severity::info, describe_end(*conversation_, reason));
}

void Connection::log_loss(const Status& why) const {
  const auto lease = conversation_->terms().lease;
  if (lease.count() == 0) return log_end(why);
  host_->log(Severity::info,
             fmt::format("session {} lost its connection from {}: {}; it is kept for {} s", conversation_->terms().name,
                         peer_, why.ok() ? "closed" : why.to_string(), lease.count()));
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

// --- receiving --------------------------------------------------------------------------------------------

void Connection::on_frame(SharedBytes bytes) {
  if (!ended_) serve(proto::decode(bytes, proto::Programs::later));  // this thread serves others, too
}

proto::ReceiveSpace Connection::receive_space(std::span<const std::byte> head, std::uint64_t size) {
  if (ended_ || !conversation_) return {};
  const auto chunk = proto::peek_chunk(head, size);
  if (!chunk) return {};
  auto bytes = conversation_->destination(*this, *chunk);
  if (!bytes) return {};
  const std::span rest{bytes.get(), chunk->payload_size};
  return {chunk->payload_begin, std::move(bytes), rest};
}

void Connection::on_frame_in_place(SharedBytes head, SharedBytes rest) {
  if (!ended_) serve(proto::decode(head, std::move(rest)));
}

void Connection::serve(Result<proto::Frame> decoded) {
  if (!decoded.ok()) return end(decoded.status());
  auto frame = *std::move(decoded);
  if (!conversation_) return handshake(frame.body);
  if (const auto* close = std::get_if<proto::Close>(&frame.body)) return on_goodbye(close->status);
  const auto kind = proto::name(frame.body);
  const auto status = conversation_->on_frame(*this, std::move(frame));
  if (!status.ok()) end(status.with_context(kind));
}

void Connection::on_goodbye(const Status& why) {
  if (!ended_.exchange(true)) log_end(why);
  end_session();
  if (const auto channel = this->channel()) channel->close();
}

void Connection::handshake(const proto::Body& body) {
  const auto* hello = std::get_if<proto::Hello>(&body);
  if (!hello)
    return end(failed_precondition(fmt::format("the first frame must be a hello, not a {}", proto::name(body))));
  if (hello->version != proto::kProtocolVersion) {
    return end(failed_precondition(
        fmt::format("client speaks protocol {}, this server {}", hello->version, proto::kProtocolVersion)));
  }
  if (hello->resume) {
    const auto known = host_->authenticate(*hello);
    return known.ok() ? come_back(*hello->resume) : end(known);
  }
  if (!full_.ok()) {
    const auto known = host_->authenticate(*hello);  // a client without a token does not learn how many there are
    return end(known.ok() ? full_ : known);
  }
  const auto& names = host_->devices();
  if (hello->device >= names.size()) {
    return end(not_found(fmt::format("there is no device {} here: the worker has {}", hello->device, list(names))));
  }
  auto admitted = host_->admit(*hello, peer_);
  if (!admitted.ok()) return end(admitted.status());
  auto terms = host_->leases().terms(hello->lease_seconds);
  if (!terms.ok()) return end(terms.status());
  terms->admission = *std::move(admitted);
  auto session = host_->open_session(hello->device);
  if (const auto health = session->health(); !health.ok()) return end(health);
  conversation_ = std::make_shared<ServedConversation>(std::move(session), *std::move(terms));
  const auto& name = conversation_->terms().name;
  host_->log(Severity::info, fmt::format("session {} opened from {} ({}) on {}", name, peer_, quoted(hello->client),
                                         names[hello->device]));
  if (hello->fingerprint != 0 && hello->fingerprint != ir::op_set_fingerprint()) {
    host_->log(Severity::warning, fmt::format("session {}: the client's op set ({:016x}) differs from ours ({:016x})",
                                              name, hello->fingerprint, ir::op_set_fingerprint()));
  }
  if (conversation_->terms().lease.count() > 0) host_->leases().add(conversation_);
  welcome_ = true;
  conversation_->begin(shared_from_this(), welcome());
  if (draining_) conversation_->drain();
}

void Connection::come_back(const proto::Resume& resume) {
  auto conversation = host_->leases().find(resume);
  if (!conversation.ok()) return end(conversation.status());
  conversation_ = *std::move(conversation);
  welcome_ = true;
  const auto status = conversation_->resume(shared_from_this(), welcome(), resume);
  if (!status.ok()) return end(status);
  host_->log(Severity::info, fmt::format("session {} goes on from {}", conversation_->terms().name, peer_));
}

proto::Welcome Connection::welcome() const {
  proto::Welcome welcome{proto::kProtocolVersion, ir::op_set_fingerprint(), conversation_->info()};
  welcome.info.session = conversation_->terms().name;
  welcome.info.devices = host_->devices();
  welcome.lease_seconds = static_cast<std::uint32_t>(conversation_->terms().lease.count());
  welcome.secret = conversation_->terms().secret;
  welcome.extensions = proto::kExtensions;
  return welcome;
}

}  // namespace burn::net
