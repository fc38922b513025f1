#include "compile/fusion/fuse.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "compile/fusion/absorb_producers.h"
#include "compile/fusion/absorb_reductions.h"
#include "compile/fusion/dependencies.h"

namespace burn::compile {
namespace {

using Mask = Dependencies::Mask;
constexpr std::int32_t kNone = Grouping::kNone;

class Fuser {
 public:
  Fuser(const ir::Program& program, const FuseLimits& limits)
      : program_(program),
        limits_(limits),
        grouping_(program),
        masks_(program.nodes.size()),
        last_reader_of_inputs_(program.inputs.size(), kNone),
        last_reader_of_values_(program.values.size(), kNone) {}

  std::vector<Group> run() {
    for (std::int32_t n = 0; n < static_cast<std::int32_t>(program_.nodes.size()); ++n) place(n);
    absorb_sums(limits_, grouping_);
    if (limits_.absorbs_producers) absorb_producers(limits_, grouping_);
    std::vector<Group> kept;
    for (auto& group : grouping_.groups) {
      if (computes_much(group)) kept.push_back(std::move(group));
    }
    return kept;
  }

 private:
  const ir::Node& node(std::int32_t n) const { return grouping_.node(n); }

  // Whether at least two members are not views.
  bool computes_much(const Group& group) const {
    const auto computes = [&](const Member& m) { return !std::holds_alternative<ir::Expand>(node(m.node).op); };
    const auto first = std::ranges::find_if(group.members, computes);
    return first != group.members.end() && std::any_of(first + 1, group.members.end(), computes);
  }

  // The open group that a value is computed in, or kNone.
  std::int32_t open_group(ir::Ref ref) const {
    if (ref.is_input() || program_.node_of(ref) < first_of_epoch_) return kNone;
    return grouping_.of(program_.node_of(ref));
  }

  // The open group that last read a value from outside, or kNone.
  std::int32_t last_reader(ir::Ref ref) const {
    auto group =
        (ref.is_input() ? last_reader_of_inputs_ : last_reader_of_values_)[static_cast<std::size_t>(ref.index())];
    if (group == kNone) return kNone;
    while (merged_into_[static_cast<std::size_t>(group)] != kNone)
      group = merged_into_[static_cast<std::size_t>(group)];
    return group >= first_group_ ? group : kNone;
  }

  std::size_t slot(std::int32_t group) const { return static_cast<std::size_t>(group - first_group_); }

  Mask mask_of(ir::Ref ref) const {
    if (ref.is_input() || program_.node_of(ref) < first_of_epoch_) return {};
    if (const auto group = open_group(ref); group != kNone) return dependencies_.of_group(slot(group));
    return dependencies_.up_to_date(masks_[static_cast<std::size_t>(program_.node_of(ref))]);
  }

  void place(std::int32_t n) {
    const auto operands = program_.operands_of(node(n));
    if (ir::may_fail(node(n).op)) checks_.push_back(n);
    if (!node(n).effect && (join_some_group(n, operands) || start_group(n, operands))) return;
    auto& mask = masks_[static_cast<std::size_t>(n)];
    for (const auto ref : operands) mask |= mask_of(ref);
    if (!node(n).effect) return;
    if (last_effect_ >= first_of_epoch_)
      mask |= dependencies_.up_to_date(masks_[static_cast<std::size_t>(last_effect_)]);
    last_effect_ = n;
    if (!std::holds_alternative<ir::Commit>(node(n).op)) return;
    for (const auto check : checks_)
      mask |= mask_of(ir::Ref::value(static_cast<std::int32_t>(node(check).first_value)));
    checks_.clear();
  }

