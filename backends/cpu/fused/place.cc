// Assigns memory to the values of a group: in arrays, in the memory of results, in scratch memory.
#include <algorithm>
#include <vector>

#include "backends/cpu/fused/tile_code.h"

namespace burn::backends::cpu {
namespace {

using Kind = TileInstruction::Kind;

class Placer {
 public:
  Placer(TileCode& code, std::size_t reads, std::size_t results) : code_(code), reads_(reads), results_(results) {}

  void run() {
    find_overwrites();
    place_in_results();
    place_in_scratch();
    classify();
  }

 private:
  TileValue& value(std::int32_t v) { return code_.values[static_cast<std::size_t>(v)]; }

  // Finds the read that a result may overwrite: one whose elements of this tile have all been read when the result is
  // written.
  void find_overwrites() {
    code_.overwrites.assign(results_, -1);
    std::vector<std::int32_t> last_read(code_.values.size(), -1), written(code_.values.size(), -1);
    for (std::size_t i = 0; i < code_.instructions.size(); ++i) {
      const auto& in = code_.instructions[i];
      for (int k = 0; k < in.arity; ++k)
        last_read[static_cast<std::size_t>(in.operands[k])] = static_cast<std::int32_t>(i);
      for (const auto v : {in.result, in.stored, in.centre}) {
        if (v >= 0 && written[static_cast<std::size_t>(v)] < 0)
          written[static_cast<std::size_t>(v)] = static_cast<std::int32_t>(i);
      }
    }
    std::vector<bool> taken(code_.values.size());
    for (std::size_t v = 0; v < code_.values.size(); ++v) {
      const auto& out = code_.values[v];
      if (out.result < 0 || out.extent != Extent::full) continue;
      for (std::size_t r = 0; r < reads_; ++r) {
        const auto& in = code_.values[r];
        const bool fits = in.extent == Extent::full && ir::size_of(in.stored) == ir::size_of(out.stored);
        if (!fits || taken[r] || last_read[r] > written[v]) continue;
        // If the last instruction that reads it also writes the result, it must do so element by element.
        if (last_read[r] == written[v] &&
            code_.instructions[static_cast<std::size_t>(written[v])].kind != Kind::pointwise)
          continue;
        code_.overwrites[static_cast<std::size_t>(out.result)] = static_cast<std::int32_t>(r);
        taken[r] = true;
        break;
      }
    }
  }

  // A value that is written directly to its array needs no scratch memory.
  bool needs_scratch(const TileValue& v) const {
    if (v.extent == Extent::uniform || v.extent == Extent::total || v.stored_in_result >= 0) return false;
    if (v.read >= 0) return v.extent == Extent::full;  // used if strides do not fit, which is known at run time
    return v.result < 0 || v.held != v.stored || (code_.is_large && v.extent == Extent::full && !v.streamed_by_loop);
  }

  // A value that is last read where a result is computed from it, element by element, may use the result's memory until
  // then: the lines to be written are fetched while there is other work, and the cache has less to hold.
  void place_in_results() {
    if (code_.is_large) return;  // results are written past the caches
    const auto& all = code_.instructions;
    std::vector<std::int32_t> written(code_.values.size(), -1), last(code_.values.size(), -1);
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (int k = 0; k < all[i].arity; ++k)
        last[static_cast<std::size_t>(all[i].operands[k])] = static_cast<std::int32_t>(i);
      const bool is_sum = all[i].kind == Kind::row_sum || all[i].kind == Kind::centred_sum;
      const bool is_by_element = all[i].kind == Kind::pointwise || is_sum;
      const auto out = is_sum ? all[i].stored : all[i].result;
      if (is_by_element && out >= 0) written[static_cast<std::size_t>(out)] = static_cast<std::int32_t>(i);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& in = all[i];
      const auto& result = value(in.result);
      if (in.kind != Kind::pointwise || result.result < 0 || result.held != result.stored ||
          result.extent != Extent::full)
        continue;
      const auto over = code_.overwrites[static_cast<std::size_t>(result.result)];
      const auto free_from = over < 0 ? -1 : last[static_cast<std::size_t>(over)];
      for (int k = 0; k < in.arity; ++k) {
        const auto v = static_cast<std::size_t>(in.operands[k]);
        auto& operand = code_.values[v];
        const bool fits = operand.extent == Extent::full && operand.read < 0 && operand.result < 0 &&
                          ir::size_of(operand.held) == ir::size_of(result.held);
        if (!fits || written[v] < free_from || written[v] < 0 || last[v] != static_cast<std::int32_t>(i)) continue;
        operand.stored_in_result = in.result;
        break;
      }
    }
  }

