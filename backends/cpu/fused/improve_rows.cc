#include <algorithm>
#include <optional>

#include "backends/cpu/fused/tile_rewriter.h"
#include "backends/cpu/simd/float_loops.h"

namespace burn::backends::cpu {
namespace {

using Kind = TileInstruction::Kind;

class DifferenceRewriter : TileRewriter {
 public:
  using TileRewriter::TileRewriter;

  // A difference between rows and a number per row is not stored if each of several readers can compute it itself: for
  // example x less its mean, which is squared and summed, and then scaled.
  void run() {
    count();
    std::vector<bool> is_again(code_.instructions.size()), is_used(code_.instructions.size());
    for (std::size_t w = 0; w < is_again.size(); ++w) {
      const auto source = source_of(code_.instructions[w]);
      const bool is_of_another = source >= 0 && is_again[static_cast<std::size_t>(source)];
      is_again[w] = !is_of_another && is_for_all_readers(code_.instructions, code_.instructions[w]);
    }
    if (std::ranges::find(is_again, true) == is_again.end()) return;
    const auto before = std::move(code_.instructions);
    code_.instructions.clear();
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (is_again[i]) continue;
      auto in = before[i];
      const auto source = source_of(in);
      if (source >= 0 && is_again[static_cast<std::size_t>(source)]) {
        const auto v = in.operands[0];
        const auto w = static_cast<std::size_t>(source);
        auto copy = before[w];
        if (is_used[w]) {
          const auto held = value(v).held;
          code_.values.push_back({.stored = held, .held = held});
          copy.result = static_cast<std::int32_t>(code_.values.size() - 1);
        }
        is_used[w] = true;
        std::replace(in.operands, in.operands + in.arity, v, copy.result);
        code_.instructions.push_back(copy);
      }
      code_.instructions.push_back(in);
    }
  }

 private:
  // The instruction that writes the first operand; -1: none.
  std::int32_t source_of(const TileInstruction& in) const {
    return in.arity > 0 ? writer_[static_cast<std::size_t>(in.operands[0])] : -1;
  }

  bool is_for_all_readers(const std::vector<TileInstruction>& all, const TileInstruction& in) {
    const auto v = in.result;
    const bool is_difference = in.chain.is_one_step() && in.chain.fns[0] == ir::PointwiseFn::sub &&
                               value(v).extent == Extent::full && value(v).result < 0 &&
                               is_repeated(in.operands[1], all);
    if (!is_difference || readers_[static_cast<std::size_t>(v)] < 2) return false;
    int readers = 0;
    for (const auto& reader : all) {
      if (std::find(reader.operands, reader.operands + reader.arity, v) == reader.operands + reader.arity) continue;
      if (!takes_difference(all, reader, v)) return false;
      ++readers;
    }
    return readers > 1;
  }

  bool is_repeated(std::int32_t v, const std::vector<TileInstruction>& all) const {
    const auto w = writer_[static_cast<std::size_t>(v)];
    return w >= 0 && all[static_cast<std::size_t>(w)].kind == Kind::repeat;
  }

  // Whether the reader and the difference v can become one instruction, or one with the sum that follows.
  bool takes_difference(const std::vector<TileInstruction>& all, const TileInstruction& reader, std::int32_t v) {
    constexpr auto kSub = ir::PointwiseFn::sub;
    if (const auto fn = fn_of(reader, 1)) return vector_loop_after(kSub, *fn, ir::DType::f32) != nullptr;
    if (!reader.chain.is_one_step() || reader.operands[0] != v) return false;
    const auto fn = reader.chain.fns[0];
    if (reader.operands[1] != v) return chain_loop({.steps = 2, .fns = {kSub, fn}}) != nullptr;
    const auto r = static_cast<std::size_t>(reader.result);
    return fn == ir::PointwiseFn::mul && readers_[r] == 1 && std::ranges::any_of(all, [&](const TileInstruction& sum) {
             return sum.dot && sum.arity == 1 && sum.operands[0] == reader.result;
           });
  }
};

class RowSumRewriter : TileRewriter {
 public:
  using TileRewriter::TileRewriter;

  void run() {
    sum_early();
    centre_early();
    drop_unread();
  }

 private:
  // Sums rows while they are computed.
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
      value(writer.operands[0]).needs_dense = true;
      writer.kind = Kind::row_sum;
      writer.row_sum = loop;
      writer.stored = is_wanted ? v : -1;
      writer.result = sum.result;
      sum.arity = 0;  // done
    }
    std::erase_if(all, [](const TileInstruction& in) { return in.kind == Kind::reduce && in.arity == 0; });
  }

  // What row_sum_loop requires of operands.
  bool is_row_by_row(const TileInstruction& in) {
    if (in.kind != Kind::pointwise || value(in.result).held != value(in.result).stored) return false;
    const auto first = in.operands[0], w = writer_[static_cast<std::size_t>(first)];
    return value(first).extent == Extent::full &&
           (w < 0 || code_.instructions[static_cast<std::size_t>(w)].kind != Kind::repeat);
  }

  // Computes the largest element of each row, or its mean, in the instruction that then sums the row less that number.
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
      both.carried = code_.carried++;
      both.arity = divided ? 2 : 1;
      if (divided) both.operands[1] = last->operands[1];
      // In the first one's place, as other instructions may read the number before they read the sum.
      last->arity = sum.arity = 0;
      *combined = both;
    }
    std::erase_if(all, [](const TileInstruction& in) { return in.arity == 0 && in.kind != Kind::random; });
  }

  // The instruction that sums, if `in` divides the sum by one number and is its only reader.
  TileInstruction* divided_sum(const TileInstruction& in) {
    const auto v = in.operands[0];
    const bool divides = in.chain.is_one_step() && in.chain.fns[0] == ir::PointwiseFn::div &&
                         value(in.operands[1]).extent == Extent::uniform;
    const bool is_only_here = readers_[static_cast<std::size_t>(v)] == 1 && value(v).result < 0;
    return divides && is_only_here ? written_by(v) : nullptr;
  }
};

}  // namespace

void compute_differences_again(TileCode& code, const ir::Program& program) { DifferenceRewriter(code, program).run(); }

void sum_rows_early(TileCode& code, const ir::Program& program) { RowSumRewriter(code, program).run(); }

}  // namespace burn::backends::cpu
