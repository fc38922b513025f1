// What a server says of a failure ends in a user's terminal or log.
#pragma once

#include "base/one_line.h"
#include "base/status.h"

namespace burn::net {

// `status` with its message on one line that moves no cursor. How long it may be is the codec's to say.
inline Status printable(const Status& status) {
  return status.ok() ? status : Status{status.code(), one_line(status.message())};
}

}  // namespace burn::net
