// burn-router status: what a router says of its workers.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "proto/session.h"

namespace burn::router {

// A line for each worker under a heading, for people.
std::string status_text(const std::vector<proto::MemberStats>& members);
// {"members": [{"name": ..., "url": ..., "state": "up" or "lost", "why": ..., "weight": ..., "sessions": ...,
// "memory_in_use": ..., "memory_limit": ..., "runs": ..., "busy_seconds": ...}]}, in one line.
std::string status_json(const std::vector<proto::MemberStats>& members);

// What the router at `url` says. Errors: net::connect()'s; FAILED_PRECONDITION for what is no router.
Result<std::vector<proto::MemberStats>> ask_status(const std::string& url, const std::string& token);

// burn-router status [--json] [--device URL] [--token-file PATH]: `arguments` are those after "status". Prints to
// stdout, errors to stderr, and returns the exit code.
int run_status(const std::vector<std::string>& arguments);

}  // namespace burn::router
