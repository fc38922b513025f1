// What a client sends in order, from when it is made to when the server has executed it: numbered frames, the chunks of
// uploads, and the limits on both.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>

#include "base/status.h"
#include "net/remote/ordered_frames.h"
#include "net/remote/upload_queue.h"
#include "proto/message.h"

namespace burn::net {

// Not thread-safe.
class Window {
 public:
  // Upload bytes that may wait here for credit.
  static constexpr std::uint64_t kMaxWaitingBytes = std::uint64_t{64} << 20;
  // Upload bytes that may be at the server before it has executed what was sent before them.
  static constexpr std::uint64_t kMaxUnexecutedBytes = std::uint64_t{256} << 20;
  // Bytes of ordered frames that may be kept until they are executed.
  static constexpr std::uint64_t kMaxKeptBytes = std::uint64_t{64} << 20;
  // Ordered frames that may be kept before the server has said how many it takes.
  static constexpr std::uint64_t kMaxBeforeWelcome = 1024;

  // Sets the server's limits: ordered frames and upload bytes that may be under way. `keeps`: frames and uploads stay
  // until the server has them, as the session can be resumed. Requires: nothing was sent; credit <= kMaxCredit.
  void open(std::uint64_t max_in_flight, std::uint64_t credit, bool keeps);

  // Whether one more frame, with an upload of so many bytes, is within the limits.
  bool has_room(std::uint64_t upload_bytes) const;
  std::uint64_t next_seq() const { return frames_.next_seq(); }
  // `is_awaited`: whether is_work_done() is false until the server has executed it. Requires: frame.seq == next_seq().
  void add(OrderedFrame frame, bool is_awaited);
  // Notes that the frame next_seq() asks a question.
  void add_question() { last_question_ = next_seq(); }

  // The next frame to send, if the server takes one. Where it has an upload, begin_upload() must follow it.
  std::optional<OrderedFrame> next_frame() { return frames_.next(max_in_flight_); }
  void begin_upload(OrderedFrame write);
  // The bytes from `offset` on of the tensor that the Write of number `seq` announces without an upload. They are sent
  // after it. Requires: what is sent is not kept.
  void add_part(std::uint64_t seq, proto::TensorId id, std::uint64_t offset, SharedBytes bytes) {
    uploads_.add_part(seq, id, offset, std::move(bytes));
  }
  std::uint64_t waiting_part_bytes() const { return uploads_.waiting_part_bytes(); }  // not yet handed out
  // The next chunk to send, if there is credit for it.
  std::optional<proto::Frame> next_chunk() { return uploads_.next(frames_.last_sent()); }

  // Errors: INVALID_ARGUMENT for a frame that is not under way.
  Status acknowledge(std::uint64_t seq);
  // As UploadQueue::grant().
  Result<std::uint64_t> grant(std::uint64_t bytes) { return uploads_.grant(bytes); }
  // Goes on over another connection, whose server has received frames up to `received` and of uploads what `uploads`
  // say. Returns how many frames are to be sent again. Errors: INVALID_ARGUMENT for what was not sent.
  Result<std::uint64_t> resume(std::uint64_t received, std::uint64_t credit, std::span<const proto::Chunk> uploads);
  // Drops what is here: nothing more is sent.
  void clear();

  std::uint64_t acknowledged() const { return frames_.acknowledged(); }
  // Whether the server has executed all frames, and whether all bytes of uploads are handed out.
  bool is_executed() const { return frames_.unacknowledged() == 0; }
  bool is_sent() const { return uploads_.waiting_bytes() == 0; }
  // Whether the server has executed all frames that are awaited, and whether the last of these asks a question.
  bool is_work_done() const { return frames_.acknowledged() >= last_awaited_; }
  bool ends_with_question() const { return last_question_ == last_awaited_; }
  // Whether the server has not executed an upload of a frame before `seq`.
  bool has_upload_before(std::uint64_t seq) const { return !unexecuted_.empty() && unexecuted_.front().seq < seq; }

 private:
  struct Unexecuted {  // an upload that is not acknowledged
    std::uint64_t seq, bytes;
  };

  OrderedFrames frames_;
  UploadQueue uploads_;
  std::deque<Unexecuted> unexecuted_;
  std::uint64_t unexecuted_bytes_ = 0;
  std::uint64_t last_question_ = 0, last_awaited_ = 0;  // seqs
  std::uint64_t max_in_flight_ = kMaxBeforeWelcome;
  std::uint64_t max_unexecuted_bytes_ = kMaxWaitingBytes;
};

}  // namespace burn::net
