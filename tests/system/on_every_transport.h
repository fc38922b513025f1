// Options of a server that listens on every transport.
#pragma once

#include <atomic>
#include <string>

#include <unistd.h>

#include "server/server.h"

namespace burn::test {

// Each call returns different ports and paths, as servers of several suites may exist at the same time.
inline server::ServerOptions on_every_transport(const std::string& device = "cpu") {
  static std::atomic<int> count = 0;
  const auto path = "/tmp/burn-test-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
  return {.device = device,
          .ws = "127.0.0.1:0",
          .grpc = "127.0.0.1:0",
          .unix_path = path + ".sock",
          .grpc_unix_path = path + "-grpc.sock"};
}

}  // namespace burn::test
