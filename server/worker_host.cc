#include "server/worker_host.h"

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

std::unique_ptr<proto::ServedSession> WorkerHost::open_session(std::size_t device) {
  return session::make_local_session(workers_[device], quotas_, session::Execution::by_quick_callers);
}

void WorkerHost::log(net::Severity severity, std::string_view line) {
  severity == net::Severity::warning ? log_warning(line) : log_info(line);
}

}  // namespace burn::server
