// burn-server with a gate, over WebSocket and gRPC, and raw clients for it.
#pragma once

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/remote/remote_session.h"
#include "tests/proto/frames.h"
#include "tests/server/process.h"

namespace burn::server {

inline const std::string kToken = "0123456789abcdef0123456789abcdef", kOther = "fedcba9876543210fedcba9876543210";

class TokenFile {
 public:
  explicit TokenFile(const std::string& text) { write(text); }
  ~TokenFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }
  void write(const std::string& text) const {
    std::ofstream{path_} << text;
    ::chmod(path_.c_str(), 0600);
  }

 private:
  const std::string path_ = fmt::format("/tmp/burn-tokens-{}", ::getpid());
};

// A running burn-server that listens over WebSocket and gRPC.
struct Running {
  explicit Running(std::vector<std::string> more, std::vector<std::string> before = {}) {
    std::vector<std::string> arguments = std::move(before);
    for (const char* one :
         {BURN_SERVER, "--device", "cpu", "--threads", "1", "--ws", "127.0.0.1:0", "--grpc", "127.0.0.1:0"})
      arguments.emplace_back(one);
    arguments.insert(arguments.end(), more.begin(), more.end());
    process.emplace(arguments);
    for (auto& url : urls) url = process->read_line().substr(10);
    for (const auto& one : more) has_unix = has_unix || one == "--unix";
    if (has_unix) process->read_line();
  }
  std::string stop() {
    process->send(SIGTERM);
    exit_code = process->wait();
    return process->read_errors();
  }

  std::optional<Process> process;
  std::array<std::string, 2> urls;
  bool has_unix = false;
  int exit_code = -1;
};

inline Status try_to_connect(const std::string& url, const std::string& token = "") {
  return net::connect(url, {.token = token}).status();
}

// A hello as one WebSocket message, for clients that write to a raw socket.
inline std::string hello(const std::string& client = "raw", const std::string& token = "") {
  const auto frame = proto::to_string(proto::encode({0, proto::Hello{.client = client, .token = token}, {}}));
  std::string message{"\x82"};
  if (frame.size() < 126) {
    message += static_cast<char>(0x80 | frame.size());
  } else {
    message += static_cast<char>(0x80 | 126);
    message += static_cast<char>(frame.size() >> 8);
    message += static_cast<char>(frame.size());
  }
  return message + std::string(4, '\0') + frame;
}

}  // namespace burn::server
