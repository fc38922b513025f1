// Devices of this process: a client that links burn::local can open "cpu", "null" and the other local devices.
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "backends/registry/plugin.h"
#include "backends/registry/registry.h"
#include "base/fork.h"
#include "proto/session_registry.h"
#include "session/local_session.h"

// Named in the linker options of burn::local, so that this file is linked although no code calls it.
extern "C" void burn_local_anchor() {}

namespace burn::session {
namespace {

struct Workers {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Worker>> by_device;
};

// One worker per device and process; sessions share its memory and plans.
Result<std::shared_ptr<Worker>> worker_for(const std::string& url) {
  static auto& processes = *new OnePerProcess<Workers>;
  Workers& workers = processes.get();
  // "cpu:0" is the device "cpu".
  const auto device = url.ends_with(":0") ? url.substr(0, url.size() - 2) : url;
  const std::lock_guard lock{workers.mutex};
  const auto found = workers.by_device.find(device);
  if (found != workers.by_device.end()) return found->second;
  BURN_TRY(auto backend, backends::open_backend(device));
  return workers.by_device.emplace(device, Worker::create(std::move(backend))).first->second;
}

Result<std::unique_ptr<proto::Session>> open_local(const std::string& url) {
  BURN_TRY(auto worker, worker_for(url));
  return std::unique_ptr<proto::Session>{make_local_session(std::move(worker))};
}

// Runs before all static constructors without a priority, in any file, as a static object may be a Device.
[[gnu::constructor(101)]] void register_devices() {
  for (const auto& kind : backends::backend_kinds()) proto::register_scheme(kind.name, open_local);
  for (const auto kind : backends::plugin_kinds()) proto::register_scheme(std::string(kind), open_local);
}

}  // namespace
}  // namespace burn::session
