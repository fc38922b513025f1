// Which all-reduces share a bucket, and what is written later so that they can.
#include <algorithm>

#include "compile/partition/writer.h"

namespace burn::compile::partition {

bool Writer::can_wait(const ir::Node& node, const NodePlan& of_node) const {
  if (open_buckets_.empty() && waiting_.empty() && narrowings_.empty()) return false;
  const bool is_cheap = std::holds_alternative<ir::Cast>(node.op) || std::holds_alternative<ir::Reshape>(node.op) ||
                        std::holds_alternative<ir::Permute>(node.op);
  if (!is_cheap || node.effect || of_node.choices.size() != 1) return false;
  const auto operand = program_.operands_of(node)[0];
  if (operand.is_input()) return false;
  const auto v = static_cast<std::uint32_t>(operand.index());
  if (waiting_.contains(v) || narrowings_.contains(v)) return true;
  return std::ranges::any_of(values_[v], [&](const Written& written) {
    return written.form == of_node.choices[0].operands[0] && is_of_open_bucket(written);
  });
}

bool Writer::is_of_open_bucket(const Written& written) const {
  const auto& buckets = bucket_of_[0];
  const auto i = static_cast<std::size_t>(written.refs[0].index());
  if (written.refs[0].is_input() || i >= buckets.size() || buckets[i] == 0) return false;
  return std::ranges::any_of(open_buckets_, [&](const auto& open) { return open.second.number == buckets[i]; });
}

Status Writer::write_waiting() {
  while (!waiting_.empty()) {
    const auto n = waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    BURN_RETURN_IF_ERROR(write_numbered(n));
  }
  while (!narrowings_.empty()) BURN_RETURN_IF_ERROR(write_narrowing(narrowings_.begin()->first));
  return {};
}

Status Writer::write_narrowing(std::uint32_t value) {
  const auto sum = narrowings_.extract(value).mapped();
  Refs refs;
  for (int m = 0; m < members_; ++m) {
    BURN_TRY(const auto narrowed,
             add(m, ir::Cast{program_.values[value].type.dtype}, {sum.refs[static_cast<std::size_t>(m)]}));
    refs.push_back(narrowed);
  }
  values_[value].push_back({sum.form, std::move(refs)});
  return {};
}

std::int64_t Writer::next_bucket(ir::ReduceFn fn, const ir::TensorType& type) {
  const auto bytes = std::max<std::int64_t>(static_cast<std::int64_t>(type.num_bytes()), 1);
  auto& open = open_buckets_[{fn, type.dtype}];
  if (open.number == 0 || open.bytes + bytes > (open.number == 1 ? kFirstBucketBytes : kBucketBytes))
    open = {++buckets_, 0};
  open.bytes += bytes;
  return open.number;
}

void Writer::note_reads(int member, std::span<const ir::Ref> operands) {
  if (open_buckets_.empty()) return;
  const auto& buckets = bucket_of_[static_cast<std::size_t>(member)];
  for (const auto ref : operands) {
    const auto i = static_cast<std::size_t>(ref.index());
    if (ref.is_input() || i >= buckets.size() || buckets[i] == 0) continue;
    std::erase_if(open_buckets_, [&](const auto& open) { return open.second.number == buckets[i]; });
  }
}

}  // namespace burn::compile::partition
