// A host of two devices that is no worker, and clients that speak to its service in memory.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "daemon/host.h"
#include "net/serve/connection.h"
#include "session/local_session.h"
#include "tests/server/fake_channel.h"
#include "tests/session/fake_backend.h"

namespace burn::daemon {

class FakeHost final : public Host {
 public:
  using Host::Host;

  const std::vector<std::string>& devices() const override { return devices_; }
  std::unique_ptr<proto::ServedSession> open_session(const proto::Hello& hello) override {
    const std::lock_guard lock{mutex_};
    hellos_.push_back(hello);
    return session::make_local_session(worker_, {}, session::Execution::caller_if_quick);
  }
  void log(net::Severity, std::string_view line) override {
    const std::lock_guard lock{mutex_};
    lines_.emplace_back(line);
  }
  void log_unauthenticated(std::string_view line) override { log(net::Severity::info, line); }
  void tick() override { ++ticks; }
  Status health() const override { return is_lost_ ? internal_error("the device second is lost") : Status{}; }
  void lose_device() { is_lost_ = true; }

  std::vector<proto::Hello> hellos() const {
    const std::lock_guard lock{mutex_};
    return hellos_;
  }
  bool has_logged(std::string_view part) const {
    const std::lock_guard lock{mutex_};
    for (const auto& line : lines_) {
      if (line.find(part) != std::string::npos) return true;
    }
    return false;
  }

  std::shared_ptr<session::FakeDevice> device = std::make_shared<session::FakeDevice>();
  std::atomic<int> ticks = 0;

 private:
  const std::vector<std::string> devices_{"first", "second"};
  std::atomic<bool> is_lost_ = false;
  const std::shared_ptr<session::Worker> worker_ = session::Worker::create(session::make_fake_backend(device));
  mutable std::mutex mutex_;
  std::vector<proto::Hello> hellos_;
  std::vector<std::string> lines_;
};

// The client's end of a connection, whose server's end is `handler`.
struct FakeLine {
  std::shared_ptr<server::FakeChannel> channel = std::make_shared<server::FakeChannel>();
  std::shared_ptr<proto::ChannelHandler> handler;

  void send(proto::Body body, std::uint64_t seq = 0) const {
    handler->on_frame(proto::shared(proto::to_string(proto::encode({seq, std::move(body), {}}))));
  }
  proto::Welcome enter(proto::Hello hello = {.client = "test"}) const {
    send(std::move(hello));
    return channel->expect<proto::Welcome>();
  }
  void cut() const { handler->on_closed(unavailable("cut")); }
};

}  // namespace burn::daemon
