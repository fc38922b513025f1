// What a server says of a failure ends in somebody's terminal or log.
#pragma once

#include "base/one_line.h"
#include "base/status.h"

namespace burn::net {

// On one line that moves no cursor. How long it may be is the codec's to say.
inline Status as_said(const Status& status) {
  return status.ok() ? status : Status{status.code(), one_line(status.message())};
}

}  // namespace burn::net
