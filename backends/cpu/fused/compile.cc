#include <algorithm>
#include <unordered_map>

#include "backends/cpu/fused/tile_code.h"
#include "backends/cpu/isa/isa.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/vector/stream.h"
#include "ir/random_box.h"

namespace burn::backends::cpu {
namespace {

using Kind = TileInstruction::Kind;

// Of scratch and results. A good part of the first-level cache stays free, for what the processor fetches ahead while
// a tile is computed: larger tiles make memory and arithmetic take turns. With wider vectors the calls are what counts.
constexpr std::int64_t kTileBytes = 6 * 1024, kWideTileBytes = 16 * 1024;
// Long rows: several, so that what is computed once for each of them (a mean, a logarithm) is computed side by side,
// and no row waits for its number.
constexpr std::int64_t kRowTileBytes = 48 * 1024, kMostLongRows = 16;
constexpr std::int64_t kSmallestTile = 256, kLargestTile = 4096;  // elements

bool is_costly(ir::PointwiseFn fn) {
  return ir::row(fn).kind == ir::PointwiseClass::floating && fn != ir::PointwiseFn::recip &&
         fn != ir::PointwiseFn::sqrt;
}

class Compiler {
 public:
  Compiler(const ir::Program& program, const codegen::Group& group, const PlanStep& step)
      : program_(program), group_(group), step_(step) {
    code_.domain = group.domain;
    code_.elements = ir::num_elements(group.domain);
    const auto is_of_rows = [](const codegen::Member& m) { return m.level == codegen::Level::row; };
    if (std::ranges::any_of(group.members, is_of_rows)) code_.row_size = group.row_size;
  }

  Result<TileCode> run() {
    declare_values();
    for (const auto& member : group_.members) BURN_RETURN_IF_ERROR(translate(member));
    improve(code_, program_);
    code_.is_large = static_cast<std::size_t>(code_.elements * array_bytes()) > streamed_from_bytes();
    if (code_.is_large) choose_who_streams();
    find_overwrites();
    place_in_results();
    place_in_scratch();
    choose_tile();
    classify();
    choose_parts();
    return std::move(code_);
  }

 private:
  const ir::Node& node(std::int32_t n) const { return program_.nodes[static_cast<std::size_t>(n)]; }
  ir::Ref value_of(std::int32_t n) const { return ir::Ref::value(static_cast<std::int32_t>(node(n).first_value)); }
  TileValue& value(std::int32_t v) { return code_.values[static_cast<std::size_t>(v)]; }

  void declare_values() {
    for (std::size_t r = 0; r < step_.reads.size(); ++r) {
      const auto ref = step_.reads[r];
      const auto& type = program_.type_of(ref);
      auto extent = Extent::uniform;
      if (type.shape == code_.domain)
        extent = Extent::full;
      else if (type.shape.rank() > 0)
        extent = Extent::row;
      declare(ref, {.stored = type.dtype,
                    .held = compute_dtype(type.dtype),
                    .extent = extent,
                    .read = static_cast<std::int32_t>(r)});
    }
    for (const auto& [n, level] : group_.members) {
      const auto dtype = program_.type_of(node(n)).dtype;
      const auto result = std::ranges::find(step_.results, value_of(n));
      const bool is_view =
          std::holds_alternative<ir::Expand>(node(n).op);  // its value, if needed, is a step of its own
      declare(value_of(n), {.stored = dtype,
                            .held = compute_dtype(dtype),
                            .extent = extent_of(level),
                            .result = result == step_.results.end() || is_view
                                          ? -1
                                          : static_cast<std::int32_t>(result - step_.results.begin())});
    }
  }

  static Extent extent_of(codegen::Level level) {
    if (level == codegen::Level::full) return Extent::full;
    return level == codegen::Level::row ? Extent::row : Extent::total;
  }

  void declare(ir::Ref ref, const TileValue& value) {
    index_[ref.code()] = static_cast<std::int32_t>(code_.values.size());
    code_.values.push_back(value);
  }

  std::int32_t add_value(ir::DType dtype, Extent extent) {
    code_.values.push_back({.stored = dtype, .held = dtype, .extent = extent});
    return static_cast<std::int32_t>(code_.values.size() - 1);
  }

