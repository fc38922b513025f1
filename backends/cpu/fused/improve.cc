#include <algorithm>
#include <optional>

#include "backends/cpu/fused/tile_rewriter.h"
#include "backends/cpu/simd/float_loops.h"

namespace burn::backends::cpu {
namespace {

using Kind = TileInstruction::Kind;

class Improver : TileRewriter {
 public:
  using TileRewriter::TileRewriter;

  void run() {
    pick_early();
    drop_unread();
    compute_differences_again(code_, program_);
    using In = TileInstruction;
    join_pairs([&](const In& first, const In& second, int) { return after(first, second); });
    join_pairs([&](const In& first, const In& second, int) { return dot(first, second); });
    join_pairs([&](const In& first, const In& second, int k) { return chain(first, second, k); });
    sum_rows_early(code_, program_);
  }

 private:
  // Picks elements before they are computed: one element of a computed row needs only one element of each operand, so
  // the loss of a row does not need the logarithm of every probability.
  void pick_early() {
    if (std::ranges::none_of(code_.instructions, [](const auto& in) { return in.kind == Kind::pick; })) return;
    const auto before = code_.instructions;
    code_.instructions.clear();
    written_by_.assign(code_.values.size(), nullptr);
    for (const auto& in : before) {
      if (in.kind == Kind::pick) {
        compute_picked(in, in.operands[0], in.result, 4);
      } else {
        code_.instructions.push_back(in);
      }
      if (in.kind == Kind::pointwise || in.kind == Kind::repeat) written_by_[static_cast<std::size_t>(in.result)] = &in;
    }
  }

  // Emits result[row] = from[row][index[row]].
  void compute_picked(const TileInstruction& pick, std::int32_t from, std::int32_t result, int depth) {
    const auto* writer =
        static_cast<std::size_t>(from) < written_by_.size() ? written_by_[static_cast<std::size_t>(from)] : nullptr;
    const bool is_stepwise = writer && writer->kind == Kind::pointwise && value(from).held == value(from).stored;
    if (!is_stepwise || depth == 0) {
      auto copy = pick;
      copy.operands[0] = from;
      copy.result = result;
      value(from).needs_dense = true;
      code_.instructions.push_back(copy);
      return;
    }
    auto step = *writer;
    for (int k = 0; k < step.arity; ++k) {
      const auto operand = step.operands[k];
      if (value(operand).extent == Extent::uniform) continue;
      const auto* source = written_by_[static_cast<std::size_t>(operand)];
      if (source && source->kind == Kind::repeat) {
        step.operands[k] = source->operands[0];
        continue;
      }
      const auto held = value(operand).held;
      code_.values.push_back({.stored = held, .held = held, .extent = Extent::row});
      written_by_.push_back(nullptr);
      const auto picked = static_cast<std::int32_t>(code_.values.size() - 1);
      compute_picked(pick, operand, picked, depth - 1);
      step.operands[k] = picked;
    }
    step.result = result;
    code_.instructions.push_back(step);
  }

  // Makes an instruction a part of its only reader, if `join(first, second, k)`, k being the position of the operand,
  // supports that.
  template <typename Join>
  void join_pairs(const Join& join) {
    count();
    auto& all = code_.instructions;
    std::vector<bool> is_gone(all.size());
    for (auto& second : all) {
      for (int k = 0; k < second.arity; ++k) {
        const auto v = static_cast<std::size_t>(second.operands[k]);
        if (writer_[v] < 0 || readers_[v] != 1 || code_.values[v].result >= 0) continue;
        const std::optional<TileInstruction> both = join(all[static_cast<std::size_t>(writer_[v])], second, k);
        if (!both) continue;
        is_gone[static_cast<std::size_t>(writer_[v])] = true;
        second = *both;
        break;
      }
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (is_gone[i]) continue;
      if (kept != i) all[kept] = all[i];
      ++kept;
    }
    all.resize(kept);
  }

  // f(a op b)
  std::optional<TileInstruction> after(const TileInstruction& first, const TileInstruction& second) const {
    const auto fn = fn_of(second, 1);
    const auto loop =
        first.chain.is_one_step() && fn ? vector_loop_after(first.chain.fns[0], *fn, ir::DType::f32) : nullptr;
    if (!loop) return std::nullopt;
    auto both = second;
    both.arity = 2;
    std::ranges::copy(first.operands, both.operands);
    both.loop = loop;
    both.chain.before = first.chain.fns[0];
    return both;
  }

  // The sum of products.
  std::optional<TileInstruction> dot(const TileInstruction& first, const TileInstruction& second) {
    const bool is_product = first.chain.is_one_step() && first.chain.fns[0] == ir::PointwiseFn::mul;
    if (!is_product || second.kind != Kind::reduce || !second.dot) return std::nullopt;
    auto both = second;
    both.arity = 2;
    std::ranges::copy(first.operands, both.operands);
    for (int k = 0; k < 2; ++k) {
      if (value(both.operands[k]).extent != Extent::full) return std::nullopt;
    }
    for (int k = 0; k < 2; ++k) value(both.operands[k]).needs_dense = true;
    return both;
  }

  // What function_chain_loop requires of the strides.
  bool takes_steps(const TileInstruction& function) {
    return value(function.operands[0]).extent == Extent::full &&
           (!function.chain.before || value(function.operands[1]).extent == Extent::uniform);
  }

  // (a op b) op c ..., or f(x) op c ...
  std::optional<TileInstruction> chain(const TileInstruction& first, const TileInstruction& second, int k) {
    const bool is_chain = first.chain.function || first.chain.steps > 0;
    if (!is_chain || first.chain.steps == Chain::kMaxSteps || !second.chain.is_one_step()) return std::nullopt;
    if (first.chain.function && !takes_steps(first)) return std::nullopt;
    auto both = second;
    both.chain = first.chain;
    both.chain.fns[both.chain.steps] = second.chain.fns[0];
    both.chain.swapped[both.chain.steps] = k == 1;
    ++both.chain.steps;
    both.loop = both.chain.function ? function_chain_loop(both.chain, Store::cached) : chain_loop(both.chain);
    if (!both.loop) return std::nullopt;
    if (both.chain.function) {
      both.streaming_loop = function_chain_loop(both.chain, Store::past_caches);
      value(first.operands[0]).needs_dense = true;
    }
    std::ranges::copy(first.operands, both.operands);
    both.operands[first.arity] = second.operands[1 - k];
    both.arity = static_cast<std::uint8_t>(first.arity + 1);
    return both;
  }

  std::vector<const TileInstruction*> written_by_;  // per value: the instruction that writes it, before the rewrite
};

}  // namespace

void improve(TileCode& code, const ir::Program& program) { Improver(code, program).run(); }

}  // namespace burn::backends::cpu
