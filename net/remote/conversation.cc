#include "net/remote/conversation.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/catalogue.h"
#include "proto/codec.h"

namespace burn::net {
namespace {

// Download bytes that are granted again in one frame: a part of the window, so that the server never runs dry.
constexpr std::uint64_t kGrantBytes = proto::kInitialCredit / 4;
// How long closing may take. A peer that is there answers in a round trip.
constexpr auto kCloseTimeout = std::chrono::seconds{2};

// Whether this thread is a channel's and handles a frame: then it must not wait, for any conversation. They may share
// it.
thread_local bool is_in_callback = false;

class InCallback {
 public:
  InCallback() : outer_(std::exchange(is_in_callback, true)) {}
  ~InCallback() { is_in_callback = outer_; }
  InCallback(const InCallback&) = delete;
  InCallback& operator=(const InCallback&) = delete;

 private:
  const bool outer_;
};

Status lost(const std::string& url, std::string_view why) {
  return unavailable(fmt::format("lost connection to {}: {}", url, why));
}

}  // namespace

// --- sending ---------------------------------------------------------------------------------------------------------

Status Conversation::start(std::shared_ptr<proto::Channel> channel, const ConnectOptions& options,
                           std::chrono::steady_clock::time_point deadline) {
  const proto::Hello hello{proto::kProtocolVersion, ir::op_set_fingerprint(), "burn-cpp " BURN_VERSION, options.token,
                           device_};
  std::unique_lock lock(mutex_);
  channel_ = std::move(channel);
  if (!broken_) transmit(proto::encode({0, hello, {}}), proto::Lane::control);
  if (!changed_.wait_until(lock, deadline, [&] { return welcome_ || broken_; })) {
    broken_ = unavailable(fmt::format("{} does not complete the handshake", url_));
  }
  return broken_.value_or(ok_status());
}

Status Conversation::send(proto::Body body, SharedBytes payload, SharedBytes upload) {
  std::unique_lock lock(mutex_);
  return send_locked(lock, std::move(body), std::move(payload), std::move(upload));
}

void Conversation::ask_read(proto::TensorId id, Requests::ReadCallback done) {
  std::unique_lock lock(mutex_);
  if (!broken_) {
    const std::uint64_t request = requests_.add(std::move(done));
    (void)send_locked(lock, proto::Read{request, id}, {}, {});  // if it breaks now, all requests fail
    return;
  }
  const Status why = *broken_;
  lock.unlock();
  done(why);
}

void Conversation::ask_sync(Requests::SyncCallback done) {
  std::unique_lock lock(mutex_);
  if (!broken_) {
    const std::uint64_t request = requests_.add(std::move(done));
    (void)send_locked(lock, proto::Sync{request}, {}, {});  // as above
    return;
  }
  const Status why = *broken_;
  lock.unlock();
  done(why);
}

Status Conversation::send_locked(std::unique_lock<std::mutex>& lock, proto::Body body, SharedBytes payload,
                                 SharedBytes upload) {
  if (channel_ && !is_in_callback && !has_room(upload.size())) channel_->flush();
  if (!is_in_callback) changed_.wait(lock, [&] { return broken_ || has_room(upload.size()); });
  if (broken_) return *broken_;
  Ordered ordered{.seq = last_seq_ + 1, .frame = {}, .upload_id = {}, .upload = std::move(upload)};
  if (!ordered.upload.empty()) ordered.upload_id = std::get<proto::Write>(body).id;
  const bool is_run = std::holds_alternative<proto::RunProgram>(body);
  const bool is_program = std::holds_alternative<proto::DefineProgram>(body);
  ordered.frame = proto::encode({ordered.seq, std::move(body), std::move(payload)});
  if (ordered.frame.size() > proto::kMaxFrameBytes) {
    return resource_exhausted(
        fmt::format("a frame of {} bytes; the protocol's limit is {}", ordered.frame.size(), proto::kMaxFrameBytes));
  }
  last_seq_ = ordered.seq;
  if (ordered.upload_id) {
    unexecuted_.emplace_back(ordered.seq, ordered.upload.size());
    unexecuted_bytes_ += ordered.upload.size();
  }
  counts_.runs_sent += is_run ? 1 : 0;
  counts_.programs_sent += is_program ? 1 : 0;
  waiting_.push_back(std::move(ordered));
  send_what_fits();
  return {};
}

void Conversation::begin_burst() {
  const std::lock_guard lock(mutex_);
  if (channel_) channel_->begin_burst();
}

void Conversation::end_burst() {
  const std::lock_guard lock(mutex_);
  if (channel_) channel_->end_burst();
}

bool Conversation::has_room(std::uint64_t upload_bytes) const {
  if (unacknowledged() >= info_.max_in_flight) return false;
  if (upload_bytes == 0) return true;
  const auto fits = [&](std::uint64_t already, std::uint64_t most) {
    return already == 0 || already + upload_bytes <= most;
  };
  return fits(uploads_.waiting_bytes(), kMaxWaitingBytes) && fits(unexecuted_bytes_, kMaxUnexecutedBytes);
}

void Conversation::send_what_fits() {
  while (!waiting_.empty() && waiting_.front().seq - acknowledged_ <= info_.max_in_flight) {
    Ordered next = std::move(waiting_.front());
    waiting_.pop_front();
    transmit(std::move(next.frame), proto::Lane::control);
    if (next.upload_id) uploads_.add(*next.upload_id, std::move(next.upload));
  }
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): it is checked, as the condition
  while (auto chunk = uploads_.next()) transmit(proto::encode(*chunk), proto::Lane::bulk);
}

