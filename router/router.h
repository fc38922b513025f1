// A router inside any program: workers elsewhere, served to clients as one, over the sockets that it listens on.
// burn-router is the same router as a program.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/options.h"
#include "daemon/service_options.h"

namespace burn::daemon {
class PeriodicThread;
class Service;
}  // namespace burn::daemon

namespace burn::router {

class RouterHost;

struct RouterOptions {
  daemon::ServiceOptions service;
  std::vector<std::string> workers;         // as --worker: "ws://a:3000", "grpc://b:3001=2"
  std::string mesh;                         // as --mesh; empty: all along "data"
  std::string worker_token_file;            // the first token in it is the router's, for its workers; empty: BURN_TOKEN
  std::chrono::seconds worker_timeout{30};  // for all workers to be there, at first
  std::string otlp;                         // URL of a collector to which spans of runs are sent; empty: none
  std::uint64_t trace_one_in = 1000;        // of so many runs one
  std::chrono::seconds worker_lease{0};     // that sessions on all workers outlive lost connections to them, at most
};

// burn-router's, from values of daemon/options.def.
RouterOptions router_options(const daemon::OptionValues& values);

// Serves from construction to stop(). Thread-safe.
class Router {
 public:
  // Listens, connects to the workers and checks that they fit; until then clients are refused. Throws Error:
  // INVALID_ARGUMENT for no worker, or options that make no sense; daemon::Service's; RouterHost::connect_members()'s;
  // daemon::read_token_file()'s.
  explicit Router(const RouterOptions& options);
  ~Router();  // stop()
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  std::string url() const;  // the first of urls()
  const std::vector<std::string>& urls() const;
  std::size_t sessions() const;
  daemon::Service& service() { return *service_; }
  RouterHost& host() { return *host_; }

  // As daemon::Service::stop().
  void stop();

 private:
  const std::shared_ptr<RouterHost> host_;
  const std::unique_ptr<daemon::Service> service_;
  std::unique_ptr<daemon::PeriodicThread> watch_;
};

}  // namespace burn::router
