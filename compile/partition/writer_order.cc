// Which all-reduces share a bucket, and what is written later so that they can.
#include <algorithm>

#include "compile/partition/writer.h"

namespace burn::compile::partition {

bool Writer::can_wait(std::size_t n) const {
  const auto& node = program_.nodes[n];
  if (open_buckets_.empty() && waiting_.empty() && narrowings_.empty()) return false;
  const bool is_cheap = std::holds_alternative<ir::Cast>(node.op) || std::holds_alternative<ir::Reshape>(node.op) ||
                        std::holds_alternative<ir::Permute>(node.op);
  if (!is_cheap || node.effect) return false;
  MeshChoice choice{nullptr, nullptr};
  for (const auto axis : kMeshAxes) {
    const auto* plan = plan_.along(axis);
    if (!plan) continue;
    const auto& choices = plan->nodes[n].choices;
    if (choices.size() != 1) return false;
    (axis == ir::MeshAxis::data ? choice.data : choice.model) = choices.data();
  }
  const auto operand = program_.operands_of(node)[0];
  if (operand.is_input()) return false;
  const auto v = static_cast<std::uint32_t>(operand.index());
  if (waiting_.contains(v) || narrowings_.contains(v)) return true;
  return std::ranges::any_of(values_[v], [&](const Written& written) {
    return written.form == choice.operand(0) && is_of_open_bucket(written);
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

bool Writer::has_equal_parts(const MeshPlan& plan) {
  const auto is_equal = [](const Form& form) {
    const auto sizes = sizes_of(form.layout.bounds);
    return std::ranges::all_of(sizes, [&](std::int64_t size) { return size == sizes[0]; });
  };
  const auto are_equal = [&](const ValuePlan& value) {
    return is_equal(value.form) && std::ranges::all_of(value.wanted, is_equal);
  };
  const auto of_node = [&](const NodePlan& node) {
    return std::ranges::all_of(node.choices,
                               [&](const Choice& choice) { return std::ranges::all_of(choice.results, is_equal); });
  };
  return std::ranges::all_of(kMeshAxes, [&](ir::MeshAxis axis) {
    const auto* along = plan.along(axis);
    return !along || (std::ranges::all_of(along->inputs, are_equal) && std::ranges::all_of(along->values, are_equal) &&
                      std::ranges::all_of(along->outputs, is_equal) && std::ranges::all_of(along->nodes, of_node));
  });
}

std::int64_t Writer::next_bucket(ir::MeshAxis axis, ir::ReduceFn fn, const ir::TensorType& type) {
  if (!has_equal_parts_) return ++buckets_;
  const auto bytes = std::max<std::int64_t>(static_cast<std::int64_t>(type.num_bytes()), 1);
  auto& open = open_buckets_[{axis, fn, type.dtype}];
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