void Conversation::transmit(proto::EncodedFrame frame, proto::Lane lane) {
  if (!channel_) return;
  counts_.frames_sent += 1;
  counts_.bytes_sent += frame.size();
  channel_->send(std::move(frame), lane);
}

// --- receiving -------------------------------------------------------------------------------------------------------

void Conversation::on_frame(SharedBytes bytes) { on_any_frame(proto::decode(bytes), bytes.size()); }

proto::ReceiveSpace Conversation::receive_space(std::span<const std::byte> head, std::uint64_t size) {
  const auto chunk = proto::peek_chunk(head, size);
  if (!chunk) return {};
  auto bytes = requests_.destination(chunk->chunk, chunk->payload_size);
  if (!bytes) return {};
  const std::span rest{bytes.get(), chunk->payload_size};
  return {chunk->payload_begin, std::move(bytes), rest};
}

void Conversation::on_frame_in_place(SharedBytes head, SharedBytes rest) {
  const std::size_t size = head.size() + rest.size();
  on_any_frame(proto::decode(head, std::move(rest)), size);
}

void Conversation::on_any_frame(Result<proto::Frame> frame, std::size_t bytes) {
  const InCallback in_callback;
  counts_.frames_received += 1;
  counts_.bytes_received += bytes;
  const Status status = frame.ok() ? dispatch(*std::move(frame)) : frame.status();
  if (status.ok()) return;
  end(lost(url_, "the server broke the protocol: " + status.message()));
  const std::lock_guard lock(mutex_);
  if (channel_) channel_->close();
}

Status Conversation::dispatch(proto::Frame frame) {
  {
    const std::lock_guard lock(mutex_);
    if (broken_) return {};  // a Close was sent or received
    const bool is_close = std::holds_alternative<proto::Close>(frame.body);
    if (!is_close && std::holds_alternative<proto::Welcome>(frame.body) == welcome_) {
      return invalid_argument(
          fmt::format("a {} {} the welcome", proto::name(frame.body), welcome_ ? "after" : "before"));
    }
  }
  if (const auto* welcome = std::get_if<proto::Welcome>(&frame.body)) return on_welcome(*welcome);
  if (const auto* ack = std::get_if<proto::Ack>(&frame.body)) return on_ack(ack->seq);
  if (const auto* data = std::get_if<proto::Data>(&frame.body)) {
    return complete(requests_.on_data(*data, frame.payload, info_.max_tensor_bytes));
  }
  if (const auto* chunk = std::get_if<proto::Chunk>(&frame.body)) return on_chunk(*chunk, frame.payload.span());
  if (const auto* done = std::get_if<proto::Done>(&frame.body)) return complete(requests_.on_done(*done));
  if (const auto* credit = std::get_if<proto::Credit>(&frame.body)) {
    const std::lock_guard lock(mutex_);
    BURN_RETURN_IF_ERROR(uploads_.grant(credit->bytes));
    send_what_fits();
    changed_.notify_all();
    return {};
  }
  if (const auto* close = std::get_if<proto::Close>(&frame.body)) {
    const std::lock_guard lock(mutex_);
    const auto& [code, message] = std::pair{close->status.code(), close->status.message()};
    broken_ = welcome_ ? lost(url_, close->status.ok() ? "the server closed the session" : message)
                       : Status{code == StatusCode::ok ? StatusCode::unavailable : code, url_ + ": " + message};
    changed_.notify_all();
    if (channel_) channel_->close();
    return {};  // on_closed follows
  }
  return invalid_argument(fmt::format("a {}, which a server may not send", proto::name(frame.body)));
}

