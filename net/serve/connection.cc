#include "net/serve/connection.h"

#include <fmt/format.h>

#include "base/one_line.h"
#include "ir/catalogue.h"

namespace burn::net {
namespace {

// Answers that a client leaves lying. Chunks are not among the problems: they need its credit.
constexpr std::size_t kMaxBacklogBytes = std::size_t{256} << 20;

// "0: cpu, 1: null"
std::string list(const std::vector<std::string>& names) {
  std::string all;
  for (std::size_t k = 0; k < names.size(); ++k) all += fmt::format("{}{}: {}", k == 0 ? "" : ", ", k, names[k]);
  return all;
}

}  // namespace

Connection::Connection(std::shared_ptr<proto::Channel> channel, std::shared_ptr<SessionHost> host, Ended ended)
    : channel_(std::move(channel)),
      host_(std::move(host)),
      ended_callback_(std::move(ended)),
      peer_(channel_->peer()),
      receiver_(proto::kInitialCredit),
      sender_(*channel_, proto::kInitialCredit) {}

Connection::~Connection() { dispose(); }

void Connection::dispose() {
  if (session_) session_->close();
  sender_.clear();
}

void Connection::on_closed(Status why) {
  if (session_) session_->begin_close();
  if (!ended_.exchange(true)) log_end(why);
  if (ended_callback_) ended_callback_(shared_from_this());
}

bool Connection::is_idle() const {
  return is_caught_up() && unanswered_ == 0 && sender_.waiting() == 0 && channel_->queued_bytes() == 0;
}

void Connection::end(const Status& why) {
  if (ended_.exchange(true)) return;
  log_end(why);
  channel_->send(proto::encode({0, proto::Close{why}, {}}), proto::Lane::control);
  channel_->close();
}

void Connection::log_end(const Status& why) const {
  const auto reason = why.ok() ? std::string{"the client left"} : why.to_string();
  if (!welcome_)
    return host_->log(Severity::info, fmt::format("connection from {} closed before its hello: {}", peer_, reason));
  const auto stats = session_->stats();
  host_->log(Severity::info,
             fmt::format("session {} closed: {}; {} programs, {} runs, peak {:.1f} MiB", session_->info().session,
                         reason, stats.programs, stats.runs, static_cast<double>(stats.peak_bytes) / (1 << 20)));
}

// --- receiving --------------------------------------------------------------------------------------------

void Connection::on_frame(SharedBytes bytes) {
  if (!ended_) serve(proto::decode(bytes));
}

proto::ReceiveSpace Connection::receive_space(std::span<const std::byte> head, std::uint64_t size) {
  if (ended_ || !session_) return {};
  const auto chunk = proto::peek_chunk(head, size);
  if (!chunk) return {};
  auto bytes = receiver_.destination(chunk->chunk, chunk->payload_size);
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
  if (!session_) return handshake(frame.body);
  const bool ordered = proto::is_ordered(frame.body);
  if (ordered && draining_) return;
  const auto kind = proto::name(frame.body);
  auto status = ordered ? take_turn(frame) : Status{};
  if (status.ok()) status = dispatch(std::move(frame));
  if (!status.ok()) end(status.with_context(kind));
}

void Connection::handshake(const proto::Body& body) {
  const auto* hello = std::get_if<proto::Hello>(&body);
  if (!hello)
    return end(failed_precondition(fmt::format("the first frame must be a hello, not a {}", proto::name(body))));
  if (hello->version != proto::kProtocolVersion) {
    return end(failed_precondition(
        fmt::format("client speaks protocol {}, this server {}", hello->version, proto::kProtocolVersion)));
  }
  const auto& names = host_->devices();
  if (hello->device >= names.size()) {
    return end(not_found(fmt::format("there is no device {} here: the worker has {}", hello->device, list(names))));
  }
  auto admitted = host_->admit(*hello, peer_);
  if (!admitted.ok()) return end(admitted.status());
  admission_ = *std::move(admitted);
  session_ = host_->open_session(hello->device);
  if (const auto health = session_->health(); !health.ok()) return end(health);
  session_->on_progress([this](std::uint64_t executed) { acknowledge(executed); });
  auto info = session_->info();
  max_in_flight_ = info.max_in_flight;
  info.devices = names;
  host_->log(Severity::info, fmt::format("session {} opened from {} ({}) on {}", info.session, peer_,
                                         quoted(hello->client), names[hello->device]));
  const auto fingerprint = ir::op_set_fingerprint();
  if (hello->fingerprint != 0 && hello->fingerprint != fingerprint) {
    host_->log(Severity::warning, fmt::format("session {}: the client's op set ({:016x}) differs from ours ({:016x})",
                                              info.session, hello->fingerprint, fingerprint));
  }
  welcome_ = true;
  send(proto::Welcome{proto::kProtocolVersion, fingerprint, info});
}

Status Connection::take_turn(const proto::Frame& frame) {
  const auto due = received_ + 1;
  if (frame.seq != due) return invalid_argument(fmt::format("frame {} where {} is due", frame.seq, due));
  if (due - acknowledged_ > max_in_flight_) {
    return resource_exhausted(fmt::format("frame {} while {} is the last acknowledged; at most {} may be under way",
                                          due, acknowledged_.load(), max_in_flight_));
  }
  received_ = due;
  return {};
}

Status Connection::dispatch(proto::Frame frame) {
  auto body = std::move(frame.body);
  return std::visit([&](auto& kind) { return perform(frame, kind); }, body);
}

// These fail only when the session is closed: then the connection is, too.
Status Connection::perform(proto::Frame&, proto::DefineProgram& define) {
  auto& [id, program, forget, invalid, output_count] = define;
  if (!program) return session_->define_invalid(id, output_count, std::move(invalid), std::move(forget));
  return session_->define(id, std::move(program), std::move(forget));
}

Status Connection::perform(proto::Frame&, proto::RunProgram& run) { return session_->run(std::move(run.run)); }

Status Connection::perform(proto::Frame& frame, proto::Write& write) {
  const auto bytes = write.type.num_bytes();
  if (frame.payload.size() == bytes) return session_->write(write.id, {write.type, std::move(frame.payload)});
  // A tensor that the session does not take fails alone; its chunks come all the same.
  auto upload = session_->begin_upload(write.id, write.type);
  return receiver_.announce(write.id, bytes, upload.ok() ? *std::move(upload) : nullptr);
}

Status Connection::perform(proto::Frame& frame, proto::Chunk& chunk) {
  BURN_RETURN_IF_ERROR(receiver_.receive(chunk, frame.payload.span()));
  if (const auto grant = receiver_.take_grant()) send(proto::Credit{grant});
  return {};
}

Status Connection::perform(proto::Frame&, proto::Read& read) {
  if (sender_.waiting() > max_in_flight_) return resource_exhausted("the client does not take what it asked for");
  ++unanswered_;
  session_->read(read.id, [this, request = read.request](auto tensor) {
    answer(request, std::move(tensor));
    --unanswered_;
  });
  return {};
}

Status Connection::perform(proto::Frame&, proto::Release& release) { return session_->release(std::move(release.ids)); }

Status Connection::perform(proto::Frame&, proto::Sync& sync) {
  ++unanswered_;
  session_->sync([this, request = sync.request](Status status) {
    send(proto::Done{request, std::move(status)});
    --unanswered_;
  });
  return {};
}

Status Connection::perform(proto::Frame&, proto::Credit& credit) { return sender_.grant(credit.bytes); }

Status Connection::perform(proto::Frame&, proto::Close& close) {
  if (!ended_.exchange(true)) log_end(close.status);
  channel_->close();
  return {};
}

template <typename Other>
Status Connection::perform(proto::Frame&, Other&) {
  return invalid_argument("a client may not send this now");
}

// --- what it is told -------------------------------------------------------------------------------------------------

void Connection::answer(std::uint64_t request, Result<proto::HostTensor> tensor) {
  if (!tensor.ok()) return send(proto::Done{request, tensor.status()});
  auto& [type, bytes] = *tensor;
  if (bytes.size() <= proto::kInlineBytes) return send(proto::Data{request, type}, std::move(bytes));
  send(proto::Data{request, type});
  if (!ended_) sender_.add(request, std::move(bytes));
}

void Connection::acknowledge(std::uint64_t executed) {
  acknowledged_ = executed;  // before the client may know
  send(proto::Ack{executed});
}

void Connection::send(proto::Body body, SharedBytes payload) {
  if (ended_) return;
  if (channel_->queued_bytes() > kMaxBacklogBytes)
    return end(resource_exhausted("the client does not read its answers"));
  channel_->send(proto::encode({0, std::move(body), std::move(payload)}), proto::Lane::control);
}

}  // namespace burn::net
