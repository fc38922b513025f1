// The message of the error that a call throws.
#pragma once

#include <string>

#include "base/error.h"

namespace burn::test {

// Empty if `call` throws nothing.
template <typename Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace burn::test
