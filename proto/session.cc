#include "proto/session.h"

#include <fmt/format.h>

namespace burn::proto {

Status check_batch_axis(const WriteOptions& options, const ir::TensorType& type) {
  const auto axis = options.batch_axis;
  if (!axis || (*axis >= 0 && *axis < type.shape.rank())) return {};
  return invalid_argument(
      fmt::format("write: batch axis {} of {}, which has {} axes", *axis, ir::to_string(type), type.shape.rank()));
}

void Session::stats(const StatsCallback& done) { done(unimplemented("this session does not know stats")); }

void Session::prepare_group(const GroupPlace& /*place*/, const AddressCallback& done) {
  done(unimplemented("this session forms no groups"));
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): overrides keep the addresses
void Session::open_group(const GroupPlace& /*place*/, std::vector<std::string> /*addresses*/,
                         std::chrono::milliseconds /*deadline*/, const SyncCallback& done) {
  done(unimplemented("this session forms no groups"));
}

void Session::abort_group(std::uint32_t /*group*/, std::uint64_t /*epoch*/, const Status& /*why*/) {}

}  // namespace burn::proto
