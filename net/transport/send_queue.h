// The frames waiting to be written on a channel: two lanes, of which control overtakes bulk, and one pump that writes
// them.
//
// The pump is the thread that was told to start it: it calls next() until nothing is left, and is then idle. So a burst
// of sends starts one pump, and no other thread uses the socket meanwhile. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <optional>

#include "base/thread_annotations.h"
#include "proto/channel.h"

namespace burn::net {

class SendQueue {
 public:
  struct Next {
    std::optional<proto::EncodedFrame> frame;  // the frame to write now
    bool finished = false;                     // no frame now or later: close the transport
  };

  // Returns true if the pump was idle: the caller must start it. Frames are dropped after close() or discard().
  bool push(proto::EncodedFrame frame, proto::Lane lane);
  // No more frames will be pushed. Returns true as above.
  bool close();
  // Between the two, frames wait unless the pump is running, so that related frames leave together. May be nested, and
  // called by several threads. end_burst, flush: return true as above.
  void begin_burst();
  bool end_burst();
  bool flush();
  // For data that the transport itself has to write. Returns true as above.
  bool wake();
  // The transport has ended: drops all frames; the pump must not be started again. Returns true if the pump is idle, so
  // no frame is partly written.
  bool discard();

  // For the pump, which is idle if no frame is returned, unless it passes `stay` because it still has something to
  // write.
  Next next(bool stay = false);
  // The frames returned by next() so far have left the process.
  void written();

  // Memory taken by the frames that wait or are being written, which is more than their bytes.
  std::size_t bytes() const;
  // Whether close() or discard() was called.
  bool is_closed() const;
  // Whether frames of the bulk lane wait.
  bool has_bulk() const;

  // Memory that a frame takes beside its bytes: its place in a lane, and a block for its header.
  static constexpr std::size_t kFrameBytes = 160;

 private:
  bool start_pump() BURN_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::array<std::deque<proto::EncodedFrame>, 2> lanes_ BURN_GUARDED_BY(mutex_);  // by Lane
  int bursts_ BURN_GUARDED_BY(mutex_) = 0;
  std::size_t waiting_ BURN_GUARDED_BY(mutex_) = 0;  // bytes in lanes_
  std::size_t writing_ BURN_GUARDED_BY(mutex_) = 0;  // bytes of frames returned by next(), until written()
  bool pumping_ BURN_GUARDED_BY(mutex_) = false;
  bool closed_ BURN_GUARDED_BY(mutex_) = false;
  bool discarded_ BURN_GUARDED_BY(mutex_) = false;
};

}  // namespace burn::net
