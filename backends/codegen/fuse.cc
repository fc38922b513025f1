#include "backends/codegen/fuse.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

#include "backends/codegen/dependencies.h"
#include "ir/random_box.h"

namespace burn::backends::codegen {
namespace {

using Mask = Dependencies::Mask;
constexpr std::int32_t kNone = -1, kMany = -2;

// The number of trailing elements that a reduction over `axes` combines, or nothing if it combines others as well.
std::optional<std::int64_t> trailing_size(const ir::Shape& shape, const ir::Dims& axes) {
  std::int64_t size = 1;
  bool is_inside = true;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] == 1) continue;
    if (axes.contains(i)) {
      if (!is_inside) return std::nullopt;
      size *= shape[i];
    } else {
      is_inside = false;
    }
  }
  return size;
}

bool is_elementwise(const ir::Op& op) {
  if (const auto* random = std::get_if<ir::Random>(&op))
    return random->dtype == ir::DType::f32 && ir::first_position(*random);
  return std::holds_alternative<ir::Pointwise>(op) || std::holds_alternative<ir::Cast>(op);
}

class Fuser {
 public:
  Fuser(const ir::Program& program, const FuseLimits& limits)
      : program_(program), limits_(limits), masks_(program.nodes.size()), group_of_(program.nodes.size(), kNone) {}

  std::vector<Group> run() {
    for (std::int32_t n = 0; n < static_cast<std::int32_t>(program_.nodes.size()); ++n) place(n);
    for (std::int32_t n = 0; n < static_cast<std::int32_t>(program_.nodes.size()); ++n) take_sum(n);
    if (limits_.takes_sources) take_sources();
    std::vector<Group> kept;
    for (auto& group : groups_) {
      const auto computes = [&](const Member& m) { return !std::holds_alternative<ir::Expand>(node(m.node).op); };
      if (std::ranges::count_if(group.members, computes) >= 2) kept.push_back(std::move(group));
    }
    return kept;
  }

 private:
  const ir::Node& node(std::int32_t n) const { return program_.nodes[static_cast<std::size_t>(n)]; }

  // The open group that a value is computed in, or kNone.
  std::int32_t open_group(ir::Ref ref) const {
    if (ref.is_input() || program_.node_of(ref) < first_of_epoch_) return kNone;
    return group_of_[static_cast<std::size_t>(program_.node_of(ref))];
  }

  // The open group that last read a value from outside, or kNone.
  std::int32_t last_reader(ir::Ref ref) const {
    const auto found = last_reader_.find(ref.code());
    if (found == last_reader_.end()) return kNone;
    auto group = found->second;
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
    if (!node(n).effect && (join_some_group(n, operands) || start_group(n, operands))) return;
    auto& mask = masks_[static_cast<std::size_t>(n)];
    for (const auto ref : operands) mask |= mask_of(ref);
    if (!node(n).effect) return;
    if (last_effect_ >= first_of_epoch_)
      mask |= dependencies_.up_to_date(masks_[static_cast<std::size_t>(last_effect_)]);
    last_effect_ = n;
  }

  // Into the group of one of its operands; if it has several, they become one first, where nothing orders them.
  bool join_some_group(std::int32_t n, std::span<const ir::Ref> operands) {
    std::int32_t home = kNone;
    std::optional<Level> level;
    const auto consider = [&](std::int32_t group) {
      if (group == kNone || group == home) return;
      const auto as = level_in(n, group);
      if (!as || !is_acyclic(group, operands)) return;
      if (home == kNone) {
        home = group;
        level = as;
      } else {
        merge(home, group);
      }
    };
    // What is computed again must not be so by who did it before: it starts anew, and joins whoever reads it.
    const bool is_again = node(n).recompute;
    for (const auto ref : operands) {
      if (!is_again || (!ref.is_input() && program_.maker_of(ref).recompute)) consider(open_group(ref));
    }
    if (is_again && home == kNone) return false;
    for (std::size_t k = 0; k < operands.size() && home == kNone; ++k) consider(last_reader(operands[k]));
    if (home == kNone) return false;
    join(n, home, *level);
    return true;
  }

