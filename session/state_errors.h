// Errors of calls with invalid tensor ids.
#pragma once

#include <fmt/format.h>

#include "base/status.h"
#include "proto/session.h"

namespace burn::session {

inline Status unknown_tensor(proto::TensorId id) {
  return not_found(fmt::format("tensor {} is not known in this session", id));
}

inline Status in_use(proto::TensorId id) {
  return {StatusCode::already_exists, fmt::format("tensor {} exists already in this session", id)};
}

}  // namespace burn::session
