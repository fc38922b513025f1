// The border that no exception crosses: whatever a library underneath throws becomes the failure of one call.
#pragma once

#include <exception>
#include <new>

#include "base/status.h"

namespace burn::serving {

// body(), which returns a Status or a Result.
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
