// Makes a server's error message safe for a user's terminal or log.
#pragma once

#include "base/one_line.h"
#include "base/status.h"

namespace burn::net {

// `status` with its message on one line without control characters. The codec limits its length.
inline Status printable(const Status& status) {
  return status.ok() ? status : Status{status.code(), one_line(status.message())};
}

}  // namespace burn::net
