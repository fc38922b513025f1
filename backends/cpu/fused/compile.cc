#include <algorithm>

#include "backends/cpu/fused/tile_code.h"
#include "backends/cpu/simd/stream.h"
#include "compile/plan/guards.h"
#include "ir/random_box.h"

namespace burn::backends::cpu {
namespace {

using Kind = TileInstruction::Kind;

bool is_costly(ir::PointwiseFn fn) {
  return ir::row(fn).kind == ir::PointwiseClass::floating && fn != ir::PointwiseFn::recip &&
         fn != ir::PointwiseFn::sqrt;
}

class Compiler {
 public:
  Compiler(const ir::Program& program, const compile::Group& group, const compile::PlanStep& step,
           GroupPositions& positions)
      : program_(program), group_(group), step_(step), positions_(positions) {
    code_.domain = group.domain;
    code_.elements = ir::num_elements(group.domain);
    const auto is_of_rows = [](const compile::Member& m) { return m.level == compile::Level::row; };
    if (std::ranges::any_of(group.members, is_of_rows)) code_.row_size = group.row_size;
  }

  Result<TileCode> run() {
    declare_values();
    for (const auto& member : group_.members) {
      if (!takes_committed(member.node)) BURN_RETURN_IF_ERROR(translate(member));
    }
    improve(code_, program_);
    code_.is_large = static_cast<std::size_t>(code_.elements * array_bytes()) > streamed_from_bytes();
    if (code_.is_large) choose_streamed_results();
    place(code_, step_.reads.size(), step_.results.size());
    code_.cost = std::max<std::int64_t>(1, cost_ / 2);
    choose_tile(code_);
    number_members();
    return std::move(code_);
  }

 private:
  const ir::Node& node(std::int32_t n) const { return program_.nodes[static_cast<std::size_t>(n)]; }
  ir::Ref value_of(std::int32_t n) const { return ir::Ref::value(static_cast<std::int32_t>(node(n).first_value)); }
  TileValue& value(std::int32_t v) { return code_.values[static_cast<std::size_t>(v)]; }

  // The position of a value in the group is its index in code_.values.
  void declare_values() {
    code_.values.reserve(step_.reads.size() + group_.members.size());
    code_.instructions.reserve(group_.members.size());
    for (std::size_t r = 0; r < step_.reads.size(); ++r) {
      const auto ref = step_.reads[r];
      const auto& type = program_.type_of(ref);
      auto extent = Extent::uniform;
      if (type.shape == code_.domain)
        extent = Extent::full;
      else if (type.shape.rank() > 0)
        extent = Extent::row;
      code_.values.push_back({.stored = type.dtype,
                              .held = compute_dtype(type.dtype),
                              .extent = extent,
                              .read = static_cast<std::int32_t>(r)});
    }
    for (const auto& [n, level] : group_.members) {
      const auto dtype = program_.type_of(node(n)).dtype;
      const auto result = std::ranges::find(step_.results, value_of(n));
      const bool is_view =
          std::holds_alternative<ir::Expand>(node(n).op);  // its value, if needed, is a step of its own
      code_.values.push_back({.stored = dtype,
                              .held = compute_dtype(dtype),
                              .extent = extent_of(level),
                              .result = result == step_.results.end() || is_view
                                            ? -1
                                            : static_cast<std::int32_t>(result - step_.results.begin())});
    }
  }

  static Extent extent_of(compile::Level level) {
    if (level == compile::Level::full) return Extent::full;
    return level == compile::Level::row ? Extent::row : Extent::total;
  }

  std::int32_t add_value(ir::DType dtype, Extent extent) {
    code_.values.push_back({.stored = dtype, .held = dtype, .extent = extent});
    return static_cast<std::int32_t>(code_.values.size() - 1);
  }

  void emit(TileInstruction instruction) { code_.instructions.push_back(instruction); }

  // select(commit, x, old) equals x whenever the group is run as a whole: after a Commit that came out false, the
  // execution runs the members one by one (execution_groups.cc). So the select costs nothing if x is computed here for
  // it alone and `old` is read for x anyway.
  bool takes_committed(std::int32_t n) {
    if (!compile::is_select(node(n))) return false;
    const auto refs = program_.operands_of(node(n));
    if (refs[0].is_input() || !compile::is_commit(program_.maker_of(refs[0]))) return false;
    auto& own = value(positions_.of(value_of(n)));
    auto& x = value(positions_.of(refs[1]));
    const auto reads_old = [&](const compile::Member& member) {
      const auto operands = program_.operands_of(node(member.node));
      return !compile::is_select(node(member.node)) && std::ranges::find(operands, refs[2]) != operands.end();
    };
    if (x.read >= 0 || x.result >= 0 || x.extent != own.extent || std::ranges::none_of(group_.members, reads_old))
      return false;
    x.result = std::exchange(own.result, -1);
    positions_.set(value_of(n), positions_.of(refs[1]));
    return true;
  }

  Status translate(const compile::Member& member) {
    const auto count = node(member.node).operand_count;
    TileInstruction in{.arity = static_cast<std::uint8_t>(count), .node = member.node};
    const auto refs = program_.operands_of(node(member.node));
    for (std::size_t k = 0; k < refs.size(); ++k) in.operands[k] = positions_.of(refs[k]);
    in.result = positions_.of(value_of(member.node));
    BURN_RETURN_IF_ERROR(choose_loop(member, in));
    emit(in);
    const bool computes = in.kind == Kind::pointwise || in.kind == Kind::convert || in.kind == Kind::reduce;
    if (computes && value(in.result).held != value(in.result).stored) emit_rounding(in);
    return {};
  }

