#include "server/worker_host.h"

#include <fmt/format.h>

#include "server/log.h"

namespace burn::server {

WorkerHost::WorkerHost(Workers workers, const session::Quotas& quotas, std::chrono::seconds lease,
                       std::shared_ptr<const Gate> gate)
    : workers_(std::move(workers)), quotas_(quotas), gate_(std::move(gate)) {
  leases().set_limit(lease);
  for (const auto& worker : workers_) devices_.emplace_back(worker->backend().name());
}

Result<WorkerHost::Admission> WorkerHost::admit(const proto::Hello& hello, const std::string& peer) {
  if (!gate_) return Admission{};
  return gate_->admit(hello.token, peer);
}

Status WorkerHost::authenticate(const proto::Hello& hello) {
  return gate_ ? gate_->authenticate(hello.token) : Status{};
}

std::unique_ptr<proto::ServedSession> WorkerHost::open_session(const proto::Hello& hello) {
  return session::make_local_session(workers_[hello.device], quotas_, session::Execution::by_quick_callers);
}

void WorkerHost::log(net::Severity severity, std::string_view line) {
  severity == net::Severity::warning ? log_warning(line) : log_info(line);
}

void WorkerHost::log_unauthenticated(std::string_view line) {
  log_left_out();
  if (strangers_.admit(LogThrottle::Clock::now())) log_info(line);
}

void WorkerHost::log_left_out() {
  const auto count = strangers_.take_left_out(LogThrottle::Clock::now());
  if (count == 0) return;
  log_info(fmt::format("{} more connections were closed before their hello; {} lines in {} s are logged", count,
                       kMostLines, kLinePeriod.count()));
}

}  // namespace burn::server
