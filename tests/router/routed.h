// Workers and a router of this process, and sessions through it.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/remote/remote_session.h"
#include "router/router.h"
#include "server/server.h"

namespace burn::router {

inline server::ServerOptions worker_options() { return {.ws = "127.0.0.1:0"}; }
inline RouterOptions router_options(std::vector<std::string> workers) {
  RouterOptions options;
  options.service.ws = "127.0.0.1:0";
  options.workers = std::move(workers);
  options.worker_timeout = std::chrono::seconds{2};
  return options;
}

inline std::unique_ptr<net::RemoteSession> connect(const std::string& url, net::ConnectOptions options = {}) {
  return value_or_throw(net::connect(url, options));
}
inline Result<proto::HostTensor> read(proto::Session& session, proto::TensorId id) {
  std::promise<Result<proto::HostTensor>> promise;
  session.read(id, [&](Result<proto::HostTensor> result) { promise.set_value(std::move(result)); });
  return promise.get_future().get();
}
inline Status sync(proto::Session& session) {
  std::promise<Status> promise;
  session.sync([&](Status status) { promise.set_value(std::move(status)); });
  return promise.get_future().get();
}
inline Result<proto::SessionStats> stats(proto::Session& session) {
  std::promise<Result<proto::SessionStats>> promise;
  session.stats([&](const Result<proto::SessionStats>& result) { promise.set_value(result); });
  return promise.get_future().get();
}

}  // namespace burn::router