  // Chooses how the member is computed, and adds its cost. Requires: `in` has its operands and its result.
  Status choose_loop(const compile::Member& member, TileInstruction& in) {
    const auto& op = node(member.node).op;
    const auto& type = program_.type_of(node(member.node));
    const auto count = in.arity;
    const auto from = count == 0 ? ir::DType::f32 : value(in.operands[0]).held;
    if (const auto* random = std::get_if<ir::Random>(&op)) {
      in.kind = Kind::random;
      in.random_fn = random->fn;
      in.random_offset = static_cast<std::uint64_t>(random->offset);
      in.random_begin = ir::first_position(*random).value_or(0);  // groups contain no others
      cost_ += 16;
    } else if (const auto* pointwise = std::get_if<ir::Pointwise>(&op)) {
      const auto& row = ir::row(pointwise->fn);
      in.loop = pointwise_loop(pointwise->fn, loop_dtype(row.kind, value(in.operands[count - 1]).held));
      if (!in.loop)
        return unimplemented(std::string(row.name) + ": the cpu backend has no loop for " +
                             std::string(ir::name(from)));
      if (type.dtype == ir::DType::f32 && count == 2) in.chain = {.steps = 1, .fns = {pointwise->fn}};
      if (type.dtype == ir::DType::f32 && count == 1) in.chain = {.function = pointwise->fn};
      if (member.level == compile::Level::full) cost_ += is_costly(pointwise->fn) ? 16 : 1;
    } else if (std::holds_alternative<ir::Cast>(op)) {
      in.kind = Kind::convert;
      in.cast = cast_loop(from, value(in.result).held);
      if (member.level == compile::Level::full) cost_ += 1;
    } else if (const auto* sum = std::get_if<ir::Reduce>(&op); sum && value(in.result).extent == Extent::total) {
      in.kind = Kind::sum;
      in.reduce = reduce_loops(sum->fn, from);
      value(in.operands[0]).needs_dense = true;
      add_sum(in, member.level == compile::Level::column ? group_.row_size : 1);
      cost_ += 1;
    } else if (const auto* reduce = std::get_if<ir::Reduce>(&op)) {
      in.kind = Kind::reduce;
      in.reduce = reduce_loops(reduce->fn, from, value(in.result).held);
      if (reduce->fn == ir::ReduceFn::sum && type.dtype == ir::DType::f32) in.dot = dot_loop();
      value(in.operands[0]).needs_dense = true;
      cost_ += 1;
    } else if (std::holds_alternative<ir::Expand>(op)) {
      in.kind = Kind::repeat;
    } else {
      in.kind = Kind::pick;
      value(in.operands[0]).needs_dense = true;
      const auto index = add_value(ir::DType::i64, Extent::row);
      value(index).read = value(in.operands[1]).read;
      value(index).index_size = code_.row_size;
      in.operands[1] = index;
    }
    return {};
  }

  // Converts the result to its stored type and back.
  void emit_rounding(const TileInstruction& in) {
    const auto stored = value(in.result).stored;
    emit({.kind = Kind::round,
          .arity = 2,
          .operands = {in.result, add_value(stored, value(in.result).extent)},
          .result = in.result,
          .node = in.node,
          .cast = cast_loop(ir::DType::f32, stored),
          .back = cast_loop(stored, ir::DType::f32)});
  }

  void add_sum(TileInstruction& in, std::int64_t numbers) {
    in.sum = static_cast<std::int32_t>(code_.sums.size());
    code_.sums.push_back({.value = in.result,
                          .numbers = numbers,
                          .offset = code_.total_bytes,
                          .source_size = ir::size_of(value(in.operands[0]).held),
                          .loops = in.reduce});
    constexpr std::int64_t kLine = 64;  // threads do not write to the same line
    code_.total_bytes += (numbers * static_cast<std::int64_t>(in.reduce.total_size) + kLine - 1) / kLine * kLine;
  }

  void number_members() {
    for (auto& in : code_.instructions) {
      const auto at = std::ranges::lower_bound(group_.members, in.node, {}, &compile::Member::node);
      in.node = static_cast<std::int32_t>(at - group_.members.begin());
    }
  }

  // Bytes in arrays, per element of the domain.
  std::int64_t array_bytes() const {
    std::int64_t bytes = 0;
    for (const auto& v : code_.values) {
      if ((v.read >= 0 || v.result >= 0) && v.extent == Extent::full)
        bytes += static_cast<std::int64_t>(ir::size_of(v.stored));
    }
    return bytes;
  }

  // A result that no instruction of the group reads again need not pass through scratch, if its loop can write past the
  // caches.
  void choose_streamed_results() {
    for (const auto& in : code_.instructions) {
      auto& result = value(in.result);
      result.streamed_by_loop = in.streaming_loop && result.result >= 0 && result.held == result.stored &&
                                std::ranges::none_of(code_.instructions, [&](const TileInstruction& reader) {
                                  return std::find(reader.operands, reader.operands + reader.arity, in.result) !=
                                         reader.operands + reader.arity;
                                });
    }
  }

  const ir::Program& program_;
  const compile::Group& group_;
  const compile::PlanStep& step_;
  GroupPositions& positions_;
  TileCode code_;
  std::int64_t cost_ = 0;
};

}  // namespace

Result<TileCode> compile_group(const ir::Program& program, const compile::Group& group, const compile::PlanStep& step,
                               GroupPositions& positions) {
  return Compiler(program, group, step, positions).run();
}

}  // namespace burn::backends::cpu
