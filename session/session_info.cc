#include "session/session_info.h"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "proto/message.h"
#include "session/version.h"

namespace burn::session {

proto::SessionInfo describe_session(Worker& worker, const serving::Quotas& quotas) {
  static std::atomic<std::uint64_t> counter = 0;
  const auto limits = worker.backend().limits();
  proto::SessionInfo info;
  info.server = kServerName;
  info.session = fmt::format("s-{}", ++counter);
  info.devices = {std::string{worker.backend().name()}};
  info.max_tensor_bytes = std::min({limits.max_buffer_bytes, quotas.tensor_bytes, limits.memory_bytes});
  info.max_in_flight = quotas.in_flight;
  info.bulk_credit = proto::kInitialCredit;
  info.max_programs = quotas.programs;
  info.max_program_entries = quotas.program_entries;
  return info;
}

}  // namespace burn::session
