#include "compile/rewrite/simplify.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compile/rewrite/constants.h"
#include "ir/attrs.h"

namespace burn::compile {
namespace {

// Operands come before their readers, so one walk backwards reaches everything an output or an effect needs.
std::vector<bool> live_nodes(const ir::Program& program, const FoldedNumbers* folded) {
  std::vector<bool> live(program.nodes.size());
  const auto mark = [&](ir::Ref ref) {
    if (!ref.is_input()) live[static_cast<std::size_t>(program.node_of(ref))] = true;
  };
  std::ranges::for_each(program.outputs, mark);
  for (std::size_t i = program.nodes.size(); i-- > 0;) {
    if (program.nodes[i].effect && !std::holds_alternative<ir::Commit>(program.nodes[i].op)) live[i] = true;
    if (live[i] && !(folded && folded->of_node(i))) std::ranges::for_each(program.operands_of(program.nodes[i]), mark);
  }
  return live;
}

bool is_place(const ir::Node& node) { return std::holds_alternative<ir::Place>(node.op); }

// Finds nodes of equal ops on equal operands: equal bytes, equal results. Asked about every node of every new program,
// so all bytes lie in one place and nothing is allocated for a node.
class EqualNodes {
 public:
  explicit EqualNodes(std::size_t nodes) : slots_(std::bit_ceil(2 * nodes + 1), kNone) { known_.reserve(nodes); }

  // The first result of an equal node; `place`, which is remembered, where there is none yet.
  ir::Ref find_or_add(const ir::Op& op, std::span<const ir::Ref> operands, ir::Ref place) {
    const auto begin = bytes_.size();
    bytes_.resize(begin + ir::kMaxOpImage + operands.size_bytes());
    const auto size = ir::write_image(op, bytes_.data() + begin);
    if (!operands.empty()) std::memcpy(bytes_.data() + begin + size, operands.data(), operands.size_bytes());
    bytes_.resize(begin + size + operands.size_bytes());
    const auto key = text(begin, bytes_.size());
    const auto hash = std::hash<std::string_view>{}(key);
    const auto mask = slots_.size() - 1;
    auto slot = hash & mask;
    for (; slots_[slot] != kNone; slot = (slot + 1) & mask) {
      const auto& known = known_[slots_[slot]];
      if (known.hash != hash || text(known.begin, known.end) != key) continue;
      bytes_.resize(begin);
      return known.place;
    }
    slots_[slot] = static_cast<std::uint32_t>(known_.size());
    known_.push_back({begin, bytes_.size(), hash, place});
    return place;
  }

 private:
  static constexpr auto kNone = static_cast<std::uint32_t>(-1);
  struct Known {
    std::size_t begin = 0, end = 0;  // of its bytes
    std::size_t hash = 0;
    ir::Ref place;
  };

  std::string_view text(std::size_t begin, std::size_t end) const {
    return {reinterpret_cast<const char*>(bytes_.data()) + begin, end - begin};
  }

  std::vector<std::byte> bytes_;
  std::vector<Known> known_;
  std::vector<std::uint32_t> slots_;  // in known_, by hash; at most half of them taken
};

// A number instead of what `like` computes, of its type. One node where equal numbers are there already.
ir::Ref add_number(ir::Program& to, EqualNodes& known, const ir::Constant& number, const ir::Node& like,
                   const ir::TensorType& type) {
  const auto add = [&](const ir::Op& op, std::span<const ir::Ref> operands, const ir::TensorType& made) {
    const auto place = ir::Ref::value(static_cast<std::int32_t>(to.values.size()));
    if (const auto equal = known.find_or_add(op, operands, place); equal != place) return equal;
    auto node = like;
    node.op = op;
    node.recompute = false;
    node.operand_begin = static_cast<std::uint32_t>(to.operands.size());
    node.operand_count = static_cast<decltype(node.operand_count)>(operands.size());
    node.first_value = static_cast<std::uint32_t>(to.values.size());
    to.operands.insert(to.operands.end(), operands.begin(), operands.end());
    to.values.push_back({made, static_cast<std::int32_t>(to.nodes.size())});
    to.nodes.push_back(node);
    return place;
  };
  const auto alone = add(number, {}, {number.dtype, {}});
  const ir::Ref operands[] = {alone};
  return type.shape.rank() == 0 ? alone : add(ir::Expand{type.shape}, operands, type);
}

}  // namespace

ir::Program without_nodes(const ir::Program& program) {
  ir::Program result;
  result.inputs = program.inputs;
  result.scalar_count = program.scalar_count;
  result.random_blocks = program.random_blocks;
  result.effect_count = program.effect_count;
  result.hash = program.hash;
  result.site_files = program.site_files;
  result.nodes.reserve(program.nodes.size());
  result.values.reserve(program.values.size());
  result.operands.reserve(program.operands.size());
  return result;
}

namespace {

// Whose results are outputs, once outputs that a Place gives are those that it is given.
struct Outputs {
  std::vector<bool> of_node, is_dropped;  // dropped: a Place whose operand is an output in its stead

