// What waits to be written on a channel: two lanes, of which control overtakes bulk, and one pump that empties them.
//
// The pump is the thread that was told to start it: it asks for next() until nothing is left, and is idle then. So a
// burst of sends starts one pump, and no other thread touches the socket meanwhile. Thread-safe.
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
    std::optional<proto::EncodedFrame> frame;  // to write now
    bool finished = false;                     // no frame, and never one again: close the transport
  };

  // True: the pump was idle, the caller has to start it. Frames after close() or discard() are dropped.
  bool push(proto::EncodedFrame frame, proto::Lane lane);
  // Nothing will be pushed any more. True as above.
  bool close();
  // Between these frames wait for each other, unless the pump is running: what belongs together leaves together. May be
  // nested, and from several threads. end_burst, flush: true as above.
  void begin_burst();
  bool end_burst();
  bool flush();
  // For what the transport itself has to write. True as above.
  bool wake();
  // The transport is over: drops everything; the pump is not to be started again. True: it is idle, so nothing is half
  // written.
  bool discard();

  // For the pump. Without a frame it is idle, unless it wants to stay because it has something to write all the same.
  Next next(bool stay = false);
  // What next() gave so far has left the process.
  void written();

  // Of the frames waiting, and of those being written: what they take of memory, more than what they have to say.
  std::size_t bytes() const;
  // close() was called, or discard().
  bool is_closed() const;
  // Whether frames of the bulk lane wait.
  bool has_bulk() const;

  // What a frame takes beside its bytes: its place in a lane, and a block for its header.
  static constexpr std::size_t kFrameBytes = 160;

 private:
  bool start_pump() BURN_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::array<std::deque<proto::EncodedFrame>, 2> lanes_ BURN_GUARDED_BY(mutex_);  // by Lane
  int bursts_ BURN_GUARDED_BY(mutex_) = 0;
  std::size_t waiting_ BURN_GUARDED_BY(mutex_) = 0;  // bytes in lanes_
  std::size_t writing_ BURN_GUARDED_BY(mutex_) = 0;  // bytes that the pump has
  bool pumping_ BURN_GUARDED_BY(mutex_) = false;
  bool closed_ BURN_GUARDED_BY(mutex_) = false;
  bool discarded_ BURN_GUARDED_BY(mutex_) = false;
};

}  // namespace burn::net
