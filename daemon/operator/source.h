// The interface through which the operator's port queries and controls its process.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "daemon/operator/metrics.h"
#include "daemon/operator/report.h"

namespace burn::daemon {

// Thread-safe. The first three functions return at once: they wait for no device and no session.
class OperatorSource {
 public:
  virtual ~OperatorSource() = default;

  // Ok, or the reason why not, in one sentence.
  virtual Status startup() const = 0;  // devices are open and sockets are bound
  virtual Status ready() const = 0;    // new clients are accepted now
  virtual Status healthy() const = 0;  // the process does not need a restart

  virtual void collect(Samples& samples) const = 0;
  virtual Report report() const = 0;
  // "burn-server 0.1.0"
  virtual std::string title() const = 0;

  // Shuts the process down as SIGTERM does; has no effect if it is shutting down already. Returns at once.
  virtual void drain() = 0;
  // "debug", ... Errors: INVALID_ARGUMENT for another word.
  virtual Status set_log_level(std::string_view level) {
    return invalid_argument("there is no log level " + std::string{level});
  }
  // Ends a session and tells its client. Errors: NOT_FOUND if no session with this name has a connection.
  virtual Status close_session(std::string_view name) { return not_found("there is no session " + std::string{name}); }
};

}  // namespace burn::daemon
