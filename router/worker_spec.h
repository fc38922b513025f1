// What the command line says of a router's workers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compile/partition/layout.h"

namespace burn::router {

// A device of a worker, as --worker names it.
struct WorkerSpec {
  std::string url;
  double weight = 1;  // of its share in what is split, beside those of the others
};

// "URL" or "URL=WEIGHT", where the URL is one of net::parse_url(). Errors: INVALID_ARGUMENT with what is wrong.
Result<WorkerSpec> parse_worker(std::string_view text);

// The name under which a client finds the worker: "member:HOST:PORT", "member:PATH", followed by "/K" or "/NAME" for
// another device than the worker's first. Requires: a URL that net::parse_url() takes.
std::string member_name(const std::string& url);

// How workers are arranged: "data=4", or "data=2,model=2", where those next to each other are along "model". Empty
// text: one axis, "data", along which all of them are. Errors: INVALID_ARGUMENT for what is no mesh, for one that does
// not multiply to `workers`, for an axis that is neither, and for one that is longer than a group (ir::kMaxMembers).
Result<compile::partition::Mesh> parse_mesh(std::string_view text, std::size_t workers);

}  // namespace burn::router
