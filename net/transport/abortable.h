// The interface by which a listener ends the connections that it made.
#pragma once

#include "base/status.h"

namespace burn::net {

class Abortable {
 public:
  virtual ~Abortable() = default;
  // Ends the connection at once; its handler gets `why`. Thread-safe; returns before the end.
  virtual void abort(Status why) = 0;
  // Called about once a second, for deadlines that the transport does not check itself. Thread-safe.
  virtual void tick() {}
};

}  // namespace burn::net
