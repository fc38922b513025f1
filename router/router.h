// A router for embedding in any program: serves remote workers to clients as one device, on its own listeners.
// burn-router is a program around it.
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
  std::vector<std::string> workers;  // in the form of --worker: "ws://a:3000", "grpc://b:3001=2"
  std::string mesh;                  // in the form of --mesh; empty: all along "data"
  std::string worker_token_file;     // its first token authenticates the router to its workers; empty: BURN_TOKEN
  std::chrono::seconds worker_timeout{30};  // time for all workers to become reachable at the start
  std::string otlp;                         // URL of a collector to which spans of runs are sent; empty: none
  std::uint64_t trace_one_in = 1000;        // trace one run in this many
  std::chrono::seconds worker_lease{0};  // longest time that sessions on all workers outlive lost connections to them
};

// The options of burn-router, from values of daemon/options.def.
RouterOptions router_options(const daemon::OptionValues& values);

// Serves from construction to stop(). Thread-safe.
class Router {
 public:
  // Listens, connects to the workers and checks that they fit together; clients are refused until then. Throws Error:
  // INVALID_ARGUMENT for a missing worker or invalid options; those of daemon::Service, RouterHost::connect_members()
  // and daemon::read_token_file().
  explicit Router(const RouterOptions& options);
  ~Router();  // stop()
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  std::string url() const;  // the first of urls()
  const std::vector<std::string>& urls() const;
  std::size_t sessions() const;
  daemon::Service& service() { return *service_; }
  RouterHost& host() { return *host_; }

  // See daemon::Service::stop().
  void stop();

 private:
  const std::shared_ptr<RouterHost> host_;
  const std::unique_ptr<daemon::Service> service_;
  std::unique_ptr<daemon::PeriodicThread> watch_;
};

}  // namespace burn::router
