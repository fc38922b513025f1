#include "compile/fusion/absorb_producers.h"

#include <algorithm>

namespace burn::compile {
namespace {

constexpr std::int32_t kNone = Grouping::kNone, kMany = -2;

class ProducerAbsorber {
 public:
  ProducerAbsorber(const FuseLimits& limits, Grouping& grouping)
      : program_(grouping.program), limits_(limits), grouping_(grouping) {}

  void run() {
    find_sole_readers();
    std::vector<std::int32_t> sole(grouping_.groups.size(), kNone);
    for (std::size_t g = 0; g < grouping_.groups.size(); ++g) {
      for (const auto& member : grouping_.groups[g].members) {
        const auto reader = sole_reader_[static_cast<std::size_t>(member.node)];
        if (reader == kNone) continue;  // the group itself
        sole[g] = sole[g] == kNone || sole[g] == reader ? reader : kMany;
      }
    }
    for (std::size_t g = 0; g < grouping_.groups.size(); ++g) {
      if (sole[g] >= 0) absorb(static_cast<std::int32_t>(g), sole[g]);
    }
  }

 private:
  const ir::Node& node(std::int32_t n) const { return grouping_.node(n); }

  // Per node: the only group that reads its results, directly or through an Expand of row values to the group's domain.
  void find_sole_readers() {
    sole_reader_.assign(program_.nodes.size(), kNone);
    const auto read = [&](ir::Ref ref, std::int32_t by) {
      if (ref.is_input()) return;
      const auto maker = program_.node_of(ref);
      if (by >= 0 && grouping_.of(maker) == by) return;
      auto& reader = sole_reader_[static_cast<std::size_t>(maker)];
      reader = reader == kNone || reader == by ? by : kMany;
    };
    for (const auto ref : program_.outputs) read(ref, kMany);
    for (auto n = static_cast<std::int32_t>(program_.nodes.size()); n-- > 0;) {
      auto by = grouping_.of(n);
      if (by == kNone) by = is_row_of_reader(n) ? sole_reader_[static_cast<std::size_t>(n)] : kMany;
      for (const auto ref : program_.operands_of(node(n))) read(ref, by);
    }
  }

  // Whether the node is an Expand of row values to the domain of the only group that reads it.
  bool is_row_of_reader(std::int32_t n) const {
    const auto by = sole_reader_[static_cast<std::size_t>(n)];
    if (by < 0 || !std::holds_alternative<ir::Expand>(node(n).op)) return false;
    const auto& group = grouping_.group(by);
    return group.has_rows() && program_.type_of(node(n)).shape == group.domain &&
           program_.type_of(program_.operands_of(node(n))[0]).shape == group.row_shape;
  }

  void absorb(std::int32_t from, std::int32_t into) {
    auto& a = grouping_.group(into);
    auto& b = grouping_.group(from);
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
      if (grouping_.of(n) != kNone || sole_reader_[static_cast<std::size_t>(n)] != into) continue;
      const auto operands = program_.operands_of(node(n));
      if (operands.empty() || operands[0].is_input() || is_full || !is_row_of_reader(n)) continue;
      if (grouping_.of(program_.node_of(operands[0])) == from) taken.push_back({n, Level::full});
    }
    if (a.members.size() + taken.size() > limits_.max_members) return;
    for (const auto& member : taken) grouping_.of(member.node) = into;
    a.members.insert(a.members.end(), taken.begin(), taken.end());
    std::ranges::sort(a.members, {}, &Member::node);
    b.members.clear();
  }

  // Whether a gather of the group reads its indices from the node's result.
  bool indexes(const Group& group, std::int32_t n) const {
    return std::ranges::any_of(group.members, [&](const Member& member) {
      const auto& reader = node(member.node);
      if (!std::holds_alternative<ir::Gather>(reader.op)) return false;
      const auto index = program_.operands_of(reader)[1];
      return !index.is_input() && program_.node_of(index) == n;
    });
  }

  const ir::Program& program_;
  const FuseLimits& limits_;
  Grouping& grouping_;
  std::vector<std::int32_t> sole_reader_;  // per node: a group, kNone or kMany
};

}  // namespace

void absorb_producers(const FuseLimits& limits, Grouping& grouping) { ProducerAbsorber(limits, grouping).run(); }

}  // namespace burn::compile
