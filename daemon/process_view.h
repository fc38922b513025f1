// What the operator's port shows of a daemon's process: of its service and its host, once they are there.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "daemon/host.h"
#include "daemon/operator/source.h"
#include "daemon/options.h"
#include "daemon/service.h"

namespace burn::daemon {

// Thread-safe.
class ProcessView final : public OperatorSource {
 public:
  // `title`: "burn-server 0.1.0". `drain`: has the process end; must not block.
  ProcessView(std::string title, std::function<void()> drain) : title_(std::move(title)), drain_(std::move(drain)) {}

  static constexpr std::size_t kMaxSessions = 1000;  // that a report lists, those with the most memory

  // The options that hold from now on, with their origins.
  void show_options(Daemon daemon, const OptionValues& values);
  // They are shown from now on, until detach() has returned.
  void attach(Service& service, Host& host);
  void detach();

  Status startup() const override;
  Status ready() const override;
  Status healthy() const override;
  void collect(Samples& samples) const override;
  Report report() const override;
  std::string title() const override { return title_; }
  void drain() override { drain_(); }
  Status set_log_level(std::string_view level) override;
  Status close_session(std::string_view name) override;

 private:
  // The following require the lock, and but for the first that there are a service and a host.
  Status why_not_started() const;
  Status why_not_ready() const;
  void collect_bytes(Samples& samples) const;
  void collect_clients(Samples& samples) const;
  void collect_security(Samples& samples) const;
  void report_options(Report& report) const;
  void report_tenants(Report& report) const;
  void report_sessions(Report& report) const;

  const std::string title_;
  const std::function<void()> drain_;
  mutable std::mutex mutex_;
  Daemon daemon_ = Daemon::every;
  std::optional<OptionValues> options_;
  Service* service_ = nullptr;
  Host* host_ = nullptr;
};

}  // namespace burn::daemon
