#include "client/record/thread_recorders.h"

#include <utility>

#include "base/fork.h"

namespace burn::client {
namespace {

constinit thread_local ThreadRecorders* mine = nullptr;

struct AtThreadEnd {
  ~AtThreadEnd() {
    last_recorder = {};
    delete std::exchange(mine, nullptr);
  }
};

}  // namespace

ThreadRecorders& thread_recorders() {
  if (mine != nullptr) return *mine;
  [[maybe_unused]] static const bool once = [] {
    after_fork([] {  // leaks the recorders, which threads of the parent may have been changing
      last_recorder = {};
      mine = nullptr;
    });
    return true;
  }();
  thread_local const AtThreadEnd at_thread_end;
  mine = new ThreadRecorders;
  return *mine;
}

std::vector<std::shared_ptr<DeviceState>> devices_of_this_thread() {
  std::vector<std::shared_ptr<DeviceState>> devices;
  for (const auto& [serial, recorder] : thread_recorders().all) {
    if (auto device = recorder->device.lock()) devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace burn::client
