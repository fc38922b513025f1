#include "compile/plan/gemm_epilogues.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>

#include <fmt/format.h>

#include "compile/plan/views.h"
#include "compile/rewrite/uses.h"

namespace burn::compile {
namespace {

class Joiner {
 public:
  Joiner(const ir::Program& program, Plan& plan)
      : program_(program),
        plan_(plan),
        views_(find_views(program)),
        uses_(count_uses(program)),
        made_at_(program.values.size(), kNone),
        is_gone_(plan.steps.size()) {}

  void run() {
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      for (const auto ref : plan_.steps[s].results) made_at_[index(ref)] = static_cast<std::int32_t>(s);
    }
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      if (std::holds_alternative<ir::MatMul>(op_of(s))) list_operands(s);
    }
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      if (const auto* function = std::get_if<ir::Pointwise>(&op_of(s));
          function && function->fn == ir::PointwiseFn::add)
        join_bias(s);
    }
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      if (const auto* reduce = std::get_if<ir::Reduce>(&op_of(s)); reduce && reduce->fn == ir::ReduceFn::sum)
        join_sums(s, *reduce);
    }
    drop_steps(plan_, is_gone_);
  }

 private:
  static constexpr std::int32_t kNone = -1;
  static constexpr std::size_t kMaxLookedAt = 16;  // products that read one matrix
  using Kind = ProductWithEpilogue::Kind;

  // An operand of a product [rows, columns].
  struct Operand {
    std::size_t step = 0;
    ir::Ref ref;
    bool is_first = true;
  };

  static std::size_t index(ir::Ref ref) { return static_cast<std::size_t>(ref.index()); }

  // The op of a step that is a single node without an effect and has not been joined; for other steps an op that no
  // caller looks for.
  const ir::Op& op_of(std::size_t s) const {
    static const ir::Op other = ir::Permute{};
    const auto& step = plan_.steps[s];
    if (is_gone_[s] || step.group != PlanStep::kSingle || step.product != PlanStep::kNone) return other;
    const auto& node = program_.nodes[static_cast<std::size_t>(step.node)];
    return node.effect ? other : node.op;
  }

  ValueView view_of(ir::Ref ref) const {
    return ref.is_input() ? ValueView{ref, 0, ir::contiguous_strides(program_.type_of(ref).shape)} : views_[index(ref)];
  }

  void list_operands(std::size_t s) {
    const auto& reads = plan_.steps[s].reads;
    for (std::size_t k = 0; k < reads.size(); ++k) {
      if (program_.type_of(reads[k]).shape.rank() == 2)
        operands_[view_of(reads[k]).base.code()].push_back({s, reads[k], k == 0});
    }
  }

  // Whether the value has one number per column, repeated in every row and contiguous in memory.
  bool is_row(ir::Ref ref) const {
    const auto& shape = program_.type_of(ref).shape;
    const auto view = view_of(ref);
    if (!view.base.is_input()) {
      const auto& maker = program_.maker_of(view.base).op;
      if (std::holds_alternative<ir::Constant>(maker) || std::holds_alternative<ir::Scalar>(maker)) return false;
    }
    const int last = shape.rank() - 1;
    for (int d = 0; d < last; ++d) {
      if (shape[d] != 1 && view.strides[d] != 0) return false;
    }
    return shape[last] == 1 || view.strides[last] == 1;
  }

  // The step of the product that the value is, or is a reshape of with the same columns, if the product has no other
  // reader.
  std::optional<std::size_t> product_of(ir::Ref value) const {
    const auto columns = [&](ir::Ref ref) {
      const auto& shape = program_.type_of(ref).shape;
      return shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
    };
    for (auto ref = value; !ref.is_input() && uses_[index(ref)] == 1 && columns(ref) == columns(value);) {
      const auto at = static_cast<std::size_t>(made_at_[index(ref)]);
      if (std::holds_alternative<ir::MatMul>(op_of(at))) return at;
      if (!std::holds_alternative<ir::Reshape>(op_of(at)) || view_of(ref).base == ref) break;
      ref = plan_.steps[at].reads[0];
    }
    return std::nullopt;
  }

  void join_bias(std::size_t s) {
    const auto reads = plan_.steps[s].reads;
    for (std::size_t k = 0; k < 2; ++k) {
      const auto product = reads[k], other = reads[1 - k];
      const auto found = product_of(product);
      if (!found) continue;
      const auto at = *found;
      const auto &type = program_.type_of(product), &added = program_.type_of(other),
                 &sum = program_.type_of(plan_.steps[s].results[0]);
      if (type != added || type != sum || !is_row(other)) continue;
      // At the position of the sum, where the bias has been computed, too.
      auto from = plan_.steps[at].reads;
      from.push_back(other);
      for (auto ref = product; static_cast<std::size_t>(made_at_[index(ref)]) != at;) {
        const auto reshape = static_cast<std::size_t>(made_at_[index(ref)]);
        ref = plan_.steps[reshape].reads[0];
        is_gone_[reshape] = true;
      }
      join({Kind::bias, plan_.steps[at].node, plan_.steps[s].node, other}, s, at, from, plan_.steps[s].results);
      return;
    }
  }

  // Whether the column sums of `x`, seen as a matrix, equal the sums of the operand over the product's inner dim: that
  // is, whether `x` is a view of the same elements, with the inner dim as its rows.
  bool is_summed(const Operand& operand, ir::Ref x) const {
    const auto a = view_of(operand.ref);
    auto b = view_of(x);
    const auto& a_shape = program_.type_of(operand.ref).shape;
    auto b_shape = program_.type_of(x).shape;
    if (b_shape.rank() > 2) {
      const auto columns = b_shape[b_shape.rank() - 1];
      const ir::Shape as_matrix{ir::num_elements(b_shape) / std::max<std::int64_t>(columns, 1), columns};
      const auto strides = reshaped_strides(b_shape, b.strides, as_matrix);
      if (!strides) return false;
      b.strides = *strides;
      b_shape = as_matrix;
    }
    const int inner = operand.is_first ? 1 : 0;
    const auto agrees = [&](int d, int of_x) {
      return a_shape[d] == b_shape[of_x] && (a_shape[d] == 1 || a.strides[d] == b.strides[of_x]);
    };
    return a.offset == b.offset && agrees(inner, 0) && agrees(1 - inner, 1);
  }

  void join_sums(std::size_t s, const ir::Reduce& reduce) {
    const auto x = plan_.steps[s].reads[0];
    const auto &type = program_.type_of(x), &sums = program_.type_of(plan_.steps[s].results[0]);
    const int rank = type.shape.rank();
    if (rank < 2 || reduce.axes.contains(rank - 1) || type.dtype != sums.dtype) return;
    for (int d = 0; d < rank - 1; ++d) {
      if (type.shape[d] != 1 && !reduce.axes.contains(d)) return;
    }
    const auto found = operands_.find(view_of(x).base.code());
    if (found == operands_.end()) return;
    for (const auto& operand : std::span(found->second).first(std::min(found->second.size(), kMaxLookedAt))) {
      if (!std::holds_alternative<ir::MatMul>(op_of(operand.step)) || !is_summed(operand, x)) continue;
      // At the position of the first of the two, if all that the second reads has been computed by then.
      const auto first = std::min(s, operand.step), second = std::max(s, operand.step);
      const bool is_there = std::ranges::all_of(plan_.steps[second].reads, [&](ir::Ref ref) {
        const auto base = view_of(ref).base;
        return base.is_input() || made_at_[index(base)] < static_cast<std::int32_t>(first);
      });
      if (!is_there) continue;
      join({operand.is_first ? Kind::first_sums : Kind::second_sums,
            plan_.steps[operand.step].node,
            plan_.steps[s].node,
            {}},
           first, second, plan_.steps[operand.step].reads,
           {plan_.steps[operand.step].results[0], plan_.steps[s].results[0]});
      return;
    }
  }

  void join(const ProductWithEpilogue& made, std::size_t at, std::size_t gone, const std::vector<ir::Ref>& reads,
            std::vector<ir::Ref> results) {
    std::vector<ir::Ref> each;  // bases instead of views, because the step of a view may come later
    for (const auto ref : reads) {
      const auto base = view_of(ref).base;
      if (std::ranges::find(each, base) == each.end()) each.push_back(base);
    }
    for (const auto ref : results) made_at_[index(ref)] = static_cast<std::int32_t>(at);
    plan_.steps[at] = {.product = static_cast<std::int32_t>(plan_.products.size()),
                       .reads = std::move(each),
                       .results = std::move(results)};
    plan_.products.push_back(made);
    is_gone_[gone] = true;
  }

  const ir::Program& program_;
  Plan& plan_;
  const std::vector<ValueView> views_;
  const std::vector<std::int32_t> uses_;                             // per value, outputs counted
  std::vector<std::int32_t> made_at_;                                // per value: the step
  std::vector<bool> is_gone_;                                        // per step
  std::unordered_map<std::int32_t, std::vector<Operand>> operands_;  // of products, by the base that they view
};

}  // namespace

void join_products(const ir::Program& program, Plan& plan) { Joiner(program, plan).run(); }

std::string to_string(const ProductWithEpilogue& product, const ir::Program& program) {
  if (product.kind == ProductWithEpilogue::Kind::group) return "matmul with a group: ";
  const auto name = [&](std::int32_t node) { return ir::name(program.nodes[static_cast<std::size_t>(node)].op); };
  const auto* what = product.kind == ProductWithEpilogue::Kind::bias         ? "a bias"
                     : product.kind == ProductWithEpilogue::Kind::first_sums ? "sums of the first operand"
                                                                             : "sums of the second operand";
  return fmt::format("{} with {}: {} {}", name(product.product), what, name(product.product), name(product.neighbour));
}

}  // namespace burn::compile