  // Adds the node to the group of one of its operands, if it fits. If the operands are in several groups, merges those
  // that do not depend on each other.
  bool join_some_group(std::int32_t n, std::span<const ir::Ref> operands) {
    std::int32_t home = kNone;
    auto level = Level::full;
    const auto consider = [&](std::int32_t group) {
      if (group == kNone || group == home) return;
      const auto as = level_in(n, group);
      if (!as || !is_acyclic(group, operands)) return;
      if (home == kNone) {
        home = group;
        level = *as;
      } else {
        merge(home, group);
      }
    };
    // A recomputed node must not join the group that computed the original: it starts a group, which is merged with
    // its readers'.
    const bool is_again = node(n).recompute;
    for (const auto ref : operands) {
      if (!is_again || (!ref.is_input() && program_.maker_of(ref).recompute)) consider(open_group(ref));
    }
    if (is_again && home == kNone) return false;
    for (std::size_t k = 0; k < operands.size() && home == kNone; ++k) consider(last_reader(operands[k]));
    if (home == kNone) return false;
    join(n, home, level);
    return true;
  }

  // Whether no operand from outside the group depends on the group.
  bool is_acyclic(std::int32_t group, std::span<const ir::Ref> operands) const {
    return std::ranges::all_of(operands, [&](ir::Ref ref) {
      return open_group(ref) == group || !dependencies_.includes(mask_of(ref), slot(group));
    });
  }

  bool start_group(std::int32_t n, std::span<const ir::Ref> operands) {
    const auto& op = node(n).op;
    Group group;
    auto level = Level::full;
    if (const auto* reduce = std::get_if<ir::Reduce>(&op)) {
      group.domain = program_.type_of(operands[0]).shape;
      if (!rows_of(*reduce, group.domain)) return false;
      level = Level::row;
    } else if (is_elementwise(op)) {
      group.domain = program_.type_of(node(n)).shape;
    } else {
      return false;
    }
    if (ir::num_elements(group.domain) == 0) return false;
    if (dependencies_.full()) start_epoch(n);
    dependencies_.open();
    const auto index = static_cast<std::int32_t>(grouping_.groups.size());
    grouping_.groups.push_back(std::move(group));
    merged_into_.push_back(kNone);
    join(n, index, level);
    return true;
  }

  // Closes all groups so far: they get no more members, so their dependencies need not be tracked any longer.
  void start_epoch(std::int32_t n) {
    dependencies_.close_all();
    first_group_ = static_cast<std::int32_t>(grouping_.groups.size());
    first_of_epoch_ = n;
  }

  void join(std::int32_t n, std::int32_t index, Level level) {
    auto& group = grouping_.group(index);
    if (const auto* reduce = std::get_if<ir::Reduce>(&node(n).op)) {
      group.row_size = rows_of(*reduce, group.domain).value_or(1);  // a Reduce at row level has one
      group.row_shape = program_.type_of(node(n)).shape;
    }
    group.members.push_back({n, level});
    grouping_.of(n) = index;
    for (const auto ref : program_.operands_of(node(n))) {
      if (open_group(ref) == index) continue;
      dependencies_.add(slot(index), mask_of(ref));
      if (group.domain.rank() == 0 || program_.type_of(ref).shape != group.domain) continue;
      (ref.is_input() ? last_reader_of_inputs_ : last_reader_of_values_)[static_cast<std::size_t>(ref.index())] = index;
    }
  }

  // Merges two groups that a node reads from, unless one depends on the other.
  void merge(std::int32_t into, std::int32_t from) {
    auto& a = grouping_.group(into);
    auto& b = grouping_.group(from);
    if (a.domain != b.domain || a.members.size() + b.members.size() > limits_.max_members) return;
    if (a.has_rows() && b.has_rows() && a.row_shape != b.row_shape) return;
    if (dependencies_.related(slot(into), slot(from)) || has_index_in(a, from) || has_index_in(b, into)) return;
    dependencies_.merge(slot(into), slot(from));
    if (b.has_rows()) {
      a.row_size = b.row_size;
      a.row_shape = b.row_shape;
    }
    for (const auto& member : b.members) grouping_.of(member.node) = into;
    const auto middle = static_cast<std::ptrdiff_t>(a.members.size());
    a.members.insert(a.members.end(), b.members.begin(), b.members.end());
    std::ranges::inplace_merge(a.members, a.members.begin() + middle, {}, &Member::node);
    b.members.clear();
    merged_into_[static_cast<std::size_t>(from)] = into;
  }

