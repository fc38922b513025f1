// Errors of tensor functions, which name the call site.
#pragma once

#include <string>

#include "base/error.h"
#include "ir/program.h"

namespace burn::client {

// " (at model.cc:41)"; empty if no line is known.
inline std::string at_site(const ir::CallSite& site) {
  return site.file != nullptr ? " (at " + ir::to_string(site) + ")" : std::string{};
}

// Replaces the op's name at the start of a message by the name of the function that the user called: "reduce: dim 3 is
// ..." -> "sum_dim: dim 3 is ...".
inline std::string as_called(std::string message, const ir::CallSite& site) {
  if (site.op == nullptr) return message;
  const auto name = message.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789");
  if (name == std::string::npos || name == 0 || message.compare(name, 2, ": ") != 0) return message;
  return message.replace(0, name, site.op);
}

// The site with `op` as the name of the called function, unless it has one already. For functions that call others.
inline ir::CallSite as(ir::CallSite site, const char* op) {
  if (site.op == nullptr) site.op = op;
  return site;
}

[[noreturn]] inline void fail(const std::string& message, const ir::CallSite& site) {
  throw Error(StatusCode::invalid_argument, as_called(message, site) + at_site(site));
}

}  // namespace burn::client