Status Conversation::on_welcome(const proto::Welcome& welcome) {
  const std::lock_guard lock(mutex_);
  if (welcome.version != proto::kProtocolVersion) {
    broken_ = failed_precondition(
        fmt::format("{} speaks protocol {}, this client {}", url_, welcome.version, proto::kProtocolVersion));
  } else if (welcome.info.max_in_flight == 0 || welcome.info.bulk_credit == 0) {
    return invalid_argument("limits of zero");
  } else {
    info_ = welcome.info;
    uploads_ = UploadQueue{info_.bulk_credit};
    welcome_ = true;
  }
  changed_.notify_all();
  return {};
}

Status Conversation::on_ack(std::uint64_t seq) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t last_sent = waiting_.empty() ? last_seq_ : waiting_.front().seq - 1;
  if (seq < acknowledged_ || seq > last_sent) {
    return invalid_argument(
        fmt::format("an ack of {}; between {} and {} are under way", seq, acknowledged_, last_sent));
  }
  acknowledged_ = seq;
  for (; !unexecuted_.empty() && unexecuted_.front().first <= seq; unexecuted_.pop_front()) {
    unexecuted_bytes_ -= unexecuted_.front().second;
  }
  send_what_fits();
  changed_.notify_all();
  return {};
}

Status Conversation::on_chunk(const proto::Chunk& chunk, std::span<const std::byte> bytes) {
  auto completion = requests_.on_chunk(chunk, bytes);
  consumed_ += bytes.size();
  if (completion.ok() && consumed_ >= kGrantBytes) {
    const std::lock_guard lock(mutex_);
    if (!broken_) transmit(proto::encode({0, proto::Credit{std::exchange(consumed_, 0)}, {}}), proto::Lane::control);
  }
  return complete(std::move(completion));
}

Status Conversation::complete(Result<Completion> completion) {
  if (!completion.ok()) return completion.status();
  if (*completion) (*completion)();
  return {};
}

// --- the end ---------------------------------------------------------------------------------------------------------

void Conversation::end(const Status& why) {
  Status cause;
  {
    const std::lock_guard lock(mutex_);
    if (!broken_) broken_ = why;
    cause = *broken_;
    waiting_.clear();
    uploads_.clear();
    changed_.notify_all();
  }
  for (const Completion& completion : requests_.fail_all(cause)) completion();
}

void Conversation::on_closed(Status why) {
  const InCallback in_callback;
  end(lost(url_, why.ok() ? "the server closed it" : why.message()));
  std::shared_ptr<proto::Channel> channel;  // dropped last and outside the lock
  const std::lock_guard lock(mutex_);
  channel = std::move(channel_);
  closed_ = true;
  changed_.notify_all();
}

void Conversation::close() {
  std::unique_lock lock(mutex_);
  if (!broken_) {
    broken_ = unavailable(fmt::format("the session with {} is closed", url_));
    changed_.notify_all();
    transmit(proto::encode({0, proto::Close{}, {}}), proto::Lane::control);
  }
  if (channel_) channel_->close();
  if (is_in_callback) return;
  if (!changed_.wait_for(lock, kCloseTimeout, [&] { return closed_; })) {
    auto channel = std::move(channel_);
    lock.unlock();
    channel.reset();  // no frame comes any more
    end(ok_status());
    lock.lock();
    closed_ = true;
    changed_.notify_all();
  }
}

Status Conversation::health() const {
  const std::lock_guard lock(mutex_);
  return broken_.value_or(ok_status());
}

WireStats Conversation::stats() const {
  return {counts_.frames_sent,    counts_.bytes_sent,    counts_.frames_received,
          counts_.bytes_received, counts_.programs_sent, counts_.runs_sent};
}

}  // namespace burn::net
