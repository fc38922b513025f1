// Which recorder a thread uses on which device. Of each thread alone: no lock. Private to client/record.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "client/record/recorder.h"

namespace burn::client {

// The last one used is looked up first: most threads use one device.
struct LastRecorder {
  std::uint64_t serial = 0;
  Recorder* recorder = nullptr;
};
inline constinit thread_local LastRecorder last_recorder{};

struct ThreadRecorders {
  std::unordered_map<std::uint64_t, std::shared_ptr<Recorder>> all;  // by the device's serial
  CaptureLog* capture = nullptr;                                     // of the captured step that this thread records
};
// This thread's. There even where the thread's other variables are gone: static objects may drop, or make, their last
// tensors then. In the child of a fork() every thread begins anew.
ThreadRecorders& thread_recorders();

// The devices that this thread has used and that are still there.
std::vector<std::shared_ptr<DeviceState>> devices_of_this_thread();

}  // namespace burn::client
