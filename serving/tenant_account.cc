#include "serving/tenant_account.h"

#include <algorithm>

#include <fmt/format.h>

namespace burn::serving {

Status TenantAccount::take(std::uint64_t bytes) {
  auto in_use = in_use_.load();
  do {
    const auto limit = limit_.load();
    const auto room = limit - std::min(limit, in_use);
    if (bytes > room) {
      ++refused_;
      return resource_exhausted(
          fmt::format("{} bytes more than the {} in use exceed what the sessions of tenant {} "
                      "may hold together, {}",
                      bytes, in_use, name_, limit));
    }
  } while (!in_use_.compare_exchange_weak(in_use, in_use + bytes));
  return {};
}

}  // namespace burn::serving