  // Whether a gather of the group reads its indices from the other group. Indices must come from outside of a group,
  // because they are checked as a whole.
  bool has_index_in(const Group& group, std::int32_t other) const {
    return std::ranges::any_of(group.members, [&](const Member& member) {
      const auto& reader = node(member.node);
      return std::holds_alternative<ir::Gather>(reader.op) && open_group(program_.operands_of(reader)[1]) == other;
    });
  }

  std::optional<std::int64_t> rows_of(const ir::Reduce& reduce, const ir::Shape& domain) const {
    const auto size = trailing_size(domain, reduce.axes);
    const auto total = ir::num_elements(domain);
    if (!size || *size <= 1 || *size > limits_.max_row_size) return std::nullopt;
    if (total / *size < limits_.min_rows && total > limits_.small_domain) return std::nullopt;
    return size;
  }

  // The level that the node would have in the group; std::nullopt if it does not fit.
  std::optional<Level> level_in(std::int32_t n, std::int32_t index) const {
    const auto& group = grouping_.group(index);
    const auto& type = program_.type_of(node(n));
    const auto operands = program_.operands_of(node(n));
    if (group.members.size() >= limits_.max_members) return std::nullopt;
    const auto is_row_value = [&](ir::Ref ref) {
      return group.has_rows() && program_.type_of(ref).shape == group.row_shape;
    };
    const auto is_full_value = [&](ir::Ref ref) { return program_.type_of(ref).shape == group.domain; };

    const auto& op = node(n).op;
    if (is_elementwise(op)) {
      if (type.shape == group.domain) return Level::full;
      if (group.has_rows() && type.shape == group.row_shape) return Level::row;
      return std::nullopt;
    }
    if (const auto* reduce = std::get_if<ir::Reduce>(&op)) {
      const auto row_size = rows_of(*reduce, group.domain);
      if (!is_full_value(operands[0]) || !row_size) return std::nullopt;
      if (group.has_rows() && type.shape != group.row_shape) return std::nullopt;
      return Level::row;
    }
    if (std::holds_alternative<ir::Expand>(op)) {
      if (is_row_value(operands[0]) && open_group(operands[0]) == index && type.shape == group.domain)
        return Level::full;
      return std::nullopt;
    }
    if (const auto* gather = std::get_if<ir::Gather>(&op)) {
      const bool along_row = group.has_rows() && group.domain[static_cast<int>(gather->axis)] == group.row_size;
      const bool fits = along_row && type.shape == group.row_shape && is_full_value(operands[0]);
      if (fits && is_row_value(operands[1]) && open_group(operands[1]) != index) return Level::row;
      return std::nullopt;
    }
    return std::nullopt;
  }

  const ir::Program& program_;
  const FuseLimits limits_;
  Grouping grouping_;
  Dependencies dependencies_;
  std::vector<std::int32_t> merged_into_;                                    // per group
  std::vector<Mask> masks_;                                                  // per node that is in no group
  std::vector<std::int32_t> last_reader_of_inputs_, last_reader_of_values_;  // groups that read them from outside
  std::int32_t first_group_ = 0, first_of_epoch_ = 0;                        // groups and nodes before these are closed
  std::int32_t last_effect_ = kNone;  // the last node with an effect; the next one must follow it
  std::vector<std::int32_t> checks_;  // nodes that may fail, since the last Commit
};

}  // namespace

std::vector<Group> find_groups(const ir::Program& program, const FuseLimits& limits) {
  return Fuser(program, limits).run();
}

}  // namespace burn::compile
