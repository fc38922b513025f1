#include <algorithm>
#include <optional>

#include "backends/cpu/fused/tile_code.h"
#include "backends/cpu/vector/float_loops.h"

namespace burn::backends::cpu {
namespace {

using Kind = TileInstruction::Kind;

class Improver {
 public:
  Improver(TileCode& code, const ir::Program& program) : code_(code), program_(program) {}

  void run() {
    pick_early();
    drop_unread();
    using In = TileInstruction;
    join_pairs([&](const In& first, const In& second, int) { return after(first, second); });
    join_pairs([&](const In& first, const In& second, int) { return dot(first, second); });
    join_pairs([&](const In& first, const In& second, int k) { return chain(first, second, k); });
    sum_early();
    centre_early();
    drop_unread();
  }

 private:
  TileValue& value(std::int32_t v) { return code_.values[static_cast<std::size_t>(v)]; }

  // The function of a pointwise instruction over f32; nothing for others and for pairs.
  std::optional<ir::PointwiseFn> fn_of(const TileInstruction& in, int arity) const {
    const auto& node = program_.nodes[static_cast<std::size_t>(in.node)];
    if (in.kind != Kind::pointwise || in.arity != arity || program_.type_of(node).dtype != ir::DType::f32)
      return std::nullopt;
    const auto* op = std::get_if<ir::Pointwise>(&node.op);
    return op && ir::row(op->fn).arity == arity ? std::optional(op->fn) : std::nullopt;
  }

  // Per value: the instruction that writes it (-1: a read), and how many operands it is.
  void count() {
    writer_.assign(code_.values.size(), -1);
    readers_.assign(code_.values.size(), 0);
    for (std::size_t i = 0; i < code_.instructions.size(); ++i) {
      const auto& in = code_.instructions[i];
      writer_[static_cast<std::size_t>(in.result)] = static_cast<std::int32_t>(i);
      for (int k = 0; k < in.arity; ++k) ++readers_[static_cast<std::size_t>(in.operands[k])];
    }
  }

  // One element of a computed row is computed from one element of each operand: the loss of a row does not need the
  // logarithm of every probability.
  void pick_early() {
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
      value(from).wants_all = true;
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

  // Instructions whose value nobody needs any more.
  void drop_unread() {
    count();
    auto& all = code_.instructions;
    for (std::size_t i = all.size(); i-- > 0;) {
      const auto v = static_cast<std::size_t>(all[i].result);
      if (readers_[v] > 0 || code_.values[v].result >= 0) continue;
      for (int k = 0; k < all[i].arity; ++k) --readers_[static_cast<std::size_t>(all[i].operands[k])];
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  // An instruction whose only reader is another one becomes a part of it, where `join(first, second, k)`, k being
  // which operand, knows how.
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
    std::vector<TileInstruction> kept;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!is_gone[i]) kept.push_back(all[i]);
    }
    all = std::move(kept);
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
    for (int k = 0; k < 2; ++k) value(both.operands[k]).wants_all = true;
    return both;
  }

  // What function_chain_loop asks of the strides.
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
      value(first.operands[0]).wants_all = true;
    }
    std::ranges::copy(first.operands, both.operands);
    both.operands[first.arity] = second.operands[1 - k];
    both.arity = static_cast<std::uint8_t>(first.arity + 1);
    return both;
  }

  // Rows are summed while they are computed.
  void sum_early() {
    count();
    auto& all = code_.instructions;
    for (auto& sum : all) {
      const bool is_of_squares = sum.arity == 2 && sum.operands[0] == sum.operands[1];
      const auto v = sum.operands[0];
      const auto w = writer_[static_cast<std::size_t>(v)];
      if (sum.kind != Kind::reduce || !sum.dot || (sum.arity == 2 && !is_of_squares) || w < 0) continue;
      auto& writer = all[static_cast<std::size_t>(w)];
      if (!is_row_by_row(writer)) continue;
      const auto loop = row_sum_loop(writer.chain, is_of_squares ? Summed::squares : Summed::values);
      if (!loop) continue;
      const bool is_wanted = value(v).result >= 0 || readers_[static_cast<std::size_t>(v)] > sum.arity;
      value(writer.operands[0]).wants_all = true;
      writer.kind = Kind::row_sum;
      writer.row_sum = loop;
      writer.stored = is_wanted ? v : -1;
      writer.result = sum.result;
      sum.arity = 0;  // done
    }
    std::erase_if(all, [](const TileInstruction& in) { return in.kind == Kind::reduce && in.arity == 0; });
  }

  // What row_sum_loop asks of operands.
  bool is_row_by_row(const TileInstruction& in) {
    if (in.kind != Kind::pointwise || value(in.result).held != value(in.result).stored) return false;
    const auto first = in.operands[0], w = writer_[static_cast<std::size_t>(first)];
    return value(first).extent == Extent::full &&
           (w < 0 || code_.instructions[static_cast<std::size_t>(w)].kind != Kind::repeat);
  }

  // The largest element of each row, or its mean, is combined by who then sums what is left of the row without it.
  void centre_early() {
    count();
    auto& all = code_.instructions;
    for (auto& sum : all) {
      if (sum.kind != Kind::row_sum || sum.arity != 2) continue;
      const auto* repeat = written_by(sum.operands[1]);
      if (!repeat || repeat->kind != Kind::repeat) continue;
      auto* last = written_by(repeat->operands[0]);
      auto* const divided = last ? divided_sum(*last) : nullptr;
      auto* const combined = divided ? divided : last;
      if (!combined || combined->kind != Kind::reduce || combined->arity != 1 ||
          combined->operands[0] != sum.operands[0])
        continue;
      const auto& reduce = std::get<ir::Reduce>(program_.nodes[static_cast<std::size_t>(combined->node)].op);
      if (reduce.fn != (divided ? ir::ReduceFn::sum : ir::ReduceFn::max)) continue;
      const auto loop = centred_sum_loop(sum.chain, divided ? Centre::mean : Centre::largest);
      if (!loop) continue;
      auto both = sum;
      both.kind = Kind::centred_sum;
      both.centred_sum = loop;
      both.centre = last->result;
      both.arity = divided ? 2 : 1;
      if (divided) both.operands[1] = last->operands[1];
      // In the first one's place: others may read the number before they read the sum.
      last->arity = sum.arity = 0;
      *combined = both;
    }
    std::erase_if(all, [](const TileInstruction& in) { return in.arity == 0 && in.kind != Kind::random; });
  }

  // What sums, where this divides the sum by one number and nobody else reads it.
  TileInstruction* divided_sum(const TileInstruction& in) {
    const auto v = in.operands[0];
    const bool divides = in.chain.is_one_step() && in.chain.fns[0] == ir::PointwiseFn::div &&
                         value(in.operands[1]).extent == Extent::uniform;
    const bool is_only_here = readers_[static_cast<std::size_t>(v)] == 1 && value(v).result < 0;
    return divides && is_only_here ? written_by(v) : nullptr;
  }

  TileInstruction* written_by(std::int32_t v) {
    const auto w = writer_[static_cast<std::size_t>(v)];
    return w < 0 ? nullptr : &code_.instructions[static_cast<std::size_t>(w)];
  }

  TileCode& code_;
  const ir::Program& program_;
  std::vector<std::int32_t> writer_, readers_;
  std::vector<const TileInstruction*> written_by_;  // per value, pointing into the instructions before
};

}  // namespace

void improve(TileCode& code, const ir::Program& program) { Improver(code, program).run(); }

}  // namespace burn::backends::cpu
