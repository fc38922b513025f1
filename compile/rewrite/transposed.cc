#include "compile/rewrite/transposed.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compile/rewrite/simplify.h"
#include "compile/rewrite/uses.h"

namespace burn::compile {
namespace {

const ir::Dims kTransposing{1, 0};

class TransposedProducts {
 public:
  explicit TransposedProducts(const ir::Program& program) : program_(program) {}

  bool find() {
    std::vector<std::int32_t> uses;  // per value, counted when the first transposition is seen
    for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
      const auto& node = program_.nodes[i];
      const auto* permute = std::get_if<ir::Permute>(&node.op);
      if (permute == nullptr || permute->axes != kTransposing) continue;
      const auto operand = program_.operands_of(node)[0];
      if (operand.is_input() || !std::holds_alternative<ir::MatMul>(program_.maker_of(operand).op) ||
          !ir::is_floating(program_.type_of(operand).dtype))
        continue;
      if (uses.empty()) uses = count_uses(program_);
      if (uses[static_cast<std::size_t>(operand.index())] != 1) continue;
      transposition_of_.resize(program_.nodes.size(), -1);
      is_done_.resize(program_.nodes.size());
      transposition_of_[static_cast<std::size_t>(program_.node_of(operand))] = static_cast<std::int32_t>(i);
      is_done_[i] = true;
    }
    return !is_done_.empty();
  }

  ir::Program rewrite() {
    result_ = without_nodes(program_);
    now_.resize(program_.values.size());
    for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
      const auto& node = program_.nodes[i];
      if (is_done_[i]) continue;  // came with its product
      if (transposition_of_[i] >= 0) {
        const auto& transposition = program_.nodes[static_cast<std::size_t>(transposition_of_[i])];
        now_[transposition.first_value] = turned(node, transposition);
        continue;
      }
      const auto place = add(node, operands_of(node));
      for (std::uint32_t k = 0; k < node.value_count; ++k)
        now_[node.first_value + k] = place.result(static_cast<int>(k));
    }
    for (const auto ref : program_.outputs) result_.outputs.push_back(now(ref));
    return std::move(result_);
  }

 private:
  ir::Ref now(ir::Ref ref) const { return ref.is_input() ? ref : now_[static_cast<std::size_t>(ref.index())]; }
  std::vector<ir::Ref> operands_of(const ir::Node& node) const {
    std::vector<ir::Ref> operands;
    for (const auto ref : program_.operands_of(node)) operands.push_back(now(ref));
    return operands;
  }

  // A node like another, with these operands; its first result.
  ir::Ref add(const ir::Node& like, std::span<const ir::Ref> operands) {
    return add(like, operands, program_.results_of(like));
  }
  ir::Ref add(const ir::Node& like, std::span<const ir::Ref> operands, std::span<const ir::NodeResult> results) {
    auto& node = result_.nodes.emplace_back(like);
    node.operand_begin = static_cast<std::uint32_t>(result_.operands.size());
    node.operand_count = static_cast<std::uint32_t>(operands.size());
    node.first_value = static_cast<std::uint32_t>(result_.values.size());
    result_.operands.insert(result_.operands.end(), operands.begin(), operands.end());
    for (const auto& made : results)
      result_.values.push_back({made.type, static_cast<std::int32_t>(result_.nodes.size() - 1)});
    return ir::Ref::value(static_cast<std::int32_t>(node.first_value));
  }

  // An operand of `product`, transposed; what it is the transposition of, if it is one.
  ir::Ref transposed(ir::Ref operand, const ir::Node& product) {
    if (!operand.is_input()) {
      const auto& maker = program_.maker_of(operand);
      const auto* permute = std::get_if<ir::Permute>(&maker.op);
      if (permute && permute->axes == kTransposing && !is_done_[static_cast<std::size_t>(program_.node_of(operand))])
        return now(program_.operands_of(maker)[0]);
    }
    ir::NodeResult made{program_.type_of(operand)};
    std::swap(made.type.shape[0], made.type.shape[1]);
    ir::Node node = product;
    node.op = ir::Permute{kTransposing};
    const ir::Ref operands[] = {now(operand)};
    return add(node, operands, {&made, 1});
  }

  ir::Ref turned(const ir::Node& product, const ir::Node& transposition) {
    const auto factors = program_.operands_of(product);
    const ir::Ref right = transposed(factors[1], product), left = transposed(factors[0], product);
    const ir::Ref operands[] = {right, left};
    return add(product, operands, program_.results_of(transposition));
  }

  const ir::Program& program_;
  std::vector<std::int32_t> transposition_of_;  // per node: what alone reads this product, or -1
  std::vector<bool> is_done_;                   // per node: such a transposition
  ir::Program result_;
  std::vector<ir::Ref> now_;  // where a value went
};

}  // namespace

std::optional<ir::Program> transpose_products(const ir::Program& program) {
  TransposedProducts turning{program};
  if (!turning.find()) return std::nullopt;
  return turning.rewrite();
}

}  // namespace burn::compile
