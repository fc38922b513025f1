#include "backends/backend.h"

#include <fmt/format.h>

#include "base/machine.h"

namespace burn::backends {

// For a device with memory of its own: host memory other than what it takes for uploads and downloads.
Status Backend::take_host(std::uint64_t bytes) {
  static const std::uint64_t limit = usable_memory() / 4;
  auto before = host_bytes_.load(std::memory_order_relaxed);
  do {
    if (before > limit || bytes > limit - before) {
      return resource_exhausted(fmt::format(
          "{} bytes more than the {} that sessions take exceed what this process may use, {}", bytes, before, limit));
    }
  } while (!host_bytes_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
  return {};
}

}  // namespace burn::backends
