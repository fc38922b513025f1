// The recorders that a thread uses, by device. Thread-local, so without a lock. Private to client/record.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "client/record/recorder.h"

namespace burn::client {

// The recorder used last, a cache of one entry: most threads use one device.
struct LastRecorder {
  std::uint64_t serial = 0;
  Recorder* recorder = nullptr;
};
inline constinit thread_local LastRecorder last_recorder{};

struct ThreadRecorders {
  std::unordered_map<std::uint64_t, std::shared_ptr<Recorder>> all;  // by the device's serial
  CaptureLog* capture = nullptr;                                     // set while this thread records a captured step
};
// This thread's recorders. Still valid after the thread's other thread-local variables have been destroyed, as static
// objects may then drop or make tensors. Reset in the child of a fork().
ThreadRecorders& thread_recorders();

// The devices that this thread has used and that still exist.
std::vector<std::shared_ptr<DeviceState>> devices_of_this_thread();

}  // namespace burn::client
