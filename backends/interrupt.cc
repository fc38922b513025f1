#include "backends/interrupt.h"

#include <fmt/format.h>

namespace burn::backends {

Status Interrupt::why() const {
  if (is_requested()) return cancelled("the run was cancelled: its session ends");
  return {StatusCode::deadline_exceeded,
          fmt::format("the run took longer than the {} ms that one may", limit_.count())};
}

}  // namespace burn::backends
