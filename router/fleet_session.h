// A client's session on several workers, which the client sees as one device.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/span.h"
#include "compile/partition/layout.h"
#include "proto/served_session.h"
#include "router/fleet_times.h"
#include "serving/budget.h"
#include "serving/quotas.h"

namespace burn::router {

struct FleetOptions {
  std::vector<std::unique_ptr<proto::Session>> members;  // sessions on the workers, used only by this session
  std::vector<std::string> names;                        // URLs of the workers, for errors
  std::vector<double> weights;                           // for the sizes of their parts of a batch; empty: equal
  compile::partition::Mesh mesh;                         // the arrangement of the members, in order
  std::size_t home = 0;                                  // the member on which the session runs until the first batch
  serving::Quotas quotas;
  std::shared_ptr<serving::HostAccount> account = nullptr;             // charged by all sessions; null: none
  std::shared_ptr<FleetTimes> times = std::make_shared<FleetTimes>();  // shared by all sessions
  std::shared_ptr<SpanSink> spans = nullptr;                           // receives spans of runs; null: none
  std::chrono::milliseconds group_timeout{10'000};                     // time for the workers to connect to each other
};

// Requires: as many members as the mesh has, at least one, and a name for each.
std::unique_ptr<proto::ServedSession> make_fleet_session(FleetOptions options);

}  // namespace burn::router
