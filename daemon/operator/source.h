// What the operator's port asks of the process that it belongs to.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "daemon/operator/metrics.h"
#include "daemon/operator/report.h"

namespace burn::daemon {

// Thread-safe. The first three answer at once: they wait for no device and no session.
class OperatorSource {
 public:
  virtual ~OperatorSource() = default;

  // Ok, or why not, as one sentence.
  virtual Status startup() const = 0;  // devices are open and sockets are bound
  virtual Status ready() const = 0;    // a client's hello would be considered now
  virtual Status healthy() const = 0;  // the process can serve again without being started again

  virtual void collect(Samples& samples) const = 0;
  virtual Report report() const = 0;
  // "burn-server 0.1.0"
  virtual std::string title() const = 0;

  // Has the process end as by SIGTERM, once: when it is ending already, nothing happens. Returns at once.
  virtual void drain() = 0;
  // "debug", ... Errors: INVALID_ARGUMENT for another word.
  virtual Status set_log_level(std::string_view level) {
    return invalid_argument("there is no log level " + std::string{level});
  }
  // Ends a session, as its client is told. Errors: NOT_FOUND where no session of this name has a connection.
  virtual Status close_session(std::string_view name) { return not_found("there is no session " + std::string{name}); }
};

}  // namespace burn::daemon