  // No operand from outside the group may depend on it.
  bool is_acyclic(std::int32_t group, std::span<const ir::Ref> operands) const {
    return std::ranges::all_of(operands, [&](ir::Ref ref) {
      return open_group(ref) == group || !dependencies_.includes(mask_of(ref), slot(group));
    });
  }

  bool start_group(std::int32_t n, std::span<const ir::Ref> operands) {
    const auto& op = node(n).op;
    Group group;
    if (const auto* reduce = std::get_if<ir::Reduce>(&op)) {
      group.domain = program_.type_of(operands[0]).shape;
      const auto row_size = rows_of(*reduce, group.domain);
      if (!row_size) return false;
    } else if (is_elementwise(op)) {
      group.domain = program_.type_of(node(n)).shape;
    } else {
      return false;
    }
    if (ir::num_elements(group.domain) == 0) return false;
    if (dependencies_.full()) start_epoch(n);
    dependencies_.open();
    const auto index = static_cast<std::int32_t>(groups_.size());
    groups_.push_back(std::move(group));
    merged_into_.push_back(kNone);
    join(n, index, *level_in(n, index));
    return true;
  }

  // Groups so far take nothing more in, so nothing needs to know who depends on them.
  void start_epoch(std::int32_t n) {
    dependencies_.close_all();
    first_group_ = static_cast<std::int32_t>(groups_.size());
    first_of_epoch_ = n;
  }

  void join(std::int32_t n, std::int32_t index, Level level) {
    auto& group = groups_[static_cast<std::size_t>(index)];
    if (const auto* reduce = std::get_if<ir::Reduce>(&node(n).op)) {
      group.row_size = *rows_of(*reduce, group.domain);
      group.row_shape = program_.type_of(node(n)).shape;
    }
    group.members.push_back({n, level});
    group_of_[static_cast<std::size_t>(n)] = index;
    for (const auto ref : program_.operands_of(node(n))) {
      if (open_group(ref) == index) continue;
      dependencies_.add(slot(index), mask_of(ref));
      if (program_.type_of(ref).shape == group.domain && group.domain.rank() > 0) last_reader_[ref.code()] = index;
    }
  }

  // A sum over all rows, or over everything, of what a group computes, which then need not be kept in memory for it.
  // What reads the sum is no member, so no circle can come of it.
  void take_sum(std::int32_t n) {
    constexpr std::int64_t kMostSums = 3;
    const auto* reduce = std::get_if<ir::Reduce>(&node(n).op);
    if (!reduce || reduce->fn != ir::ReduceFn::sum || !ir::is_floating(program_.type_of(node(n)).dtype)) return;
    const auto operand = program_.operands_of(node(n))[0];
    if (operand.is_input() || group_of_[static_cast<std::size_t>(n)] != kNone) return;
    const auto index = group_of_[static_cast<std::size_t>(program_.node_of(operand))];
    if (index == kNone) return;
    auto& group = groups_[static_cast<std::size_t>(index)];
    const auto made = std::ranges::lower_bound(group.members, program_.node_of(operand), {}, &Member::node);
    const auto is_sum = [](const Member& member) {
      return member.level == Level::column || member.level == Level::all;
    };
    if (made->level != Level::full || group.members.size() >= limits_.max_members) return;
    if (std::ranges::count_if(group.members, is_sum) == kMostSums) return;
    auto level = Level::all;
    if (!limits_.sums_all || trailing_size(group.domain, reduce->axes) != ir::num_elements(group.domain)) {
      const auto size = columns_of(*reduce, group.domain);
      if (!size || (group.has_rows() && (group.row_size != *size || !joins_rows(group)))) return;
      group.row_size = *size;
      group.row_shape = group.domain;
      group.row_shape[group.domain.rank() - 1] = 1;
      level = Level::column;
    }
    group.members.insert(std::ranges::lower_bound(group.members, n, {}, &Member::node), {n, level});
    group_of_[static_cast<std::size_t>(n)] = index;
  }

