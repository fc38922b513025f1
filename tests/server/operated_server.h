// burn-server as a program with an operator's port, and a client of it.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "daemon/operator/client.h"
#include "net/remote/remote_session.h"
#include "tests/server/process.h"
#include "tests/session/programs.h"

namespace burn::server {

// A burn-server with an operator's port.
class OperatedServer {
 public:
  explicit OperatedServer(const std::vector<std::string>& more = {}) : process_{command(more)} {
    const auto port = process_.read_line();
    EXPECT_THAT(port, testing::StartsWith("operator http://127.0.0.1:"));
    address_ = port.substr(std::string{"operator http://"}.size());
    const auto listening = process_.read_line();
    EXPECT_THAT(listening, testing::StartsWith("listening ws://127.0.0.1:"));
    url_ = listening.substr(std::string{"listening "}.size());
  }

  daemon::OperatorAnswer get(std::string_view path) const {
    return value_or_throw(daemon::ask_operator(address_, "GET", path, std::chrono::seconds{10}));
  }
  // The value of this series ("burn_ready", or with its labels as /metrics writes them); empty: there is none.
  std::string metric(const std::string& series) const {
    const auto text = "\n" + get("/metrics").body;
    const auto at = text.find("\n" + series + " ");
    if (at == std::string::npos) return {};
    const auto begin = at + series.size() + 2;
    return text.substr(begin, text.find('\n', begin) - begin);
  }
  const std::string& address() const { return address_; }
  const std::string& url() const { return url_; }
  Process& process() { return process_; }

 private:
  static std::vector<std::string> command(const std::vector<std::string>& more) {
    std::vector<std::string> all{BURN_SERVER, "--ws", "127.0.0.1:0", "--grpc", "off", "--operator", "127.0.0.1:0"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  Process process_;
  std::string address_, url_;
};

// Waits until a metric has this value, as a server counts a little after it has answered.
inline void expect_metric(const OperatedServer& server, const std::string& series, const std::string& value) {
  for (int i = 0; i < 500 && server.metric(series) != value; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  EXPECT_EQ(server.metric(series), value) << series;
}

// Runs x + x `count` times in a new session.
inline void run(const std::string& url, int count) {
  const auto session = value_or_throw(net::connect(url));
  EXPECT_TRUE(session->define(1, session::add_program({2}), {}).ok());
  EXPECT_TRUE(session->write(1, session::tensor({2}, {1, 2})).ok());
  for (proto::TensorId id = 2; id < 2 + static_cast<proto::TensorId>(count); ++id) {
    EXPECT_TRUE(session->run({.program = 1, .inputs = {1, 1}, .first_output = id}).ok());
  }
  std::promise<void> done;
  session->sync([&](const Status&) { done.set_value(); });
  done.get_future().wait();
}

}  // namespace burn::server
