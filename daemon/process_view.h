// The state of a daemon's process as the operator's port shows it; includes the service and the host while they exist.
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
  // `title`: "burn-server 0.1.0". `drain`: starts the shutdown of the process; must not block.
  ProcessView(std::string title, std::function<void()> drain) : title_(std::move(title)), drain_(std::move(drain)) {}

  static constexpr std::size_t kMaxSessions = 1000;  // listed in a report: those with the most memory

  // Sets the current options, with their origins.
  void show_options(Daemon daemon, const OptionValues& values);
  // Shows this service and host until detach() has returned.
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
  // Caller must hold `mutex_`; all but why_not_started() also require that service and host are attached.
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
