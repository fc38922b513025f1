// What a listener keeps of the connections it made: enough to end them.
#pragma once

#include "base/status.h"

namespace burn::net {

class Abortable {
 public:
  virtual ~Abortable() = default;
  // Ends the connection at once; its handler is told `why`. Thread-safe; returns before it is done.
  virtual void abort(Status why) = 0;
  // Called about once a second, for deadlines that the transport does not keep by itself. Thread-safe.
  virtual void tick() {}
};

}  // namespace burn::net
