// What a call throws, as text.
#pragma once

#include <string>

#include "base/error.h"

namespace burn::test {

// Empty: it threw nothing.
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