  void emit(TileInstruction instruction) { code_.instructions.push_back(instruction); }

  Status translate(const codegen::Member& member) {
    const auto& op = node(member.node).op;
    const auto& type = program_.type_of(node(member.node));
    const auto count = node(member.node).operand_count;
    TileInstruction in{.arity = static_cast<std::uint8_t>(count), .node = member.node};
    const auto refs = program_.operands_of(node(member.node));
    for (std::size_t k = 0; k < refs.size(); ++k) in.operands[k] = index_.at(refs[k].code());
    in.result = index_.at(value_of(member.node).code());
    const auto from = refs.empty() ? ir::DType::f32 : value(in.operands[0]).held;

    if (const auto* random = std::get_if<ir::Random>(&op)) {
      in.kind = Kind::random;
      in.random_fn = random->fn;
      in.random_offset = static_cast<std::uint64_t>(random->offset);
      in.random_begin = *ir::first_position(*random);
      cost_ += 16;
    } else if (const auto* pointwise = std::get_if<ir::Pointwise>(&op)) {
      const auto& row = ir::row(pointwise->fn);
      in.loop = pointwise_loop(pointwise->fn, loop_dtype(row.kind, value(in.operands[count - 1]).held));
      if (!in.loop)
        return unimplemented(std::string(row.name) + ": the cpu backend has no loop for " +
                             std::string(ir::name(from)));
      if (type.dtype == ir::DType::f32 && count == 2) in.chain = {.steps = 1, .fns = {pointwise->fn}};
      if (type.dtype == ir::DType::f32 && count == 1) in.chain = {.function = pointwise->fn};
      if (member.level == codegen::Level::full) cost_ += is_costly(pointwise->fn) ? 16 : 1;
    } else if (std::holds_alternative<ir::Cast>(op)) {
      in.kind = Kind::convert;
      in.cast = cast_loop(from, value(in.result).held);
      if (member.level == codegen::Level::full) cost_ += 1;
    } else if (const auto* sum = std::get_if<ir::Reduce>(&op); sum && value(in.result).extent == Extent::total) {
      in.kind = Kind::sum;
      in.reduce = reduce_loops(sum->fn, from);
      value(in.operands[0]).wants_all = true;
      add_sum(in, member.level == codegen::Level::column ? group_.row_size : 1);
      cost_ += 1;
    } else if (const auto* reduce = std::get_if<ir::Reduce>(&op)) {
      in.kind = Kind::reduce;
      in.reduce = reduce_loops(reduce->fn, from);
      if (reduce->fn == ir::ReduceFn::sum && type.dtype == ir::DType::f32) in.dot = dot_loop();
      value(in.operands[0]).wants_all = true;
      cost_ += 1;
    } else if (std::holds_alternative<ir::Expand>(op)) {
      in.kind = Kind::repeat;
    } else {
      in.kind = Kind::pick;
      value(in.operands[0]).wants_all = true;
      const auto index = add_value(ir::DType::i64, Extent::row);
      value(index).read = value(in.operands[1]).read;
      value(index).index_size = code_.row_size;
      in.operands[1] = index;
    }
    emit(in);
    const bool computes = in.kind == Kind::pointwise || in.kind == Kind::convert || in.kind == Kind::reduce;
    if (computes && value(in.result).held != value(in.result).stored) {
      const auto stored = value(in.result).stored;
      emit({.kind = Kind::round,
            .arity = 2,
            .operands = {in.result, add_value(stored, value(in.result).extent)},
            .result = in.result,
            .node = member.node,
            .cast = cast_loop(ir::DType::f32, stored),
            .back = cast_loop(stored, ir::DType::f32)});
    }
    return {};
  }

  void add_sum(TileInstruction& in, std::int64_t numbers) {
    in.sum = static_cast<std::int32_t>(code_.sums.size());
    code_.sums.push_back({.value = in.result,
                          .numbers = numbers,
                          .offset = code_.total_bytes,
                          .source_size = ir::size_of(value(in.operands[0]).held),
                          .loops = in.reduce});
    constexpr std::int64_t kLine = 64;  // threads do not write to one another's
    code_.total_bytes += (numbers * static_cast<std::int64_t>(in.reduce.total_size) + kLine - 1) / kLine * kLine;
  }

