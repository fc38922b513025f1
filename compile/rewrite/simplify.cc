#include "compile/rewrite/simplify.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compile/rewrite/constants.h"
#include "compile/rewrite/equal_nodes.h"

namespace burn::compile {
namespace {

bool is_place(const ir::Node& node) { return std::holds_alternative<ir::Place>(node.op); }

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

// Writes the program anew from its first node on that is not to stay as it is: most programs that are planned for
// their first and only run have none, and are not copied.
class Simplifier {
 public:
  Simplifier(const ir::Program& program, bool merge_equal)
      : program_(program),
        merge_equal_(merge_equal),
        folded_(merge_equal ? std::optional<FoldedNumbers>(program) : std::nullopt),
        live_(live_nodes()),
        outputs_(program),
        known_(merge_equal ? program.nodes.size() : 0) {}

  // Nothing: all of it stays.
  std::optional<ir::Program> run() {
    for (std::size_t i = 0; i < program_.nodes.size(); ++i) read(i);
    if (result_) write_outputs();
    return std::move(result_);
  }

 private:
  // Operands come before their readers, so one walk backwards reaches everything an output or an effect needs.
  std::vector<bool> live_nodes() const {
    std::vector<bool> live(program_.nodes.size());
    const auto mark = [&](ir::Ref ref) {
      if (!ref.is_input()) live[static_cast<std::size_t>(program_.node_of(ref))] = true;
    };
    std::ranges::for_each(program_.outputs, mark);
    for (std::size_t i = program_.nodes.size(); i-- > 0;) {
      const auto& node = program_.nodes[i];
      if (node.effect && !std::holds_alternative<ir::Commit>(node.op)) live[i] = true;
      if (live[i] && !number(i)) std::ranges::for_each(program_.operands_of(node), mark);
    }
    return live;
  }

  const ir::Constant* number(std::size_t i) const { return folded_ ? folded_->of_node(i) : nullptr; }

  void read(std::size_t i) {
    const auto& node = program_.nodes[i];
    if (!live_[i]) {
      rewrite_from(i);
    } else if (const auto* constant = number(i)) {
      rewrite_from(i);
      now_[node.first_value] = add_number(*constant, node, program_.type_of(node));
    } else if (is_place(node)) {
      rewrite_from(i);
      now_[node.first_value] = moved(program_.operands_of(node)[0]);
    } else {
      keep(i);
    }
  }

  // A node that stays, unless there is an equal one before it.
  void keep(std::size_t i) {
    const auto& node = program_.nodes[i];
    auto operands = program_.operands_of(node);
    const auto begin = result_ ? result_->operands.size() : 0;
    if (result_) {
      for (const auto ref : operands) result_->operands.push_back(moved(ref));
      operands = std::span(result_->operands).subspan(begin);
    }
    if (merge_equal_ && !node.effect && !node.recompute) {
      const auto place = result_ ? next_value() : ir::Ref::value(static_cast<std::int32_t>(node.first_value));
      const auto equal = known_.find_or_add(node.op, operands, place);
      if (equal != place && !outputs_.of_node[i]) {  // outputs are distinct, so one stays a node of its own
        const bool has_copied = result_.has_value();
        rewrite_from(i);
        if (has_copied) result_->operands.resize(begin);
        move(node, equal);
        return;
      }
    }
    if (result_) move(node, append(node, begin));
  }

