// A client's session on several workers, which look like one device to it.
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
  std::vector<std::unique_ptr<proto::Session>> members;  // sessions on the workers, which are this session's alone
  std::vector<std::string> names;                        // of the workers, for errors: their URLs
  std::vector<double> weights;                           // of their parts of a batch; empty: equal ones
  compile::partition::Mesh mesh;                         // of the members, in their order
  std::size_t home = 0;                                  // the member on which the session lives until a batch comes
  serving::Quotas quotas;
  std::shared_ptr<serving::HostAccount> account = nullptr;  // of all sessions' calls and programs; null: none
  std::shared_ptr<FleetTimes> times = std::make_shared<FleetTimes>();  // of all sessions
  std::shared_ptr<SpanSink> spans = nullptr;                           // of runs; null: none
  std::chrono::milliseconds group_timeout{10'000};                     // for the workers to connect to each other
};

// Requires: as many members as the mesh has, at least one, and a name for each.
std::unique_ptr<proto::ServedSession> make_fleet_session(FleetOptions options);

}  // namespace burn::router
