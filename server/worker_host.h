// Serves sessions on the devices of this process: one session::Worker each.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "daemon/host.h"
#include "net/trace/span_exporter.h"
#include "session/local_session.h"

namespace burn::server {

class WorkerHost final : public daemon::Host {
 public:
  using Workers = std::vector<std::shared_ptr<session::Worker>>;
  // `quotas`: of each session. `lease`, `admission`: as in daemon::Host. `collective_address`: as in ServerOptions.
  WorkerHost(Workers workers, const session::Quotas& quotas, std::chrono::seconds lease = std::chrono::seconds{0},
             std::shared_ptr<daemon::AdmissionControl> admission = std::make_shared<daemon::AdmissionControl>(),
             std::string collective_address = session::kLoopback);

  static constexpr std::size_t kCostliestPrograms = 50;  // programs listed for each device in the report

  const Workers& workers() const { return workers_; }
  // Adds the exporter's counts to the metrics; null: none. Requires: the host is not in use yet.
  void show_spans(std::shared_ptr<const net::SpanExporter> spans) { spans_ = std::move(spans); }

  const std::vector<std::string>& devices() const override { return devices_; }
  std::unique_ptr<proto::ServedSession> open_session(const proto::Hello& hello) override;
  std::unique_ptr<proto::ServedSession> open_session_of(const proto::Hello& hello,
                                                        const net::Identity& identity) override;
  void tick() override;
  void change(const daemon::OptionValues& values) override;
  std::uint64_t runs_left_behind() const override;
  Status health() const override;
  void collect(daemon::Samples& samples) const override;
  void report(daemon::Report& report) const override;

 private:
  void log_left_behind();
  void ask_for_free_memory();
  void report_programs(daemon::Report& report) const;
  session::Quotas quotas() const;
  session::Quotas quotas_of(const net::Identity& identity) const;
  std::unique_ptr<proto::ServedSession> open_session(const proto::Hello& hello, const session::Quotas& quotas);

  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

  const Workers workers_;
  mutable std::mutex quotas_mutex_;
  session::Quotas quotas_;  // of sessions opened from now on; guarded by `quotas_mutex_`
  const std::string collective_address_;
  std::shared_ptr<const net::SpanExporter> spans_;
  std::vector<std::string> devices_, labels_;              // labels: their names in metrics
  std::vector<std::atomic<std::uint64_t>> free_memory_;    // bytes free on each device at the last tick, or kUnknown
  std::uint64_t left_behind_ = 0, total_left_behind_ = 0;  // as last logged; used by tick() only
};

}  // namespace burn::server
