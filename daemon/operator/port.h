// The operator's port: HTTP/1.1 on an address of its own, on a thread of its own, so that it answers while clients keep
// the others busy.
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
  // For a request to come, and for its answer to be taken; also between two requests on a connection.
  static constexpr std::chrono::seconds kRequestTimeout{5};

  // `address`: "HOST:PORT" (port 0: any free one) or "unix:PATH", where the file's group may connect, too. `source`
  // must outlive the port. Throws Error: UNAVAILABLE for an address in use; INVALID_ARGUMENT for one that makes no
  // sense. Throws std::system_error for no thread.
  OperatorPort(const std::string& address, OperatorSource& source);
  // Closes all connections, and waits for an answer that is being made.
  ~OperatorPort();
  OperatorPort(const OperatorPort&) = delete;
  OperatorPort& operator=(const OperatorPort&) = delete;

  // "http://127.0.0.1:3002", with the port that was really bound; "unix:PATH".
  const std::string& url() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace burn::daemon
