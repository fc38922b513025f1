// Converts exceptions of the libraries used into a Status, so that only one call fails.
#pragma once

#include <exception>
#include <new>

#include "base/status.h"

namespace burn::serving {

// Returns body(), which returns a Status or a Result.
template <typename Body>
auto guarded(Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return resource_exhausted("out of memory");
  } catch (const std::exception& failure) {
    return internal_error(failure.what());
  }
}

}  // namespace burn::serving
