// The service of a daemon: listens, accepts connections, admits clients, ends what is overdue, and drains at the end. A
// daemon is a Host, which has the devices and opens the sessions, and a main() that runs one of these around it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "daemon/host.h"
#include "daemon/service_options.h"

namespace burn::daemon {

// Serves from construction to stop(). Thread-safe.
class Service {
 public:
  // Reads the tokens of host->admission(), starts the service's threads and listens.
  // Throws Error: UNAVAILABLE for an address in use; INVALID_ARGUMENT for an address that makes no sense, or for none
  // at all; FAILED_PRECONDITION for an address that other machines can reach, without a token file or `insecure`; as
  // Tokens::reload().
  Service(const ServiceOptions& options, std::shared_ptr<Host> host);
  // stop(). In a child of fork(), which has none of its threads, does nothing.
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // "ws://127.0.0.1:3000", with the ports that were really bound. At least one.
  const std::vector<std::string>& urls() const;
  // Connections that are not disposed of yet.
  std::size_t connections() const;
  // Sessions that are not over, and those that are but have not given their memory back.
  std::size_t sessions() const;

  // Accepts no more clients, lets what clients have sent be executed and answered for up to drain_timeout, tells them
  // that the server is shutting down, and closes. Then waits for what is being executed, however long it takes.
  // Idempotent. In a child of fork() does nothing.
  void stop();

 private:
  struct Parts;
  bool is_forked() const;
  std::chrono::milliseconds tick();
  void listen();

  const ServiceOptions options_;
  const std::shared_ptr<Host> host_;
  const std::uint32_t forks_;
  std::vector<std::string> urls_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace burn::daemon