  // Linear scan: a value that was read for the last time frees its memory for later ones.
  void place_in_scratch() {
    const auto count = code_.values.size();
    std::vector<std::int32_t> first(count, -1), last(count, -1);
    const auto touch = [&](std::int32_t v, std::int32_t at) {
      auto& begin = first[static_cast<std::size_t>(v)];
      if (begin < 0) begin = value(v).read >= 0 ? 0 : at;
      last[static_cast<std::size_t>(v)] = at;
    };
    for (std::size_t i = 0; i < code_.instructions.size(); ++i) {
      const auto& in = code_.instructions[i];
      for (int k = 0; k < in.arity; ++k) touch(in.operands[k], static_cast<std::int32_t>(i));
      touch(in.result, static_cast<std::int32_t>(i));
      if (in.stored >= 0) touch(in.stored, static_cast<std::int32_t>(i));
      if (in.centre >= 0) touch(in.centre, static_cast<std::int32_t>(i));
    }
    // Results are copied from scratch memory at the end of the tile, so they are needed until then.
    const auto end = static_cast<std::int32_t>(code_.instructions.size());
    for (std::size_t v = 0; v < count; ++v) {
      if (code_.values[v].result >= 0) last[v] = end;
    }

    struct Block {
      std::int64_t offset, size;
      std::int32_t free_from;
    };
    std::vector<std::size_t> order;  // of the values that need memory, by their first use
    for (std::size_t v = 0; v < count; ++v) {
      if (first[v] >= 0 && needs_scratch(code_.values[v])) order.push_back(v);
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t v) { return first[v]; });
    std::vector<Block> blocks;
    for (const auto v : order) {
      auto& val = code_.values[v];
      const auto at = first[v];
      const auto size = static_cast<std::int64_t>(ir::size_of(val.held));
      if (val.extent == Extent::row) {
        val.scratch = code_.row_bytes;
        code_.row_bytes += size;
        continue;
      }
      auto block = std::ranges::find_if(blocks, [&](const Block& b) { return b.size == size && b.free_from <= at; });
      if (block == blocks.end()) {
        blocks.push_back({code_.full_bytes, size, 0});
        code_.full_bytes += size;
        block = blocks.end() - 1;
      }
      val.scratch = block->offset;
      // The instruction that reads it last may already write its result there, if its loop allows that.
      block->free_from = std::max(last[v], at + 1);
      if (is_read_beside(static_cast<std::int32_t>(v), last[v])) block->free_from = last[v] + 1;
    }
  }

  // Whether the last instruction that reads v must not overwrite it: all but pointwise loops of one element size.
  bool is_read_beside(std::int32_t v, std::int32_t at) {
    if (at >= static_cast<std::int32_t>(code_.instructions.size())) return true;
    const auto& in = code_.instructions[static_cast<std::size_t>(at)];
    return in.kind != Kind::pointwise || ir::size_of(value(in.result).held) != ir::size_of(value(v).held);
  }

  void classify() {
    code_.source_of.resize(code_.values.size());
    for (std::size_t v = 0, source = 0; v < code_.values.size(); ++v) {
      const auto& value = code_.values[v];
      if (value.extent == Extent::total) continue;
      const bool is_read = value.read >= 0, is_written = value.result >= 0 && value.held == value.stored;
      if (is_read) code_.source_of[v] = source++;
      if ((is_read && value.extent != Extent::uniform) || is_written || value.stored_in_result >= 0)
        code_.moving.push_back(v);
      if (value.result >= 0 && !is_written) code_.narrowed.push_back(v);
    }
  }

  TileCode& code_;
  const std::size_t reads_, results_;
};

}  // namespace

void place(TileCode& code, std::size_t reads, std::size_t results) { Placer(code, reads, results).run(); }

}  // namespace burn::backends::cpu
