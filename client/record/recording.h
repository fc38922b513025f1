// Handing what one thread has recorded to another, unsent: a loader thread prepares a batch (normalises, casts), and
// the training step that consumes it becomes one program with it, instead of a run of its own on the worker.
#pragma once

#include <memory>
#include <vector>

#include "client/device.h"

namespace burn::client {

class Recorder;

// A recording on its way between threads. Destroyed without adopt(), it is sent when one of its tensors is next used.
class DetachedRecording {
 public:
  // Takes what this thread has recorded so far, on `device` or on every device it has used.
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

// A step is about to begin on this thread: waits while the devices it uses are too many steps behind
// (client/record/pacer.h).
void pace_this_thread();

}  // namespace burn::client
