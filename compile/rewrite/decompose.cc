#include "compile/rewrite/decompose.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "base/small_array.h"
#include "compile/rewrite/decompose_rules.h"

namespace burn::compile {
namespace {

using ir::PointwiseFn;
using ir::Ref;

Status supported(const ir::Program& program, const Supports& supports, const ir::Node& node) {
  const auto operands = program.operands_of(node);
  SmallArray<const ir::TensorType*, 8> types(operands.size());  // asked of every node of every program: no allocation
  for (std::size_t k = 0; k < operands.size(); ++k) types[k] = &program.type_of(operands[k]);
  return supports(node.op, types.span());
}

}  // namespace

// --- writing ---------------------------------------------------------------------------------------------------------

std::vector<Ref> Composer::add_all(const ir::Op& op, std::span<const Ref> operands) {
  const auto count = static_cast<std::size_t>(ir::result_count(op));
  if (!status_.ok()) return std::vector<Ref>(count);
  std::vector<const ir::TensorType*> types;
  types.reserve(operands.size());
  for (const auto ref : operands) types.push_back(&builder_.type_of(ref));
  if (auto supported = supports_(op, types); !supported.ok()) {
    const std::vector<Ref> kept(operands.begin(), operands.end());
    auto made = std::visit([&](const auto& kind) { return decomposition::compose(*this, kind, kept); }, op);
    if (!made.empty()) return made;
    const auto site = to_string(site_);
    status_ = {supported.code(),
               site.empty() ? supported.message() : fmt::format("{} (at {})", supported.message(), site)};
    return std::vector<Ref>(count);
  }
  const auto first = builder_.add(op, operands, site_, recompute_);
  if (!first.ok()) {
    status_ = first.status();
    return std::vector<Ref>(count);
  }
  std::vector<Ref> results;
  for (std::size_t k = 0; k < count; ++k) results.push_back(first->result(static_cast<int>(k)));
  return results;
}

Ref Composer::number(ir::DType dtype, double value) { return add(ir::Constant{.dtype = dtype, .real = value}, {}); }

Ref Composer::integer(std::int64_t value) { return add(ir::Constant{.dtype = ir::DType::i64, .number = value}, {}); }

ir::DType Composer::widest_float() const {
  const ir::TensorType wide{ir::DType::f64, {}};
  const std::array<const ir::TensorType*, 2> types{&wide, &wide};
  return supports_(ir::Pointwise{PointwiseFn::mul}, types).ok() ? ir::DType::f64 : ir::DType::f32;
}

Ref Composer::filled(ir::DType dtype, double value, const ir::Shape& shape) {
  return add(ir::Expand{shape}, {number(dtype, value)});
}

// --- the pass --------------------------------------------------------------------------------------------------------

Result<std::shared_ptr<const ir::Program>> decompose(std::shared_ptr<const ir::Program> program,
                                                     const Supports& supports) {
  std::vector<bool> is_lacking(program->nodes.size());
  for (std::size_t n = 0; n < program->nodes.size(); ++n)
    is_lacking[n] = !supported(*program, supports, program->nodes[n]).ok();
  if (std::ranges::find(is_lacking, true) == is_lacking.end()) return program;

  Composer to(supports);
  for (const auto& input : program->inputs) {
    const auto ref = to.builder().add_input(input.type);
    if (input.donated) to.builder().donate(ref.index());
  }
  std::vector<Ref> values;
  values.reserve(program->values.size());
  const auto here = [&](Ref ref) { return ref.is_input() ? ref : values[static_cast<std::size_t>(ref.index())]; };
  std::vector<Ref> operands;
  for (std::size_t n = 0; n < program->nodes.size(); ++n) {
    const auto& node = program->nodes[n];
    operands.clear();
    for (const auto ref : program->operands_of(node)) operands.push_back(here(ref));
    if (!is_lacking[n]) {  // nearly all of them: asked about once, and copied
      BURN_TRY(const auto first, to.builder().add(node.op, operands, node.site, node.recompute));
      for (std::uint32_t k = 0; k < node.value_count; ++k) values.push_back(first.result(static_cast<int>(k)));
      continue;
    }
    to.set_origin(node.site, node.recompute);
    std::ranges::copy(to.add_all(node.op, operands), std::back_inserter(values));
    BURN_RETURN_IF_ERROR(to.status());
  }
  std::vector<Ref> outputs;
  for (const auto ref : program->outputs) outputs.push_back(here(ref));
  BURN_RETURN_IF_ERROR(to.builder().check_outputs(outputs));
  auto made = std::make_shared<ir::Program>(to.builder().finish(std::move(outputs)));
  made->site_files = std::move(program);  // whose call sites are named
  return std::shared_ptr<const ir::Program>(std::move(made));
}

// --- functions -------------------------------------------------------------------------------------------------------

namespace decomposition {

Results compose(Composer& to, const ir::Pointwise& op, Operands in) {
  const auto dtype = to.type_of(in[0]).dtype;
  switch (op.fn) {
    case PointwiseFn::recip:
      return {to.add(PointwiseFn::div, {to.number(dtype, 1), in[0]})};
    case PointwiseFn::sigmoid: {  // in one precision, rounded once
      const auto c = ir::compute_dtype(dtype);
      const auto one = to.number(c, 1);
      const auto e = to.add(PointwiseFn::exp, {to.add(PointwiseFn::neg, {to.cast(in[0], dtype, c)})});
      return {to.cast(to.add(PointwiseFn::div, {one, to.add(PointwiseFn::add, {one, e})}), c, dtype)};
    }
    case PointwiseFn::sub:
      return {to.add(PointwiseFn::add, {in[0], to.add(PointwiseFn::neg, {in[1]})})};
    case PointwiseFn::is_nan:
      return {to.add(PointwiseFn::not_equal, {in[0], in[0]})};
    case PointwiseFn::not_equal:
      return {to.add(PointwiseFn::bool_not, {to.add(PointwiseFn::equal, {in[0], in[1]})})};
    case PointwiseFn::greater:
      return {to.add(PointwiseFn::lower, {in[1], in[0]})};
    case PointwiseFn::greater_equal:
      return {to.add(PointwiseFn::lower_equal, {in[1], in[0]})};
    default:
      return {};
  }
}

// Of a device that does not know in time what failed: what is computed from a failure fails, as ever.
Results compose(Composer& to, const ir::Commit&, Operands) {
  return {to.add(ir::Constant{.dtype = ir::DType::bool_, .number = 1}, {})};
}

}  // namespace decomposition
}  // namespace burn::compile
