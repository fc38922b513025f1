#include "client/record/capture_log.h"

#include <algorithm>

#include "base/error.h"
#include "client/record/thread_recorders.h"

namespace burn::client {

CaptureLog::CaptureLog(const std::vector<Scalar>& numbers, const std::vector<CaptureHost*>& hosts)
    : numbers_(numbers), hosts_(hosts) {}

CaptureLog* CaptureLog::active() { return thread_recorders().capture; }

std::int64_t CaptureLog::number_of(const Scalar& value) const {
  if (value.source() == 0) return -1;
  const auto found =
      std::find_if(numbers_.begin(), numbers_.end(), [&](const Scalar& n) { return n.source() == value.source(); });
  return found == numbers_.end() ? -1 : found - numbers_.begin();  // not found: from another call, so a plain number
}

void CaptureLog::scalar(std::size_t slot, const Scalar& value, ir::DType dtype) {
  if (const auto number = number_of(value); number >= 0)
    given_.push_back({slot, static_cast<std::size_t>(number), dtype});
}

void CaptureLog::follow(const CaptureHost& host, std::uint64_t key, Scalar number, ir::DType dtype, std::size_t count) {
  events_.push_back({index_of(host), {key}, recorder_->scalars.size(), count, number, dtype});
}

void CaptureLog::advance(const CaptureHost& host, std::vector<std::uint64_t> keys) {
  events_.push_back({index_of(host), std::move(keys)});
}

std::size_t CaptureLog::index_of(const CaptureHost& host) const {
  const auto found = std::find(hosts_.begin(), hosts_.end(), &host);
  if (found != hosts_.end()) return static_cast<std::size_t>(found - hosts_.begin());
  throw Error(
      StatusCode::failed_precondition,
      "a captured step uses an optimizer that is not an argument taken by reference; what it counts would stand still");
}

}  // namespace burn::client
