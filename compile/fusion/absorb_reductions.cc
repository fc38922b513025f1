#include "compile/fusion/absorb_reductions.h"

#include <algorithm>

namespace burn::compile {
namespace {

// Whether the group may contain sums over rows: always, unless it combines rows and the limits forbid both together.
bool joins_rows(const FuseLimits& limits, const Group& group) {
  return limits.sums_beside_rows ||
         std::ranges::none_of(group.members, [](const Member& member) { return member.level == Level::row; });
}

// The size of the last dim, if all other dims are reduced and have enough elements; otherwise std::nullopt.
std::optional<std::int64_t> columns_of(const FuseLimits& limits, const ir::Reduce& reduce, const ir::Shape& domain) {
  const int last = domain.rank() - 1;
  if (limits.min_summed_rows == 0 || last < 1 || reduce.axes.contains(last)) return std::nullopt;
  for (int d = 0; d < last; ++d) {
    if (domain[d] != 1 && !reduce.axes.contains(d)) return std::nullopt;
  }
  const auto size = domain[last];
  const bool fits = size > 1 && size <= limits.max_summed_columns && size <= limits.max_row_size;
  return fits && ir::num_elements(domain) / size >= limits.min_summed_rows ? std::optional(size) : std::nullopt;
}

void absorb_sum(const FuseLimits& limits, std::int32_t n, Grouping& grouping) {
  constexpr std::int64_t kMaxSums = 3;
  const auto& program = grouping.program;
  const auto& node = grouping.node(n);
  const auto* reduce = std::get_if<ir::Reduce>(&node.op);
  if (!reduce || reduce->fn != ir::ReduceFn::sum || !ir::is_floating(program.type_of(node).dtype)) return;
  const auto operand = program.operands_of(node)[0];
  if (operand.is_input() || grouping.of(n) != Grouping::kNone) return;
  const auto index = grouping.of(program.node_of(operand));
  if (index == Grouping::kNone) return;
  auto& group = grouping.group(index);
  const auto made = std::ranges::lower_bound(group.members, program.node_of(operand), {}, &Member::node);
  const auto is_sum = [](const Member& member) { return member.level == Level::column || member.level == Level::all; };
  if (made->level != Level::full || group.members.size() >= limits.max_members) return;
  if (std::ranges::count_if(group.members, is_sum) == kMaxSums) return;
  auto level = Level::all;
  if (!limits.sums_all || trailing_size(group.domain, reduce->axes) != ir::num_elements(group.domain)) {
    const auto size = columns_of(limits, *reduce, group.domain);
    if (!size || (group.has_rows() && (group.row_size != *size || !joins_rows(limits, group)))) return;
    group.row_size = *size;
    group.row_shape = group.domain;
    group.row_shape[group.domain.rank() - 1] = 1;
    level = Level::column;
  }
  group.members.insert(std::ranges::lower_bound(group.members, n, {}, &Member::node), {n, level});
  grouping.of(n) = index;
}

}  // namespace

void absorb_sums(const FuseLimits& limits, Grouping& grouping) {
  for (std::int32_t n = 0; n < static_cast<std::int32_t>(grouping.program.nodes.size()); ++n)
    absorb_sum(limits, n, grouping);
}

}  // namespace burn::compile
