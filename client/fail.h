// Throwing what a tensor function finds wrong, always with the call site.
#pragma once

#include <string>

#include "base/error.h"
#include "ir/program.h"

namespace burn::client {

// " (at file.cc:12)", or nothing where nobody said.
inline std::string at_site(const ir::CallSite& site) {
  return site.file != nullptr ? " (at " + ir::to_string(site) + ")" : std::string{};
}

[[noreturn]] inline void fail(const std::string& message, const ir::CallSite& site) {
  throw Error(StatusCode::invalid_argument, message + at_site(site));
}

}  // namespace burn::client
