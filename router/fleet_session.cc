#include "router/fleet_session.h"

#include <fmt/format.h>

#include "daemon/status_session.h"

namespace burn::router {

std::unique_ptr<proto::ServedSession> make_fleet_session(FleetOptions options) {
  return daemon::make_refused_session(unimplemented(fmt::format(
      "this router does not split programs between its {} workers; /least-loaded and /1 to /{} are one worker each",
      options.members.size(), options.members.size())));
}

}  // namespace burn::router
