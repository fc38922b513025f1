// A process under a test's control, as the operator's port sees it.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "daemon/operator/source.h"

namespace burn::daemon {

class FakeSource final : public OperatorSource {
 public:
  Status startup() const override { return {}; }
  Status ready() const override { return is_ready ? Status{} : unavailable("draining: 3 sessions are left"); }
  Status healthy() const override { return is_healthy ? Status{} : internal_error("the device cuda:0 is lost"); }
  void collect(Samples& samples) const override {
    if (on_collect) on_collect(samples);
    samples.add(Metric::sessions_limit, 7);
  }
  Report report() const override {
    return {.tables = {{.name = "process", .columns = {"name"}, .rows = {{std::string{"fake"}}}}}};
  }
  std::string title() const override { return "fake 1.2.3"; }
  void drain() override { ++drains; }
  Status set_log_level(std::string_view level) override {
    if (level != "debug") return invalid_argument("there is no log level");
    log_level = level;
    return {};
  }
  Status close_session(std::string_view name) override {
    if (name != "s-1") return not_found("no such session");
    ++closed;
    return {};
  }

  std::string log_level;
  int closed = 0;

  std::atomic<bool> is_ready = true, is_healthy = true;
  std::atomic<int> drains = 0;
  std::function<void(Samples&)> on_collect;  // set it before the port is there
};

}  // namespace burn::daemon
