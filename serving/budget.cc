#include "serving/budget.h"

#include <algorithm>

#include <fmt/format.h>

namespace burn::serving {
namespace {

constexpr std::uint64_t kStep = std::uint64_t{1} << 20;  // granularity of charges to the HostAccount

}  // namespace

Result<Budget::Share> Budget::take(std::uint64_t bytes) {
  auto in_use = in_use_.load();
  do {
    const auto room = limit_ - std::min(limit_, counted_host());
    if (in_use > room || bytes > room - in_use) {
      return resource_exhausted(
          fmt::format("{} bytes more than the {} in use exceed what a session may hold, {}", bytes, in_use, room));
    }
  } while (!in_use_.compare_exchange_weak(in_use, in_use + bytes));
  if (tenant_) {
    if (auto status = tenant_->take(bytes); !status.ok()) {
      in_use_ -= bytes;
      return status;
    }
  }
  auto peak = peak_.load(std::memory_order_relaxed);
  while (peak < in_use + bytes && !peak_.compare_exchange_weak(peak, in_use + bytes)) {
  }
  return Share{this, bytes};
}

Status Budget::take_host(std::uint64_t bytes) {
  const auto host = host_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (host <= kFree) return {};
  auto status = in_use_.load() <= limit_ && host - kFree <= limit_ - in_use_.load() ? grow_granted(host) : refuse(host);
  if (!status.ok()) host_.fetch_sub(bytes, std::memory_order_relaxed);
  return status;
}

Status Budget::refuse(std::uint64_t host) const {
  return resource_exhausted(
      fmt::format("{} bytes for calls, programs and tables, beside {} of tensors, exceed what a session may hold, {}",
                  host, in_use_.load(), limit_));
}

Status Budget::grow_granted(std::uint64_t host) {
  if (host <= kFree + granted_.load(std::memory_order_relaxed)) return {};
  const std::lock_guard lock{granting_};
  const auto granted = granted_.load();
  if (host <= kFree + granted) return {};
  const auto step = (host - kFree - granted + kStep - 1) / kStep * kStep;
  if (account_) BURN_RETURN_IF_ERROR(account_->take_host(step));
  granted_ += step;
  return {};
}

void Budget::give_host(std::uint64_t bytes) {
  const auto host = host_.fetch_sub(bytes, std::memory_order_relaxed) - bytes;
  constexpr auto kSlack = 4 * kStep;
  if (granted_.load(std::memory_order_relaxed) > host + kSlack) shrink_granted();
}

void Budget::shrink_granted() {
  const std::lock_guard lock{granting_};
  const auto wanted = (host_.load() + kStep - 1) / kStep * kStep, granted = granted_.load();
  if (granted <= wanted) return;
  granted_ -= granted - wanted;
  give_granted(granted - wanted);
}

Status Budget::HostShare::resize(Budget& budget, std::uint64_t bytes) {
  if (bytes > bytes_) BURN_RETURN_IF_ERROR(budget.take_host(bytes - bytes_));
  if (bytes < bytes_) budget.give_host(bytes_ - bytes);
  budget_ = &budget;
  bytes_ = bytes;
  return {};
}

}  // namespace burn::serving
