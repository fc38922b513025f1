// Handing what one thread has recorded to another, unsent: a loader thread prepares a batch (normalises, casts), and the training
// step that consumes it becomes one program with it, instead of a run of its own on the worker.
#pragma once

#include <memory>

#include "client/device.h"

namespace burn::client {

class Recorder;

// A recording on its way between threads. Destroyed without adopt(), it is sent when one of its tensors is next used.
class Recording {
 public:
  // Takes what this thread has recorded on `device` so far.
  static Recording detach(const Device& device);
  Recording(Recording&&) = default;
  Recording& operator=(Recording&&) = default;
  ~Recording();

  // Appends it to this thread's recording. At most once.
  void adopt();

 private:
  Recording(std::shared_ptr<DeviceState> device, std::shared_ptr<Recorder> recorder)
      : device_(std::move(device)), recorder_(std::move(recorder)) {}
  std::shared_ptr<DeviceState> device_;
  std::shared_ptr<Recorder> recorder_;
};

}  // namespace burn::client