  explicit Outputs(const ir::Program& program) : of_node(program.nodes.size()), is_dropped(program.nodes.size()) {
    for (const auto ref : program.outputs) {
      if (!ref.is_input()) of_node[static_cast<std::size_t>(program.node_of(ref))] = true;
    }
    for (std::size_t i = program.nodes.size(); i-- > 0;) {
      const auto& node = program.nodes[i];
      if (!is_place(node) || !of_node[i]) continue;
      const auto operand = program.operands_of(node)[0];
      if (operand.is_input() || of_node[static_cast<std::size_t>(program.node_of(operand))]) continue;
      is_dropped[i] = of_node[static_cast<std::size_t>(program.node_of(operand))] = true;
    }
  }
};

}  // namespace

ir::Program simplify(const ir::Program& program, bool merge_equal) {
  const auto folded = merge_equal ? std::optional<FoldedNumbers>(program) : std::nullopt;
  const auto live = live_nodes(program, folded ? &*folded : nullptr);
  const Outputs outputs(program);

  auto result = without_nodes(program);
  std::vector<ir::Ref> now(program.values.size());  // where a value went
  const auto moved = [&](ir::Ref ref) { return ref.is_input() ? ref : now[static_cast<std::size_t>(ref.index())]; };
  // With the operands from `begin` on, the last that there are.
  const auto append = [&](const ir::Node& node, std::size_t begin) {
    const auto first = static_cast<std::uint32_t>(result.values.size());
    for (const auto& made : program.results_of(node))
      result.values.push_back({made.type, static_cast<std::int32_t>(result.nodes.size())});
    auto& copy = result.nodes.emplace_back(node);
    copy.operand_begin = static_cast<std::uint32_t>(begin);
    copy.first_value = first;
    return ir::Ref::value(static_cast<std::int32_t>(first));
  };
  EqualNodes known{merge_equal ? program.nodes.size() : 0};
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    if (!live[i]) continue;
    const auto& node = program.nodes[i];
    if (const auto* number = folded ? folded->of_node(i) : nullptr) {
      now[node.first_value] = add_number(result, known, *number, node, program.type_of(node));
      continue;
    }
    if (is_place(node)) {
      now[node.first_value] = moved(program.operands_of(node)[0]);
      continue;
    }
    const auto begin = result.operands.size();
    for (const auto ref : program.operands_of(node)) result.operands.push_back(moved(ref));
    const auto place = ir::Ref::value(static_cast<std::int32_t>(result.values.size()));
    const auto moves_to = [&](ir::Ref to) {
      for (std::uint32_t k = 0; k < node.value_count; ++k) now[node.first_value + k] = to.result(static_cast<int>(k));
    };
    if (merge_equal && !node.effect && !node.recompute) {
      const auto equal = known.find_or_add(node.op, std::span(result.operands).subspan(begin), place);
      if (equal != place && !outputs.of_node[i]) {  // outputs are distinct, so one stays a node of its own
        moves_to(equal);
        result.operands.resize(begin);
        continue;
      }
    }
    moves_to(append(node, begin));
  }
  // Outputs are distinct values: a Place that gives one beside its operand, or an input, stays a node.
  const auto stays = [&](ir::Ref ref) {
    if (ref.is_input() || !is_place(program.maker_of(ref))) return false;
    const auto node = static_cast<std::size_t>(program.node_of(ref));
    return !outputs.is_dropped[node] && !(folded && folded->of_node(node));
  };
  for (const auto ref : program.outputs) {
    if (!stays(ref)) {
      result.outputs.push_back(moved(ref));
      continue;
    }
    const auto& node = program.maker_of(ref);
    const auto begin = result.operands.size();
    result.operands.push_back(moved(program.operands_of(node)[0]));
    result.outputs.push_back(append(node, begin));
  }
  return result;
}

}  // namespace burn::compile
