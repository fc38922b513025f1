#include "daemon/host.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "daemon/log.h"
#include "daemon/status_session.h"

namespace burn::daemon {

Host::Host(std::chrono::seconds lease, std::shared_ptr<AdmissionControl> admission) : admission_(std::move(admission)) {
  leases().set_limit(lease);
}

Result<std::string> Host::device_of(const proto::Hello& hello) const {
  const auto subject = status_subject(hello);
  if (!subject) return SessionHost::device_of(hello);
  BURN_TRY(const auto device, net::find_device(devices(), *subject));
  return fmt::format("the status of {}", devices()[device]);
}

Result<net::Identity> Host::authenticate(const proto::Hello& hello, const net::Caller& caller) {
  return admission_->identify(hello.token, caller.security);
}

Result<net::Admission> Host::admit(const proto::Hello& hello, const net::Caller& caller) {
  BURN_TRY(auto admission, admission_->admit(hello.token, caller));
  const auto tenant = admission_->tenants().by_name(admission.identity.tenant);
  const auto rules = tenant ? tenant->rules() : nullptr;
  if (rules && !rules->devices.empty() && !status_subject(hello)) {
    BURN_TRY(const auto device, device_of(hello));
    if (std::ranges::find(rules->devices, device) == rules->devices.end()) {
      return Status{StatusCode::permission_denied, fmt::format("tenant {} may not use {}", tenant->name(), device)};
    }
  }
  if (requires_audit_ && audit_log_ && !audit_log_->is_writable())
    return resource_exhausted("sessions are refused, as the audit log cannot be written");
  return admission;
}

void Host::audit(const net::SessionEvent& event) {
  if (audit_log_) audit_log_->write(event);
}

void Host::log(net::Severity severity, std::string_view line) {
  severity == net::Severity::warning ? log_warning(line) : log_info(line);
}

void Host::log_unauthenticated(std::string_view line) {
  log_suppressed();
  if (unauthenticated_.admit(LogThrottle::Clock::now())) log_info(line);
}

void Host::tick() { log_suppressed(); }

void Host::log_suppressed() {
  const auto count = unauthenticated_.take_suppressed(LogThrottle::Clock::now());
  if (count == 0) return;
  log_info(fmt::format("{} more connections were closed before their hello; {} lines in {} s are logged", count,
                       kMaxLines, kLinePeriod.count()));
}

}  // namespace burn::daemon
