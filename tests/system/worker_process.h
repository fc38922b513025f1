// burn-server as a process of its own, for tests that measure it or stop it.
#pragma once

#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "tests/server/process.h"

namespace burn::test {

// Every kind of device URL; "cpu" is this process.
inline constexpr const char* kEveryDevice[] = {"cpu", "ws", "grpc", "unix", "grpc+unix"};

// BURN_SERVER, on every transport, until the end of its life.
class WorkerProcess {
 public:
  explicit WorkerProcess(std::vector<std::string> more_arguments = {}) : process_(arguments(std::move(more_arguments))) {
    for (int i = 0; i < 4; ++i) {
      const auto line = process_.read_line();
      const std::string_view listening = "listening ";
      if (line.starts_with(listening)) urls_.push_back(line.substr(listening.size()));
    }
  }
  ~WorkerProcess() {
    for (const auto& path : {path("ws"), path("grpc")}) ::unlink(path.c_str());
  }

  // The URL of a scheme; "cpu" as it is. Empty if it does not listen so.
  std::string url(const std::string& scheme) const {
    if (scheme == "cpu") return scheme;
    for (const auto& url : urls_) {
      if (url.starts_with(scheme + ":")) return url;
    }
    return {};
  }
  // The process that does the work of a device of this scheme.
  pid_t id_of(const std::string& scheme) const { return scheme == "cpu" ? ::getpid() : process_.id(); }
  server::Process& process() { return process_; }

 private:
  static std::string path(const std::string& kind) {
    return "/tmp/burn-test-" + std::to_string(::getpid()) + "-" + kind + ".sock";
  }
  static std::vector<std::string> arguments(std::vector<std::string> more) {
    std::vector<std::string> all{BURN_SERVER, "--device", "cpu", "--ws", "127.0.0.1:0", "--grpc", "127.0.0.1:0",
                                 "--unix", path("ws"), "--grpc-unix", path("grpc")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  server::Process process_;
  std::vector<std::string> urls_;
};

}  // namespace burn::test
