// Reading and writing the frames of a call: delivers what is received, writes what is queued, one message at a time
// each.
#include <string>
#include <utility>

#include "net/listen/grpc_stream.h"

namespace burn::net {

// A frame of an unauthenticated client that is larger than allowed is not parsed.
Status GrpcStream::check_first() {
  const std::size_t size = incoming_.Length(), limit = gate_.max_frame_bytes();
  if (size <= limit) return {};
  return resource_exhausted("a message of " + std::to_string(size) + " bytes; before the hello is accepted " +
                            std::to_string(limit) + " may be");
}

void GrpcStream::read_into(GrpcTag& tag) {
  const std::lock_guard lock(lock_);
  if (answer_) return;
  ++due_;
  call_->stream.Read(&incoming_, tag.hand_over());
}

void GrpcStream::on_read(bool ok) {
  if (!ok) return finish(grpc::Status::OK);  // the client has ended its side, or on_over reports another end
  if (caller_.is_unauthenticated()) {
    if (const Status status = check_first(); !status.ok()) return refuse(status);
  }
  queue_.begin_burst();
  Status status = deliver(&incoming_, gate_);
  if (caller_.is_unauthenticated() && status.ok())
    check_authenticated();  // before the welcome is sent: bytes received after it are not counted
  end_burst();
  if (!status.ok()) return abort(std::move(status));
  read_on();
}

// Reads the next message, unless the client has to read its answers first; then the write of the last one resumes
// reading.
void GrpcStream::read_on() {
  {
    const std::lock_guard lock(lock_);
    if (answer_ || queue_.is_closed()) return;  // further messages are not needed
    pausing_ = queue_.bytes() > kMaxQueuedBytes;
    if (pausing_) return;
  }
  read_into(read_);
}

void GrpcStream::on_written(bool ok) {
  const auto self = shared_from_this();  // the call may end as soon as the lock is released
  {
    const std::lock_guard lock(lock_);
    stall_.took(outgoing_.Length());
    outgoing_.Clear();
    queue_.written();
    writing_ = false;
    if (answer_) return finish_when_written();
    if (pausing_ && ok && queue_.bytes() <= kMaxQueuedBytes / 2) {
      pausing_ = false;
      ++due_;
      call_->stream.Read(&incoming_, read_.hand_over());
    }
  }
  if (ok) pump();  // if not ok, on_over is called
}

void GrpcStream::tick() {
  const auto now = StallWatch::Clock::now();
  const std::lock_guard lock(lock_);
  if (done_ || why_ || !arrived_) return;
  const bool is_ending = answer_ || queue_.is_closed();
  const auto& parts = calls_.parts();
  const auto timeout = is_ending ? parts.end_timeout : parts.stall_timeout;
  if (!stall_.is_stalled(now, is_ending, is_ending || pausing_, timeout)) return;
  why_ = unavailable(std::string{kDoesNotRead});
  call_->context.TryCancel();  // on_over is called then
}

void GrpcStream::write_next() {
  if (!started_ || answer_ || writing_) return;
  switch (packer_.pack(queue_, &outgoing_)) {
    case GrpcPacker::Next::message:
      writing_ = true;
      return call_->stream.Write(outgoing_, written_.hand_over());
    case GrpcPacker::Next::finished:
      why_ = ok_status();
      return answer(grpc::Status::OK);
    case GrpcPacker::Next::nothing:
      return;
  }
}

}  // namespace burn::net