  // From here on the program is another one; what is before node i stays.
  void rewrite_from(std::size_t i) {
    if (result_) return;
    const auto& first = program_.nodes[i];
    const auto copy = [](auto& to, const auto& from, std::size_t count) {
      to.assign(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
    };
    result_ = without_nodes(program_);
    copy(result_->nodes, program_.nodes, i);
    copy(result_->values, program_.values, first.first_value);
    copy(result_->operands, program_.operands, first.operand_begin);
    now_.resize(program_.values.size());
    for (std::uint32_t k = 0; k < first.first_value; ++k) now_[k] = ir::Ref::value(static_cast<std::int32_t>(k));
  }

  // --- writing: there is a result_ ---
  // NOLINTBEGIN(bugprone-unchecked-optional-access)

  ir::Ref moved(ir::Ref ref) const { return ref.is_input() ? ref : now_[static_cast<std::size_t>(ref.index())]; }
  ir::Ref next_value() const { return ir::Ref::value(static_cast<std::int32_t>(result_->values.size())); }
  void move(const ir::Node& node, ir::Ref to) {
    for (std::uint32_t k = 0; k < node.value_count; ++k) now_[node.first_value + k] = to.result(static_cast<int>(k));
  }

  // With the operands from `begin` on, the last that there are.
  ir::Ref append(const ir::Node& node, std::size_t begin) {
    const auto first = next_value();
    for (const auto& made : program_.results_of(node))
      result_->values.push_back({made.type, static_cast<std::int32_t>(result_->nodes.size())});
    auto& copy = result_->nodes.emplace_back(node);
    copy.operand_begin = static_cast<std::uint32_t>(begin);
    copy.first_value = static_cast<std::uint32_t>(first.index());
    return first;
  }

  // A number instead of what `like` computes, of its type. One node where equal numbers are there already.
  ir::Ref add_number(const ir::Constant& number, const ir::Node& like, const ir::TensorType& type) {
    const auto add = [&](const ir::Op& op, std::span<const ir::Ref> operands, const ir::TensorType& made) {
      const auto place = next_value();
      if (const auto equal = known_.find_or_add(op, operands, place); equal != place) return equal;
      auto node = like;
      node.op = op;
      node.recompute = false;
      node.operand_begin = static_cast<std::uint32_t>(result_->operands.size());
      node.operand_count = static_cast<decltype(node.operand_count)>(operands.size());
      node.first_value = static_cast<std::uint32_t>(place.index());
      result_->operands.insert(result_->operands.end(), operands.begin(), operands.end());
      result_->values.push_back({made, static_cast<std::int32_t>(result_->nodes.size())});
      result_->nodes.push_back(node);
      return place;
    };
    const auto alone = add(number, {}, {number.dtype, {}});
    const ir::Ref operands[] = {alone};
    return type.shape.rank() == 0 ? alone : add(ir::Expand{type.shape}, operands, type);
  }

  // Outputs are distinct values: a Place that gives one beside its operand, or an input, stays a node.
  bool stays_an_output(ir::Ref ref) const {
    if (ref.is_input() || !is_place(program_.maker_of(ref))) return false;
    const auto node = static_cast<std::size_t>(program_.node_of(ref));
    return !outputs_.is_dropped[node] && !number(node);
  }

  void write_outputs() {
    for (const auto ref : program_.outputs) {
      if (!stays_an_output(ref)) {
        result_->outputs.push_back(moved(ref));
        continue;
      }
      const auto& node = program_.maker_of(ref);
      const auto begin = result_->operands.size();
      result_->operands.push_back(moved(program_.operands_of(node)[0]));
      result_->outputs.push_back(append(node, begin));
    }
  }
  // NOLINTEND(bugprone-unchecked-optional-access)

  const ir::Program& program_;
  const bool merge_equal_;
  const std::optional<FoldedNumbers> folded_;
  const std::vector<bool> live_;
  const Outputs outputs_;
  EqualNodes known_;
  std::optional<ir::Program> result_;  // none as long as all nodes stay
  std::vector<ir::Ref> now_;           // where a value went
};

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

std::optional<ir::Program> simplified(const ir::Program& program, bool merge_equal) {
  return Simplifier(program, merge_equal).run();
}

ir::Program simplify(const ir::Program& program, bool merge_equal) {
  auto simple = simplified(program, merge_equal);
  return simple ? *std::move(simple) : program;
}

}  // namespace burn::compile
