// Devices inside this process: linking burn::local lets the client open "cpu" and "null".
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "backends/backend.h"
#include "base/fork.h"
#include "proto/session_registry.h"
#include "server/local_session.h"

// Named on the command line of whoever links the library, so that this file is linked although nobody calls it.
extern "C" void burn_local_anchor() {}

namespace burn::server {
namespace {

struct Workers {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Worker>> by_device;
};

// One worker per device and process; sessions share its memory and plans.
Result<std::shared_ptr<Worker>> worker_for(const std::string& device) {
  static auto& processes = *new OnePerProcess<Workers>;
  Workers& workers = processes.get();
  const std::lock_guard lock{workers.mutex};
  auto& worker = workers.by_device[device];
  if (!worker) {
    BURN_TRY(auto backend, backends::open_backend(device));
    worker = Worker::create(std::move(backend));
  }
  return worker;
}

Result<std::unique_ptr<proto::Session>> open_local(const std::string& device, const std::string& url) {
  if (url != device && url != device + ":0") {
    return invalid_argument(fmt::format("no device \"{}\": of this kind there is only \"{}\" here", url, device));
  }
  BURN_TRY(auto worker, worker_for(device));
  return std::unique_ptr<proto::Session>{make_local_session(std::move(worker))};
}

// Before any static object of the program is made, as that may be a Device: those without a priority come later, in
// every file.
[[gnu::constructor(101)]] void register_devices() {
  for (const std::string device : {"cpu", "null"}) {
    proto::register_scheme(device, [device](const std::string& url) { return open_local(device, url); });
  }
}

}  // namespace
}  // namespace burn::server
