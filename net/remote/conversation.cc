#include "net/remote/conversation.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/overloaded.h"
#include "net/remote/in_callback.h"
#include "proto/channel_batch.h"
#include "proto/codec.h"

namespace burn::net {

// --- sending ---------------------------------------------------------------------------------------------------------

Status Conversation::send(proto::Body body, SharedBytes payload, SharedBytes upload) {
  std::unique_lock lock(mutex_);
  return send_locked(lock, std::move(body), std::move(payload), std::move(upload));
}

void Conversation::ask_read(proto::TensorId id, Requests::ReadCallback done) {
  std::unique_lock lock(mutex_);
  if (!broken_) {
    const std::uint64_t request = requests_.add(std::move(done), window_.next_seq());
    window_.add_question();
    // If the connection breaks now, all requests fail, including this one.
    (void)send_locked(lock, proto::Read{request, id, requests_.answers()}, {}, {});
    return;
  }
  const Status why = *broken_;
  lock.unlock();
  done(why);
}

void Conversation::ask_sync(Requests::SyncCallback done) {
  std::unique_lock lock(mutex_);
  if (!broken_) {
    const std::uint64_t request = requests_.add(std::move(done), window_.next_seq());
    window_.add_question();
    (void)send_locked(lock, proto::Sync{request, requests_.answers()}, {}, {});  // as above
    return;
  }
  const Status why = *broken_;
  lock.unlock();
  done(why);
}

void Conversation::ask_unordered(const proto::Verb& verb,
                                 const std::function<proto::Body(Requests::UnorderedCallback)>& add,
                                 Requests::UnorderedCallback done) {
  std::unique_lock lock(mutex_);
  const Status why = broken_ ? *broken_ : check_known(verb);
  if (why.ok()) {
    auto question = add(std::move(done));
    if (welcome_) transmit(proto::encode({0, std::move(question), {}}), proto::Lane::control);
    return;  // before the welcome: on_welcome() sends it
  }
  lock.unlock();
  done(why);
}

Status Conversation::check_known(const proto::Verb& verb) const {
  if (!is_known_ || !verb.is_announced || (extensions_ >> verb.field) % 2 == 1) return {};
  return unimplemented(
      fmt::format("the server at {} ({}) does not know {}: it is of an older version", url_, info_.server, verb.name));
}

Status Conversation::send_locked(std::unique_lock<std::mutex>& lock, proto::Body body, SharedBytes payload,
                                 SharedBytes upload) {
  auto* const recorded = sent_runs_.are_recorded() ? std::get_if<proto::RunProgram>(&body) : nullptr;
  const auto called = recorded ? SentRuns::Clock::now() : SentRuns::Clock::time_point{};
  const bool waits = !options_.never_waits && !InCallback::is_inside();
  if (channel_ && waits && !window_.has_room(upload.size())) channel_->flush();
  if (waits) changed_.wait(lock, [&] { return broken_ || window_.has_room(upload.size()); });
  if (broken_) return *broken_;
  OrderedFrame ordered{.seq = window_.next_seq(), .frame = {}, .upload_id = {}, .upload = std::move(upload)};
  if (!ordered.upload.empty()) ordered.upload_id = std::get<proto::Write>(body).id;
  const auto index = body.index();
  if (recorded) sent_runs_.add(recorded->run, ordered.seq, called);
  ordered.frame = proto::encode({ordered.seq, std::move(body), std::move(payload)});
  if (ordered.frame.size() > proto::kMaxFrameBytes) {
    return resource_exhausted(
        fmt::format("a frame of {} bytes; the protocol's limit is {}", ordered.frame.size(), proto::kMaxFrameBytes));
  }
  counts_.sent[index] += 1;
  window_.add(std::move(ordered), proto::kVerbs[index].is_awaited);
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

void Conversation::send_what_fits() {
  if (!channel_ || !welcome_) return;  // sent later, on the next channel
  // NOLINTBEGIN(bugprone-unchecked-optional-access): they are checked, as the conditions
  while (auto next = window_.next_frame()) {
    if (!next->upload_id) {
      transmit(std::move(next->frame), proto::Lane::control);
      continue;
    }
    const proto::ChannelBurst burst{*channel_};  // a Write leaves with its first chunk, if there is credit for it
    transmit(std::move(next->frame), proto::Lane::control);
    window_.begin_upload(*std::move(next));
    send_chunks();
  }
  // NOLINTEND(bugprone-unchecked-optional-access)
  send_chunks();
}

void Conversation::send_chunks() {
  const auto parts = window_.waiting_part_bytes();
  while (const auto chunk = window_.next_chunk())
    transmit(proto::encode(*chunk), proto::Lane::bulk);  // NOLINT(bugprone-unchecked-optional-access): it is, above
  if (window_.waiting_part_bytes() != parts) has_sent_parts_ = true;
}

void Conversation::transmit(proto::EncodedFrame frame, proto::Lane lane) {
  if (!channel_) {
    if (handshake_.has_greeted()) handshake_.hold(std::move(frame), lane);
    return;
  }
  counts_.frames_sent += 1;
  counts_.bytes_sent += frame.size();
  if (options_.never_waits) proto::ChannelBatch::join(channel_);  // such a caller forwards frames, in batches
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
  in_frame_.store(false, std::memory_order_release);
  if (status.ok()) return;
  end(lost(url_, "the server broke the protocol: " + status.message()));
  const std::lock_guard lock(mutex_);
  if (channel_) channel_->close();
}

Status Conversation::dispatch(proto::Frame frame) {
  {
    const std::lock_guard lock(mutex_);
    if (broken_) return {};  // a Close was sent or received
    in_frame_.store(true, std::memory_order_relaxed);
    const bool is_close = std::holds_alternative<proto::Close>(frame.body);
    if (!is_close && std::holds_alternative<proto::Welcome>(frame.body) == welcome_) {
      return invalid_argument(
          fmt::format("a {} {} the welcome", proto::name(frame.body), welcome_ ? "after" : "before"));
    }
  }
  return std::visit(
      Overloaded{
          [&](const proto::Welcome& welcome) { return on_welcome(welcome); },
          [&](const proto::Ack& ack) { return on_ack(ack.seq); },
          [&](const proto::Data& data) {
            return on_answer(requests_.on_data(data, frame.payload, info_.max_tensor_bytes), frame.payload.size());
          },
          [&](const proto::Done& done) { return on_answer(requests_.on_done(done), 0); },
          [&](const proto::Chunk& chunk) { return on_chunk(chunk, frame.payload.span()); },
          [&](const proto::Credit& credit) { return on_credit(credit); },
          [&](const proto::Close& close) { return on_close(close); },
          [&](const proto::Notice& notice) { return on_notice(notice); },
          [&]<proto::Report Report>(const Report& report) { return on_report(requests_.on_report(report)); },
          [&]<typename Other>(const Other&) -> Status {
            static_assert(!proto::kVerbOf<Other>.is_from_server(), "what a server sends has a handler here");
            return invalid_argument(fmt::format("a {}, which a server may not send", proto::kVerbOf<Other>.name));
          },
      },
      frame.body);
}

Status Conversation::on_answer(Result<Completion> completion, std::size_t bytes) {
  if (completion.ok()) {
    if (requests_.was_oldest()) progress_.add();
    confirm(bytes, false);
  }
  return complete(std::move(completion));
}

Status Conversation::on_report(Result<Completion> completion) {
  if (completion.ok() && requests_.was_oldest()) {
    const std::lock_guard lock(mutex_);
    if (window_.is_executed()) progress_.add();  // nothing else is waited for
  }
  return complete(std::move(completion));
}

Status Conversation::on_credit(const proto::Credit& credit) {
  {
    const std::lock_guard lock(mutex_);
    BURN_TRY(const std::uint64_t taken, window_.grant(credit.bytes));
    const auto oldest = requests_.oldest_seq();
    if (!oldest || window_.has_upload_before(*oldest)) progress_.add_bytes(taken);
    send_what_fits();
    changed_.notify_all();
  }
  tell_parts_sent();
  return {};
}

Status Conversation::on_ack(std::uint64_t seq) {
  std::shared_ptr<const RemoteSession::Listener> listener;
  {
    const std::lock_guard lock(mutex_);
    BURN_RETURN_IF_ERROR(acknowledged(seq));
    send_what_fits();
    changed_.notify_all();
    listener = listener_;
  }
  if (listener && listener->progress) listener->progress(seq);
  return {};
}

Status Conversation::acknowledged(std::uint64_t seq) {
  const auto before = window_.acknowledged();
  BURN_RETURN_IF_ERROR(window_.acknowledge(seq));
  sent_runs_.acknowledge(seq);
  const auto oldest = requests_.oldest_seq();
  if (seq > before && (!oldest || before < *oldest)) progress_.add();
  return {};
}

Status Conversation::on_chunk(const proto::Chunk& chunk, std::span<const std::byte> bytes) {
  auto completion = requests_.on_chunk(chunk, bytes);
  confirmation_.add_chunk(bytes.size());
  const bool is_whole = completion.ok() && *completion;
  if (completion.ok() && requests_.was_oldest()) is_whole ? progress_.add() : progress_.add_bytes(bytes.size());
  if (completion.ok())
    confirm(0, confirmation_.has_consumed_much() || (is_whole && chunk.offset >= proto::kConfirmBytes));
  return complete(std::move(completion));
}

void Conversation::confirm(std::uint64_t bytes, bool at_once) {
  confirmation_.add_answer(bytes);
  const std::uint64_t answers = requests_.answers();
  if (!confirmation_.take_due(answers, at_once)) return;
  const std::lock_guard lock(mutex_);
  const bool is_kept = reconnector_.can_resume();
  if (broken_ || (confirmation_.consumed() == 0 && !is_kept)) return;
  const proto::Credit credit{confirmation_.take_consumed(), is_kept ? answers : 0, is_kept ? requests_.downloads() : 0};
  transmit(proto::encode({0, credit, {}}), proto::Lane::control);
}

Status Conversation::complete(Result<Completion> completion) {
  if (!completion.ok()) return completion.status();
  if (*completion) (*completion)();
  return {};
}

}  // namespace burn::net
