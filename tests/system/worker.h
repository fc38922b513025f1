// Starts a burn-server for one test, on every transport; it can be killed and restarted at the same addresses.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/server/process.h"

namespace burn::test {

class Worker {
 public:
  Worker() : where_(temporary_folder()), addresses_{"127.0.0.1:0", "127.0.0.1:0", where_ + "/ws", where_ + "/grpc"} {
    start();
  }
  ~Worker() {
    process_.reset();
    for (const char* socket : {"/ws", "/grpc"}) ::unlink((where_ + socket).c_str());
    ::rmdir(where_.c_str());
  }

  // The URL for a scheme: "ws", "grpc", "unix", "grpc+unix". Also for "cpu", which needs no worker.
  const std::string& url(const std::string& scheme) const { return urls_.at(scheme); }

  // Requires: the worker is running.
  pid_t process() const {
    BURN_CHECK(process_.has_value(), "the worker is not there");
    return process_->id();
  }

  // Ends the worker without a clean shutdown.
  void kill() { process_.reset(); }
  // Starts the worker, after kill() at the same addresses.
  void start() {
    process_.emplace(std::vector<std::string>{BURN_SERVER, "--device", "cpu", "--ws", addresses_[0], "--grpc",
                                              addresses_[1], "--unix", addresses_[2], "--grpc-unix", addresses_[3]});
    urls_ = {{"cpu", "cpu"}};
    while (urls_.size() < 5) {
      const std::string line = process_->read_line(), said = "listening ";
      BURN_CHECK(line.starts_with(said), "the worker does not start");
      const std::string url = line.substr(said.size());
      urls_[url.substr(0, url.find(':'))] = url;
    }
    addresses_[0] = url("ws").substr(5);
    addresses_[1] = url("grpc").substr(7);
  }

 private:
  static std::string temporary_folder() {
    std::string name = "/tmp/burn-worker-XXXXXX";
    BURN_CHECK(::mkdtemp(name.data()) != nullptr, "no temporary folder");
    return name;
  }

  const std::string where_;
  std::vector<std::string> addresses_;
  std::optional<server::Process> process_;
  std::map<std::string, std::string> urls_;
};

inline const char* const kSchemes[] = {"cpu", "ws", "grpc", "unix", "grpc+unix"};
inline const char* const kNetworkSchemes[] = {"ws", "grpc", "unix", "grpc+unix"};
// For INSTANTIATE_TEST_SUITE_P: test names must not contain "+".
inline const auto kSchemeName = [](const auto& info) {
  std::string name = info.param;
  for (char& c : name) c = c == '+' ? '_' : c;
  return name;
};

}  // namespace burn::test
