#include "compile/codegen/print.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "compile/codegen/accuracy.h"
#include "compile/codegen/dialects/cuda_cpp.h"
#include "ir/random_box.h"

namespace burn::compile {

namespace {

constexpr std::string_view kCoarse = "coarse_";  // before the names of such functions

}  // namespace

GroupPrinter::GroupPrinter(const GroupPlan& plan) : plan_(plan) {}

std::string GroupPrinter::name(ir::Ref ref) const {
  if (const auto* member = plan_.member(ref)) return fmt::format("v{}", member - plan_.group().members.data());
  return fmt::format("x{}", plan_.read(ref) - plan_.reads().data());
}

std::string GroupPrinter::statement(const Member& member, const std::string& position, bool coarse) {
  const auto& node = plan_.node(member);
  const auto operands = plan_.program().operands_of(node);
  const auto dtype = plan_.program().type_of(node).dtype;
  const auto index = static_cast<int>(&member - plan_.group().members.data());
  std::string value;
  if (const auto* pointwise = std::get_if<ir::Pointwise>(&node.op)) {
    const auto& row = ir::row(pointwise->fn);
    const auto& typed = operands[row.kind == ir::PointwiseClass::choose ? 1 : 0];
    std::string arguments;
    for (const auto ref : operands) arguments += (arguments.empty() ? "" : ", ") + name(ref);
    const auto computed = ir::compute_dtype(plan_.program().type_of(typed).dtype);
    const auto function =
        coarse && computed == ir::DType::f32 ? coarse_function(plan_, member, pointwise->fn) : std::nullopt;
    if (pointwise->fn == ir::PointwiseFn::div && computed == ir::DType::f32 && !function &&
        divisors_.contains(name(unexpanded(operands[1])))) {
      value = cuda_cpp::divide(name(unexpanded(operands[1])), name(operands[0]));
    } else if (function) {
      is_coarse_ = true;
      value = cuda_cpp::call_coarse(std::string_view(name_of(*function)).substr(kCoarse.size()), arguments);
    } else {
      functions_.insert(pointwise->fn);
      value = cuda_cpp::call(pointwise->fn, compute_type(computed), arguments);
    }
  } else if (std::holds_alternative<ir::Cast>(node.op)) {
    value = cuda_cpp::converted(compute_type(dtype), name(operands[0]));
  } else if (const auto* random_op = std::get_if<ir::Random>(&node.op)) {
    value = random(*random_op, position, index);
  } else {
    value = name(operands[0]);  // an expand: the row's number for each of its elements
  }
  if (ir::compute_dtype(dtype) != dtype && is_read(plan_.value_of(member)))
    value = cuda_cpp::rounded(storage_type(dtype), value);
  return fmt::format("const {} v{} = {};\n", compute_type(dtype), index, value);
}

bool GroupPrinter::is_read(ir::Ref value) const {
  return std::ranges::any_of(plan_.group().members, [&](const Member& reader) {
    const auto operands = plan_.program().operands_of(plan_.node(reader));
    return std::ranges::find(operands, value) != operands.end();
  });
}

ir::Ref GroupPrinter::unexpanded(ir::Ref ref) const {
  const auto* member = plan_.member(ref);
  const bool repeats = member && std::holds_alternative<ir::Expand>(plan_.node(*member).op);
  return repeats ? plan_.program().operands_of(plan_.node(*member))[0] : ref;
}

std::string GroupPrinter::divisor(ir::Ref ref, bool is_of_row) {
  if ((!is_of_row && plan_.is_full(ref)) || ir::compute_dtype(plan_.program().type_of(ref).dtype) != ir::DType::f32)
    return "";
  const bool is_one = std::ranges::any_of(plan_.group().members, [&](const Member& member) {
    const auto* function = std::get_if<ir::Pointwise>(&plan_.node(member).op);
    return member.level == Level::full && function && function->fn == ir::PointwiseFn::div &&
           unexpanded(plan_.program().operands_of(plan_.node(member))[1]) == ref;
  });
  if (!is_one || !divisors_.insert(name(ref)).second) return "";
  return cuda_cpp::declare_divisor(name(ref));
}

std::string GroupPrinter::random(const ir::Random& op, const std::string& position, int index) {
  const auto from = bindings();
  const std::int64_t first = ir::first_position(op).value_or(0);
  const auto block = parameter("std::int64_t", fmt::format("block{}", index), Argument(op.offset + first / 4));
  const auto at = first % 4 == 0 ? position : fmt::format("{} + {}", position, first % 4);
  return cuda_cpp::random_at(op.fn, compute_type(op.dtype), from, block, at);
}

std::string GroupPrinter::parameter(const std::string& type, const std::string& name, Argument argument) {
  // A formula that is printed for several passes asks again.
  if (std::ranges::find(parameters_, name, &BlockKernel::Parameter::name) != parameters_.end()) return name;
  parameters_.push_back({type, name});
  arguments_.push_back(std::move(argument));
  return name;
}

std::string GroupPrinter::parameters() const {
  std::string list;
  for (const auto& [type, name] : parameters_) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", type, name);
  return list;
}

std::string GroupPrinter::bindings() {
  if (!has_bindings_) {
    has_bindings_ = true;
    parameter("const std::uint64_t*", "bindings", Address{.base = Address::Base::bindings});
  }
  return "bindings";
}

std::string GroupPrinter::functions() const {
  return cuda_cpp::group_opening(is_coarse_, !divisors_.empty(), functions_);
}

std::string stored_read(const GroupPrinter& printer, std::size_t k, const std::string& element) {
  const auto dtype = printer.plan().program().type_of(printer.plan().reads()[k].ref).dtype;
  return fmt::format("const {} x{} = {};\n", compute_type(dtype), k,
                     cuda_cpp::to_compute(storage_type(dtype), element));
}

std::string counted_read(const GroupPrinter& printer, std::size_t k, const std::string& offset, const std::string& j) {
  const auto& read = printer.plan().reads()[k];
  const auto* type = compute_type(read.view.dtype);
  const auto* position = ir::is_floating(read.view.dtype) ? "int" : type;  // converted once for all of a vector
  return fmt::format("const {0} x{1} = static_cast<{0}>(static_cast<{2}>({3})) + static_cast<{0}>({4});\n", type, k,
                     position, offset, j);
}

std::string element_statements(GroupPrinter& printer, const std::set<std::int32_t>& nodes, const std::string& position,
                               const std::set<std::int32_t>& coarse) {
  std::string text;
  for (const auto& member : printer.plan().group().members) {
    if (member.level == Level::full && nodes.contains(member.node))
      text += printer.statement(member, position, coarse.contains(member.node));
  }
  return text;
}

std::string scalar_reads(GroupPrinter& printer) {
  std::string text;
  const auto& reads = printer.plan().reads();
  for (std::size_t k = 0; k < reads.size(); ++k) {
    const auto& read = reads[k];
    const auto dtype = printer.plan().program().type_of(read.ref).dtype;
    if (read.kind == GroupOperand::Kind::constant) {
      const auto& number = read.constant;
      const auto name = fmt::format("c{}", k);
      std::string value;
      if (ir::compute_dtype(dtype) == ir::DType::f32) {  // the device is slow at shortening doubles
        const std::array<float, 2> padded{static_cast<float>(number.real), 0};
        value = printer.parameter("burn::cuda::Number<float>", name, Argument(padded)) + ".value";
      } else {
        const auto from = ir::is_floating(dtype) ? printer.parameter("double", name, Argument(number.real))
                                                 : printer.parameter("std::int64_t", name, Argument(number.number));
        value = cuda_cpp::cast(compute_type(dtype), from);
      }
      text += fmt::format("const {} x{} = {};\n", compute_type(dtype), k,
                          ir::compute_dtype(dtype) == dtype ? value : cuda_cpp::rounded(storage_type(dtype), value));
      text += printer.divisor(read.ref);
    } else if (read.kind == GroupOperand::Kind::scalar) {
      const auto from =
          printer.parameter(fmt::format("const {}*", storage_type(dtype)), fmt::format("p{}", k), Argument(read.view));
      text += stored_read(printer, k, "*" + from);
      text += printer.divisor(read.ref);
    }
  }
  return text;
}

}  // namespace burn::compile
