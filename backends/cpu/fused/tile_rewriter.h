// Base of the rewrites of a group's instructions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/cpu/fused/tile_code.h"

namespace burn::backends::cpu {

class TileRewriter {
 public:
  TileRewriter(TileCode& code, const ir::Program& program) : code_(code), program_(program) {}

 protected:
  TileValue& value(std::int32_t v) { return code_.values[static_cast<std::size_t>(v)]; }

  // The function of a pointwise instruction over f32; std::nullopt for others and for joined instructions.
  std::optional<ir::PointwiseFn> fn_of(const TileInstruction& in, int arity) const {
    const auto& node = program_.nodes[static_cast<std::size_t>(in.node)];
    if (in.kind != TileInstruction::Kind::pointwise || in.arity != arity ||
        program_.type_of(node).dtype != ir::DType::f32)
      return std::nullopt;
    const auto* op = std::get_if<ir::Pointwise>(&node.op);
    return op && ir::row(op->fn).arity == arity ? std::optional(op->fn) : std::nullopt;
  }

  // Computes per value: the instruction that writes it (-1: a read), and how often it is an operand.
  void count() {
    writer_.assign(code_.values.size(), -1);
    readers_.assign(code_.values.size(), 0);
    for (std::size_t i = 0; i < code_.instructions.size(); ++i) {
      const auto& in = code_.instructions[i];
      writer_[static_cast<std::size_t>(in.result)] = static_cast<std::int32_t>(i);
      for (int k = 0; k < in.arity; ++k) ++readers_[static_cast<std::size_t>(in.operands[k])];
    }
  }

  // The instruction that wrote the value at the last count(); null: it is a read.
  TileInstruction* written_by(std::int32_t v) {
    const auto w = writer_[static_cast<std::size_t>(v)];
    return w < 0 ? nullptr : &code_.instructions[static_cast<std::size_t>(w)];
  }

  // Removes instructions whose result is not needed any more.
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

  TileCode& code_;
  const ir::Program& program_;
  std::vector<std::int32_t> writer_, readers_;
};

// The rewrites of improve() for long and short rows.
//
// To be called before instructions are joined: recomputes a difference in each of its readers, if all of them can.
void compute_differences_again(TileCode& code, const ir::Program& program);
// To be called afterwards: sums rows while they are computed, and computes a row's centre in the pass over the row
// before.
void sum_rows_early(TileCode& code, const ir::Program& program);

}  // namespace burn::backends::cpu
