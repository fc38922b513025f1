// The operator's port: HTTP/1.1 on its own address and its own thread, so that it answers even while clients keep the
// other threads busy.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "base/status.h"
#include "daemon/operator/source.h"

namespace burn::daemon {

// Serves from construction to destruction.
class OperatorPort {
 public:
  static constexpr std::size_t kMaxConnections = 64, kMaxOfOnePeer = 32;
  // Time limit for receiving a request and for sending its answer; also the idle time allowed between two requests.
  static constexpr std::chrono::seconds kRequestTimeout{5};

  // `address`: "HOST:PORT" (port 0: any free one) or "unix:PATH", to which the file's group may connect, too. `source`
  // must outlive the port. Throws Error: UNAVAILABLE for an address in use; INVALID_ARGUMENT for an invalid one. Throws
  // std::system_error if the thread cannot be started.
  OperatorPort(const std::string& address, OperatorSource& source);
  // Closes all connections, after waiting for an answer that is being computed.
  ~OperatorPort();
  OperatorPort(const OperatorPort&) = delete;
  OperatorPort& operator=(const OperatorPort&) = delete;

  // "http://127.0.0.1:3002", with the actual port; "unix:PATH".
  const std::string& url() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace burn::daemon