  // Whether what combines rows may be beside sums over them.
  bool joins_rows(const Group& group) const {
    return limits_.sums_beside_rows ||
           std::ranges::none_of(group.members, [](const Member& member) { return member.level == Level::row; });
  }

  // The elements of the last dim, if the others are what is reduced, and are many.
  std::optional<std::int64_t> columns_of(const ir::Reduce& reduce, const ir::Shape& domain) const {
    const int last = domain.rank() - 1;
    if (limits_.min_summed_rows == 0 || last < 1 || reduce.axes.contains(last)) return std::nullopt;
    for (int d = 0; d < last; ++d) {
      if (domain[d] != 1 && !reduce.axes.contains(d)) return std::nullopt;
    }
    const auto size = domain[last];
    const bool fits = size > 1 && size <= limits_.max_summed_columns && size <= limits_.max_row_size;
    return fits && ir::num_elements(domain) / size >= limits_.min_summed_rows ? std::optional(size) : std::nullopt;
  }

  // What was placed before anybody knew who would read it. If only one group reads the results of another, it may
  // compute them itself: who read them on another way would have made a circle of the two already.
  void take_sources() {
    find_sole_readers();
    std::vector<std::int32_t> sole(groups_.size(), kNone);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (const auto& member : groups_[g].members) {
        const auto reader = sole_reader_[static_cast<std::size_t>(member.node)];
        if (reader == kNone) continue;  // the group itself
        sole[g] = sole[g] == kNone || sole[g] == reader ? reader : kMany;
      }
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (sole[g] >= 0) take_source(static_cast<std::int32_t>(g), sole[g]);
    }
  }

  // Per node: the one group that reads its results, itself or by way of an Expand that makes a row of each.
  void find_sole_readers() {
    sole_reader_.assign(program_.nodes.size(), kNone);
    const auto read = [&](ir::Ref ref, std::int32_t by) {
      if (ref.is_input()) return;
      const auto maker = static_cast<std::size_t>(program_.node_of(ref));
      if (by >= 0 && group_of_[maker] == by) return;
      auto& reader = sole_reader_[maker];
      reader = reader == kNone || reader == by ? by : kMany;
    };
    for (const auto ref : program_.outputs) read(ref, kMany);
    for (auto n = static_cast<std::int32_t>(program_.nodes.size()); n-- > 0;) {
      auto by = group_of_[static_cast<std::size_t>(n)];
      if (by == kNone) by = is_row_of_reader(n) ? sole_reader_[static_cast<std::size_t>(n)] : kMany;
      for (const auto ref : program_.operands_of(node(n))) read(ref, by);
    }
  }

  // An Expand that only one group reads, for each element of its domain a number of the row.
  bool is_row_of_reader(std::int32_t n) const {
    const auto by = sole_reader_[static_cast<std::size_t>(n)];
    if (by < 0 || !std::holds_alternative<ir::Expand>(node(n).op)) return false;
    const auto& group = groups_[static_cast<std::size_t>(by)];
    return group.has_rows() && program_.type_of(node(n)).shape == group.domain &&
           program_.type_of(program_.operands_of(node(n))[0]).shape == group.row_shape;
  }

  void take_source(std::int32_t from, std::int32_t into) {
    auto& a = groups_[static_cast<std::size_t>(into)];
    auto& b = groups_[static_cast<std::size_t>(from)];
    if (b.members.empty() || a.members.empty() || b.has_rows() || from == into) return;
    const bool is_full = b.domain == a.domain;
    if (!is_full && !(a.has_rows() && b.domain == a.row_shape)) return;
    const auto is_formula = [&](const Member& member) {
      return member.level == Level::full && is_elementwise(node(member.node).op) && !node(member.node).recompute;
    };
    if (!std::ranges::all_of(b.members, is_formula)) return;
    std::vector<Member> taken;
    for (const auto& member : b.members) {
      taken.push_back({member.node, is_full ? Level::full : Level::row});
      if (indexes(a, member.node)) return;
    }
    for (std::int32_t n = b.members.front().node; n < a.members.back().node; ++n) {
      if (group_of_[static_cast<std::size_t>(n)] != kNone || sole_reader_[static_cast<std::size_t>(n)] != into)
        continue;
      const auto operands = program_.operands_of(node(n));
      if (operands.empty() || operands[0].is_input() || is_full || !is_row_of_reader(n)) continue;
      if (group_of_[static_cast<std::size_t>(program_.node_of(operands[0]))] == from) taken.push_back({n, Level::full});
    }
    if (a.members.size() + taken.size() > limits_.max_members) return;
    for (const auto& member : taken) group_of_[static_cast<std::size_t>(member.node)] = into;
    a.members.insert(a.members.end(), taken.begin(), taken.end());
    std::ranges::sort(a.members, {}, &Member::node);
    b.members.clear();
  }

  // Whether a gather of the group finds its index in the node's result.
  bool indexes(const Group& group, std::int32_t n) const {
    return std::ranges::any_of(group.members, [&](const Member& member) {
      const auto& reader = node(member.node);
      if (!std::holds_alternative<ir::Gather>(reader.op)) return false;
      const auto index = program_.operands_of(reader)[1];
      return !index.is_input() && program_.node_of(index) == n;
    });
  }

  // Two groups that a node reads from become one, where nothing orders them.
  void merge(std::int32_t into, std::int32_t from) {
    auto& a = groups_[static_cast<std::size_t>(into)];
    auto& b = groups_[static_cast<std::size_t>(from)];
    if (a.domain != b.domain || a.members.size() + b.members.size() > limits_.max_members) return;
    if (a.has_rows() && b.has_rows() && a.row_shape != b.row_shape) return;
    if (dependencies_.related(slot(into), slot(from)) || picks_by(a, from) || picks_by(b, into)) return;
    dependencies_.merge(slot(into), slot(from));
    if (b.has_rows()) {
      a.row_size = b.row_size;
      a.row_shape = b.row_shape;
    }
    for (const auto& member : b.members) group_of_[static_cast<std::size_t>(member.node)] = into;
    const auto middle = static_cast<std::ptrdiff_t>(a.members.size());
    a.members.insert(a.members.end(), b.members.begin(), b.members.end());
    std::ranges::inplace_merge(a.members, a.members.begin() + middle, {}, &Member::node);
    b.members.clear();
    merged_into_[static_cast<std::size_t>(from)] = into;
  }

  // Whether a gather of the group finds its index in the other one. An index stays outside: it is checked as a whole.
  bool picks_by(const Group& group, std::int32_t other) const {
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

  // What the node would be in the group; nothing if it does not fit.
  std::optional<Level> level_in(std::int32_t n, std::int32_t index) const {
    const auto& group = groups_[static_cast<std::size_t>(index)];
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
  Dependencies dependencies_;
  std::vector<Group> groups_;
  std::vector<std::int32_t> merged_into_;                       // per group
  std::vector<Mask> masks_;                                     // per node that is in no group
  std::vector<std::int32_t> group_of_;                          // per node
  std::vector<std::int32_t> sole_reader_;                       // per node: a group, kNone or kMany
  std::unordered_map<std::int32_t, std::int32_t> last_reader_;  // by the code of what groups read from outside
  std::int32_t first_group_ = 0, first_of_epoch_ = 0;           // groups and nodes before these are closed
  std::int32_t last_effect_ = kNone;                            // a node that the next one with an effect follows
};

}  // namespace

std::vector<Group> find_groups(const ir::Program& program, const FuseLimits& limits) {
  return Fuser(program, limits).run();
}

}  // namespace burn::backends::codegen
