// The part of a session host that all daemons share: admission, leases and logging. A daemon derives from it and adds
// its devices and the sessions on them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/admission_control.h"
#include "daemon/audit_log.h"
#include "daemon/log_throttle.h"
#include "daemon/operator/metrics.h"
#include "daemon/operator/report.h"
#include "daemon/options.h"
#include "daemon/session_counters.h"
#include "net/serve/session_host.h"

namespace burn::daemon {

// Thread-safe.
class Host : public net::SessionHost {
 public:
  // `lease`: the longest time that sessions may outlive their connections; 0: not at all. The default admission control
  // admits every client.
  explicit Host(std::chrono::seconds lease = std::chrono::seconds{0},
                std::shared_ptr<AdmissionControl> admission = std::make_shared<AdmissionControl>());

  AdmissionControl& admission() const { return *admission_; }
  const SessionCounters& counters() const { return counters_; }

  // Also accepts the device "status" besides those of devices() (daemon/status_session.h); the derived class opens that
  // session.
  Result<std::string> device_of(const proto::Hello& hello) const override;
  Result<net::Identity> authenticate(const proto::Hello& hello, const net::Caller& caller) override;
  // Errors: also PERMISSION_DENIED for a device that the tenant may not use.
  Result<net::Admission> admit(const proto::Hello& hello, const net::Caller& caller) override;
  bool is_draining() const override { return admission_->is_draining(); }
  std::vector<std::string> advertised() const override { return advertised_; }
  // Must be called before the service starts.
  void set_advertised(std::vector<std::string> urls) { advertised_ = std::move(urls); }
  // Null: session events are not logged. Must be called before the service starts.
  void set_audit_log(std::shared_ptr<AuditLog> log, bool is_required) {
    audit_log_ = std::move(log);
    requires_audit_ = is_required;
  }
  void set_audit_required(bool is_required) { requires_audit_ = is_required; }
  AuditLog* audit_log() const { return audit_log_.get(); }
  void audit(const net::SessionEvent& event) override;
  void log(net::Severity severity, std::string_view line) override;
  // Logs at most kMaxLines lines in each kLinePeriod, and after the period the number of suppressed lines.
  void log_unauthenticated(std::string_view line) override;
  void count_opened() override { counters_.count_opened(); }
  void count_closed(net::SessionEnd how) override { counters_.count_closed(how); }
  void count_refused(net::SessionEnd how, const Status& why) override { counters_.count_refused(how, why); }

  // Called by the service about once a second while there are clients, always from the same thread.
  virtual void tick();
  // The number of runs that were told to stop and are still computing. While there are any, the process must not
  // destroy what they use: it exits without running destructors.
  virtual std::uint64_t runs_left_behind() const { return 0; }

  // Applies options that were read again; options of sessions apply to new sessions only.
  virtual void change(const OptionValues& /*values*/) {}

  // Called by the operator's port, on its thread. Ok, or why the daemon cannot serve until it is restarted, as when a
  // device is lost. Must not wait for a device or a session.
  virtual Status health() const { return {}; }
  // Samples and tables specific to this daemon, about its devices.
  virtual void collect(Samples& /*samples*/) const {}
  virtual void report(Report& /*report*/) const {}

  static constexpr std::size_t kMaxLines = 10;
  static constexpr std::chrono::seconds kLinePeriod{10};

 private:
  void log_suppressed();

  const std::shared_ptr<AdmissionControl> admission_;
  std::shared_ptr<AuditLog> audit_log_;
  std::atomic<bool> requires_audit_ = false;
  std::vector<std::string> advertised_;
  SessionCounters counters_;
  LogThrottle unauthenticated_{kMaxLines, kLinePeriod};
};

}  // namespace burn::daemon