  // As many as keep threads busy, few enough to merge at the end for next to nothing.
  void choose_parts() {
    constexpr std::int64_t kMostParts = 64;
    const auto worth = code_.elements * code_.cost / (2 * kGrain);
    code_.parts = std::min(std::clamp<std::int64_t>(worth, 1, kMostParts), code_.tiles());
  }

  // In arrays, per element of the domain.
  std::int64_t array_bytes() const {
    std::int64_t bytes = 0;
    for (const auto& v : code_.values) {
      if ((v.read >= 0 || v.result >= 0) && v.extent == Extent::full)
        bytes += static_cast<std::int64_t>(ir::size_of(v.stored));
    }
    return bytes;
  }

  // A value that is written straight to its array needs no scratch; nor does a row's number in a tile of one row.
  bool needs_scratch(const TileValue& v) const {
    if (v.extent == Extent::uniform || v.extent == Extent::total || v.lies_in >= 0) return false;
    if (v.read >= 0) return v.extent == Extent::full;  // used if the array does not lie well, which the run knows
    return v.result < 0 || v.held != v.stored || (code_.is_large && v.extent == Extent::full && !v.streams_itself);
  }

  // A result that nobody in the group reads again need not pass through scratch, if its loop can write past the caches.
  void choose_who_streams() {
    for (const auto& in : code_.instructions) {
      auto& result = value(in.result);
      result.streams_itself = in.streaming_loop && result.result >= 0 && result.held == result.stored &&
                              std::ranges::none_of(code_.instructions, [&](const TileInstruction& reader) {
                                return std::find(reader.operands, reader.operands + reader.arity, in.result) !=
                                       reader.operands + reader.arity;
                              });
    }
  }

  // A value that is last read where a result is computed of it, element by element, may be in the result's place until
  // then: what is written there anyway is fetched while there is something else to do, and the cache has less to hold.
  void place_in_results() {
    if (code_.is_large) return;  // results go past the caches
    const auto& all = code_.instructions;
    std::vector<std::int32_t> written(code_.values.size(), -1), last(code_.values.size(), -1);
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (int k = 0; k < all[i].arity; ++k)
        last[static_cast<std::size_t>(all[i].operands[k])] = static_cast<std::int32_t>(i);
      const bool is_by_element = all[i].kind == Kind::pointwise || all[i].kind == Kind::row_sum;
      const auto out = all[i].kind == Kind::row_sum ? all[i].stored : all[i].result;
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
        operand.lies_in = in.result;
        break;
      }
    }
  }

