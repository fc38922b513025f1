// What rewrites of a group's instructions look at.
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

  // The function of a pointwise instruction over f32; nothing for others and for pairs.
  std::optional<ir::PointwiseFn> fn_of(const TileInstruction& in, int arity) const {
    const auto& node = program_.nodes[static_cast<std::size_t>(in.node)];
    if (in.kind != TileInstruction::Kind::pointwise || in.arity != arity ||
        program_.type_of(node).dtype != ir::DType::f32)
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

  // Since count().
  TileInstruction* written_by(std::int32_t v) {
    const auto w = writer_[static_cast<std::size_t>(v)];
    return w < 0 ? nullptr : &code_.instructions[static_cast<std::size_t>(w)];
  }

  // Drops instructions whose value is not needed any more.
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

// Of the rewrites of improve(), those of long and short rows.
//
// Before instructions are joined: differences that several of them can compute on their way are computed for each.
void compute_differences_again(TileCode& code, const ir::Program& program);
// Afterwards: rows are summed while they are computed, and what they are centred by is combined in the pass before.
void sum_rows_early(TileCode& code, const ir::Program& program);

}  // namespace burn::backends::cpu
