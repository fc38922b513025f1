// Parses the options of the command line that describe a router's workers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compile/partition/layout.h"

namespace burn::router {

// A device of a worker, in the form of --worker.
struct WorkerSpec {
  std::string url;
  double weight = 1;  // its share of what is split, relative to the other workers
};

// Parses "URL" or "URL=WEIGHT", where the URL is valid for net::parse_url(). Errors: INVALID_ARGUMENT with what is
// wrong.
Result<WorkerSpec> parse_worker(std::string_view text);

// The device name under which a client selects the worker: "member:HOST:PORT" or "member:PATH", followed by "/K" or
// "/NAME" for a device other than the worker's first. Requires: a URL that net::parse_url() accepts.
std::string member_name(const std::string& url);

// Parses the arrangement of workers: "data=4", or "data=2,model=2", where adjacent workers are along "model". Empty
// text: one axis, "data", for all of them. Errors: INVALID_ARGUMENT for text that is not a mesh, a mesh whose size is
// not `workers`, an unknown axis, and an axis longer than a group can be (ir::kMaxMembers).
Result<compile::partition::Mesh> parse_mesh(std::string_view text, std::size_t workers);

}  // namespace burn::router
