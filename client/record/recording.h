// Hands one thread's recording to another thread without sending it: the ops of a loader thread that prepares a batch
// (normalises, casts) become a part of the program of the training step that consumes it, instead of a run of their own
// on the worker.
#pragma once

#include <memory>
#include <vector>

#include "client/device.h"

namespace burn::client {

class Recorder;

// A recording that is being handed to another thread. If it is destroyed without adopt(), it is sent when one of its
// tensors is next used.
class DetachedRecording {
 public:
  // Takes over this thread's recording on `device`, or on every device that it has used.
  static DetachedRecording detach(const Device& device);
  static DetachedRecording detach();
  DetachedRecording(DetachedRecording&&) = default;
  DetachedRecording& operator=(DetachedRecording&&) = delete;
  ~DetachedRecording();

  // Appends it to this thread's recordings. At most once.
  void adopt();

 private:
  struct Part {
    std::shared_ptr<DeviceState> device;
    std::shared_ptr<Recorder> recorder;
  };

  DetachedRecording() = default;
  void take(const std::shared_ptr<DeviceState>& device);

  std::vector<Part> parts_;
};

// Called before a step on this thread: waits while the devices that the thread uses are too many steps behind
// (client/record/pacer.h).
void pace_this_thread();

}  // namespace burn::client
