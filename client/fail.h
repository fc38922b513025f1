// Throwing what a tensor function finds wrong, always with the call site.
#pragma once

#include <string>

#include "base/error.h"
#include "ir/program.h"

namespace burn::client {

// " (at model.cc:41)"; nothing where no line is known.
inline std::string at_site(const ir::CallSite& site) {
  return site.file != nullptr ? " (at " + ir::to_string(site) + ")" : std::string{};
}

// "reduce: dim 3 is ..." as the user knows it: "sum_dim: dim 3 is ...".
inline std::string as_called(std::string message, const ir::CallSite& site) {
  if (site.op == nullptr) return message;
  const auto name = message.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789");
  if (name == std::string::npos || name == 0 || message.compare(name, 2, ": ") != 0) return message;
  return message.replace(0, name, site.op);
}

// The same site, called by this name unless it has one: for functions made of others.
inline ir::CallSite as(ir::CallSite site, const char* op) {
  if (site.op == nullptr) site.op = op;
  return site;
}

[[noreturn]] inline void fail(const std::string& message, const ir::CallSite& site) {
  throw Error(StatusCode::invalid_argument, as_called(message, site) + at_site(site));
}

}  // namespace burn::client
