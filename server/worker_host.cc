#include "server/worker_host.h"

#include "server/log.h"

namespace burn::server {

WorkerHost::WorkerHost(Workers workers, const session::Quotas& quotas, std::chrono::seconds lease)
    : workers_(std::move(workers)), quotas_(quotas) {
  leases().set_limit(lease);
  for (const auto& worker : workers_) devices_.emplace_back(worker->backend().name());
}

std::unique_ptr<proto::ServedSession> WorkerHost::open_session(std::size_t device) {
  return session::make_local_session(workers_[device], quotas_, session::Execution::by_quick_callers);
}

void WorkerHost::log(net::Severity severity, std::string_view line) {
  severity == net::Severity::warning ? log_warning(line) : log_info(line);
}

}  // namespace burn::server
