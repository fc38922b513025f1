// Workers and a router of this process, and sessions through it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/remote/remote_session.h"
#include "router/router.h"
#include "server/server.h"
#include "tests/session/answers.h"

namespace burn::router {

using session::read;
using session::stats;
using session::sync;

inline server::ServerOptions worker_options() { return {.ws = "127.0.0.1:0"}; }
inline RouterOptions router_options(std::vector<std::string> workers) {
  RouterOptions options;
  options.service.ws = "127.0.0.1:0";
  options.workers = std::move(workers);
  options.worker_timeout = std::chrono::seconds{2};
  return options;
}

inline std::unique_ptr<net::RemoteSession> connect(const std::string& url, const net::ConnectOptions& options = {}) {
  return value_or_throw(net::connect(url, options));
}

}  // namespace burn::router
