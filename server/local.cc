// Devices inside this process: linking burn::local lets the client open "cpu" and "null".
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "backends/backend.h"
#include "proto/session_registry.h"
#include "server/local_session.h"

// Named on the command line of whoever links the library, so that this file is linked although nobody calls it.
extern "C" void burn_local_anchor() {}

namespace burn::server {
namespace {

// One worker per device and process; sessions share its memory and plans. Never destroyed: sessions may be as old as
// the process.
Result<std::shared_ptr<Worker>> worker_for(const std::string& device) {
  static auto& mutex = *new std::mutex;
  static auto& workers = *new std::map<std::string, std::shared_ptr<Worker>>;
  const std::lock_guard lock{mutex};
  auto& worker = workers[device];
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

[[maybe_unused]] const bool kRegistered = [] {
  for (const std::string device : {"cpu", "null"}) {
    proto::register_scheme(device, [device](const std::string& url) { return open_local(device, url); });
  }
  return true;
}();

}  // namespace
}  // namespace burn::server
