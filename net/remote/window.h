// The frames that a client sends in order, from their creation until the server has executed them: numbered frames, the
// chunks of uploads, and the limits on both.
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
  // Upload bytes that may be at the server before it has executed the frames sent before them.
  static constexpr std::uint64_t kMaxUnexecutedBytes = std::uint64_t{256} << 20;
  // Bytes of ordered frames that may be kept until they are executed.
  static constexpr std::uint64_t kMaxKeptBytes = std::uint64_t{64} << 20;
  // Ordered frames that may be kept before the welcome sets the server's limit.
  static constexpr std::uint64_t kMaxBeforeWelcome = 1024;

  // Sets the server's limits: ordered frames and upload bytes that may be in flight. `keeps`: frames and uploads are
  // kept until the server has them, as the session can be resumed. Requires: nothing was sent; credit <= kMaxCredit.
  void open(std::uint64_t max_in_flight, std::uint64_t credit, bool keeps);

  // Whether one more frame, with an upload of `upload_bytes`, is within the limits.
  bool has_room(std::uint64_t upload_bytes) const;
  std::uint64_t next_seq() const { return frames_.next_seq(); }
  // `is_awaited`: is_work_done() is false until the server has executed this frame. Requires: frame.seq == next_seq().
  void add(OrderedFrame frame, bool is_awaited);
  // Notes that the frame next_seq() asks a question.
  void add_question() { last_question_ = next_seq(); }

  // The next frame to send, if the window allows it. If it has an upload, call begin_upload() next.
  std::optional<OrderedFrame> next_frame() { return frames_.next(max_in_flight_); }
  void begin_upload(OrderedFrame write);
  // The bytes from `offset` on of a tensor that the Write with number `seq` announces without an upload. They are sent
  // after it. Requires: sent frames are not kept.
  void add_part(std::uint64_t seq, proto::TensorId id, std::uint64_t offset, SharedBytes bytes) {
    uploads_.add_part(seq, id, offset, std::move(bytes));
  }
  std::uint64_t waiting_part_bytes() const { return uploads_.waiting_part_bytes(); }  // not yet sent
  // The next chunk to send, if there is credit for it.
  std::optional<proto::Frame> next_chunk() { return uploads_.next(frames_.last_sent()); }

  // Errors: INVALID_ARGUMENT for a frame that is not in flight.
  Status acknowledge(std::uint64_t seq);
  // As UploadQueue::grant().
  Result<std::uint64_t> grant(std::uint64_t bytes) { return uploads_.grant(bytes); }
  // Continues over another connection, whose server has received frames up to `received` and uploads as `uploads` say.
  // Returns the number of frames to be sent again. Errors: INVALID_ARGUMENT for what was not sent.
  Result<std::uint64_t> resume(std::uint64_t received, std::uint64_t credit, std::span<const proto::Chunk> uploads);
  // Drops all frames and uploads: nothing more is sent.
  void clear();

  std::uint64_t acknowledged() const { return frames_.acknowledged(); }
  // Whether the server has executed all frames; and whether all upload bytes are returned by next_chunk().
  bool is_executed() const { return frames_.unacknowledged() == 0; }
  bool is_sent() const { return uploads_.waiting_bytes() == 0; }
  // Whether the server has executed all awaited frames, and whether the last of them asks a question.
  bool is_work_done() const { return frames_.acknowledged() >= last_awaited_; }
  bool ends_with_question() const { return last_question_ == last_awaited_; }
  // Whether there is an unexecuted upload of a frame before `seq`.
  bool has_upload_before(std::uint64_t seq) const { return !unexecuted_.empty() && unexecuted_.front().seq < seq; }

 private:
  struct Unexecuted {  // an upload whose frame is not acknowledged
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
