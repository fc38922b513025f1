// The command "burn-router status": shows the state of a router's workers.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "proto/session.h"

namespace burn::router {

// One line for each worker under a heading, for people.
std::string status_text(const std::vector<proto::MemberStats>& members);
// {"members": [{"name": ..., "url": ..., "state": "up" or "lost", "why": ..., "weight": ..., "sessions": ...,
// "memory_in_use": ..., "memory_limit": ..., "runs": ..., "busy_seconds": ...}]}, in one line.
std::string status_json(const std::vector<proto::MemberStats>& members);

// Asks the router at `url` for the state of its workers. Errors: those of net::connect(); FAILED_PRECONDITION if it is
// not a router.
Result<std::vector<proto::MemberStats>> ask_status(const std::string& url, const std::string& token);

// Runs burn-router status [--json] [--device URL] [--token-file PATH]; `arguments` are those after "status". Prints to
// stdout, errors to stderr, and returns the exit code.
int run_status(const std::vector<std::string>& arguments);

}  // namespace burn::router
