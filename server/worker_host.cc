#include "server/worker_host.h"

#include <utility>

#include <fmt/format.h>

#include "backends/apart.h"
#include "daemon/log.h"
#include "daemon/status_session.h"
#include "session/session_info.h"

namespace burn::server {

using backends::LeftBehind;

WorkerHost::WorkerHost(Workers workers, const session::Quotas& quotas, std::chrono::seconds lease,
                       std::shared_ptr<daemon::AdmissionControl> admission, std::string collective_address)
    : Host(lease, std::move(admission)),
      workers_(std::move(workers)),
      quotas_(quotas),
      collective_address_(std::move(collective_address)) {
  for (const auto& worker : workers_) devices_.emplace_back(worker->backend().name());
}

std::unique_ptr<proto::ServedSession> WorkerHost::open_session(const proto::Hello& hello) {
  const auto subject = daemon::status_subject(hello);
  const auto device = net::find_device(devices_, subject.value_or(hello));
  if (!device.ok()) return daemon::make_refused_session(device.status());
  if (subject) {
    const auto& worker = workers_[*device];
    return daemon::make_status_session(session::describe_session(*worker, quotas_), [worker] {
      return proto::SessionStats{.session = {}, .device = session::usage_of(*worker)};
    });
  }
  return session::make_local_session(workers_[*device], quotas_, session::Execution::by_quick_callers,
                                     collective_address_);
}

void WorkerHost::tick() {
  Host::tick();
  log_left_behind();
}

std::uint64_t WorkerHost::runs_left_behind() const { return LeftBehind::count_in_process(); }

void WorkerHost::log_left_behind() {
  const auto now = LeftBehind::count_in_process(), total = LeftBehind::total_in_process();
  if (now == left_behind_ && total == total_left_behind_) return;
  left_behind_ = now;
  total_left_behind_ = total;
  daemon::log_warning(fmt::format(
      "{} runs that could not be stopped at their end still compute ({} so far); with {} of them no further long "
      "factorisation or convolution is begun",
      now, total, LeftBehind::kMost));
}

}  // namespace burn::server
