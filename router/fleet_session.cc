#include "router/fleet_session.h"

#include <utility>

#include "router/fleet_performer.h"
#include "serving/queued_session.h"

namespace burn::router {

std::unique_ptr<proto::ServedSession> make_fleet_session(FleetOptions options) {
  const auto quotas = options.quotas;
  return serving::QueuedSession::make(std::make_unique<FleetPerformer>(std::move(options)), quotas,
                                      serving::Execution::session_thread);
}

}  // namespace burn::router