  // Linear scan: what is read for the last time makes room for what comes.
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
    }
    // Values that a result is copied from at the end of the tile, and repeats that only point to their number, last.
    const auto end = static_cast<std::int32_t>(code_.instructions.size());
    for (std::size_t v = 0; v < count; ++v) {
      if (code_.values[v].result >= 0) last[v] = end;
    }

    struct Block {
      std::int64_t offset, size;
      std::int32_t free_from;
    };
    std::vector<Block> blocks;
    for (std::int32_t at = 0; at <= end; ++at) {
      for (std::size_t v = 0; v < count; ++v) {
        auto& val = code_.values[v];
        if (first[v] != at || !needs_scratch(val)) continue;
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
        // In the instruction that reads it last, its place may already take the result; loops allow that.
        block->free_from = std::max(last[v], at + 1);
        if (is_read_beside(static_cast<std::int32_t>(v), last[v])) block->free_from = last[v] + 1;
      }
    }
  }

  // Whether the last instruction that reads v may not write over it: all but pointwise loops of one element size.
  bool is_read_beside(std::int32_t v, std::int32_t at) {
    if (at >= static_cast<std::int32_t>(code_.instructions.size())) return true;
    const auto& in = code_.instructions[static_cast<std::size_t>(at)];
    return in.kind != Kind::pointwise || ir::size_of(value(in.result).held) != ir::size_of(value(v).held);
  }

  void choose_tile() {
    code_.cost = std::max<std::int64_t>(1, cost_ / 2);
    auto bytes = code_.full_bytes;  // per element
    std::int64_t read_bytes = 0, most_read = 0;
    for (const auto& v : code_.values) {
      const auto size = static_cast<std::int64_t>(ir::size_of(v.stored));
      if (v.result >= 0 && v.extent == Extent::full) bytes += size;
      if (v.scratch >= 0 && v.read >= 0) read_bytes += static_cast<std::int64_t>(ir::size_of(v.held));
      if (v.read >= 0 && v.extent == Extent::full) most_read = std::max(most_read, size);
    }
    if (code_.has_long_rows()) {
      // Reads are where they are, and all but one of them often the same for all rows.
      bytes = std::max<std::int64_t>(bytes - read_bytes, 0) + most_read;
      const auto enough = code_.elements / code_.row_size / (4 * thread_count());  // for every thread to have some
      const auto rows = std::min(kRowTileBytes / std::max<std::int64_t>(bytes * code_.row_size, 1), enough);
      code_.tile = std::clamp<std::int64_t>(rows, 1, kMostLongRows) * code_.row_size;
      return;
    }
    // Sums over tiles are the same on every machine.
    const auto room = runs_v4() && code_.sums.empty() ? kWideTileBytes : kTileBytes;
    code_.tile = std::clamp(room / std::max<std::int64_t>(bytes, 1), kSmallestTile, kLargestTile) / 64 * 64;
    if (code_.has_rows()) code_.tile = std::max<std::int64_t>(1, code_.tile / code_.row_size) * code_.row_size;
  }

  // A result may take the place of a read whose every element was read before, in this tile, when it is written.
  void find_overwrites() {
    code_.overwrites.assign(step_.results.size(), -1);
    std::vector<std::int32_t> last_read(code_.values.size(), -1), written(code_.values.size(), -1);
    for (std::size_t i = 0; i < code_.instructions.size(); ++i) {
      const auto& in = code_.instructions[i];
      for (int k = 0; k < in.arity; ++k)
        last_read[static_cast<std::size_t>(in.operands[k])] = static_cast<std::int32_t>(i);
      for (const auto v : {in.result, in.stored}) {
        if (v >= 0 && written[static_cast<std::size_t>(v)] < 0)
          written[static_cast<std::size_t>(v)] = static_cast<std::int32_t>(i);
      }
    }
    std::vector<bool> taken(code_.values.size());
    for (std::size_t v = 0; v < code_.values.size(); ++v) {
      const auto& out = code_.values[v];
      if (out.result < 0 || out.extent != Extent::full) continue;
      for (std::size_t r = 0; r < step_.reads.size(); ++r) {
        const auto& in = code_.values[r];
        const bool fits = in.extent == Extent::full && ir::size_of(in.stored) == ir::size_of(out.stored);
        if (!fits || taken[r] || last_read[r] > written[v]) continue;
        // The instruction that reads it last writes the result itself, element by element, or comes after.
        if (last_read[r] == written[v] &&
            code_.instructions[static_cast<std::size_t>(written[v])].kind != Kind::pointwise)
          continue;
        code_.overwrites[static_cast<std::size_t>(out.result)] = static_cast<std::int32_t>(r);
        taken[r] = true;
        break;
      }
    }
  }

  void classify() {
    code_.source_of.resize(code_.values.size());
    for (std::size_t v = 0, source = 0; v < code_.values.size(); ++v) {
      const auto& value = code_.values[v];
      if (value.extent == Extent::total) continue;
      const bool is_read = value.read >= 0, is_written = value.result >= 0 && value.held == value.stored;
      if (is_read) code_.source_of[v] = source++;
      if ((is_read && value.extent != Extent::uniform) || is_written || value.lies_in >= 0) code_.moving.push_back(v);
      if (value.result >= 0 && !is_written) code_.narrowed.push_back(v);
    }
  }

  const ir::Program& program_;
  const codegen::Group& group_;
  const PlanStep& step_;
  TileCode code_;
  std::unordered_map<std::int32_t, std::int32_t> index_;  // from a ref's code to a value
  std::int64_t cost_ = 0;
};

}  // namespace

Result<TileCode> compile_group(const ir::Program& program, const codegen::Group& group, const PlanStep& step) {
  return Compiler(program, group, step).run();
}

}  // namespace burn::backends::cpu
