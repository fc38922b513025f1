// What waits to be written on a channel: two lanes, of which control overtakes bulk, and one pump that empties them.
//
// The pump is whoever was told "start": it asks for next() until nothing is left and is idle then. So a burst of sends wakes the
// transport's thread once. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>

#include "proto/channel.h"

namespace burn::proto {

class SendQueue {
 public:
  struct Next {
    std::optional<EncodedFrame> frame;  // to write now
    bool finished = false;              // no frame, and never one again: close the transport
  };

  // True: the pump was idle, the caller has to start it. Frames after close() or discard() are dropped.
  bool push(EncodedFrame frame, Lane lane);
  // Nothing will be pushed any more. True as above.
  bool close();
  // For the pump, when the frame it had is written. Without a frame the pump is idle.
  Next next();
  // The transport broke: drops everything and closes; the pump is not to be started again.
  void discard();

  // Of the frames waiting and of the one being written.
  std::size_t bytes() const;

 private:
  mutable std::mutex mutex_;
  std::array<std::deque<EncodedFrame>, 2> lanes_;  // by Lane
  std::size_t waiting_ = 0;                        // bytes in lanes_
  std::size_t writing_ = 0;                        // bytes of the frame that the pump has
  bool pumping_ = false;
  bool closed_ = false;
};

}  // namespace burn::proto
