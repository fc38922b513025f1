// Throwing what a tensor function finds wrong, always with the call site.
#pragma once

#include <string>

#include "base/error.h"
#include "ir/program.h"

namespace burn::client {

[[noreturn]] inline void fail(const std::string& message, const ir::CallSite& site) {
  throw Error(StatusCode::invalid_argument, message + " (at " + ir::to_string(site) + ")");
}

}  // namespace burn::client
