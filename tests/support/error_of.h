// The error message of a call.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"

namespace burn::test {

// The message of the burn::Error that `call` throws, or "no error".
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace burn::test
