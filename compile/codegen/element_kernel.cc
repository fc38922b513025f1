// Groups without rows: a thread computes one vector of elements.
#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "compile/codegen/accuracy.h"
#include "compile/codegen/dialects/cuda_cpp.h"
#include "compile/codegen/group_kernel.h"
#include "compile/codegen/print.h"
#include "compile/codegen/target.h"
#include "compile/codegen/walks.h"

namespace burn::compile {

namespace {

// Element `i` of a linear walk, without vectors.
std::string element_by_itself(GroupPrinter& printer, const std::string& body) {
  const auto& plan = printer.plan();
  const auto& program = plan.program();
  std::string text;
  for (std::size_t k = 0; k < plan.reads().size(); ++k) {
    if (plan.reads()[k].kind != GroupOperand::Kind::full) continue;
    const auto dtype = program.type_of(plan.reads()[k].ref).dtype;
    text += plan.reads()[k].counts ? counted_read(printer, k, fmt::format("i{} + i", k), "0")
                                   : fmt::format("const {} x{} = {};\n", compute_type(dtype), k,
                                                 cuda_cpp::to_compute(storage_type(dtype), fmt::format("p{}[i]", k)));
  }
  text += "const std::uint64_t position = i;\n(void)position;\n" + body;
  for (std::size_t k = 0; k < plan.writes().size(); ++k) {
    const auto dtype = program.type_of(plan.writes()[k].ref).dtype;
    text +=
        fmt::format("q{}[i] = {};\n", k, cuda_cpp::to_storage(storage_type(dtype), printer.name(plan.writes()[k].ref)));
  }
  return text;
}

// The threads whose vectors are not whole do what is left of them one by one.
std::string last_elements(int width, int steps, const std::string& scalars, const std::string& element) {
  if (steps == 1) {
    return fmt::format(
        "  if (first + {} > count) {{\n{}  for (std::int64_t i = first; i < count; ++i) {{\n{}  }}\n  return;\n  }}\n",
        width, scalars, element);
  }
  return fmt::format(
      "  if ((begin + {0} * 256 + 1) * {1} > count) {{\n{3}  for (int step = 0; step <= {0}; ++step) {{\n"
      "  for (std::int64_t i = (begin + step * 256) * {1}, end = i + {1}; i < end && i < count; ++i) {{\n{2}  }}\n  "
      "}}\n"
      "  return;\n  }}\n",
      steps - 1, width, element, scalars);
}

}  // namespace

int vectors_per_thread(const DeviceFacts& device, const GroupPlan& plan) {
  constexpr std::int64_t kBlocks = 64;           // of each multiprocessor, with one
  constexpr int kMaxReads = 2, kMaxVectors = 4;  // of all operands
  constexpr int kMaxElements = 16;               // beyond, the body has too many copies
  const auto walk = plan.element_walk();
  const int width = vector_width(walk, plan.full_views(), 8);
  const auto vectors = (ir::num_elements(plan.group().domain) + width - 1) / width;
  if (!walk.is_linear() || width == 1 || vectors < kBlocks * 256 * device.multiprocessors) return 1;
  const auto reads = std::ranges::count(plan.reads(), GroupOperand::Kind::full, &GroupOperand::kind);
  const bool computes = std::ranges::any_of(plan.group().members, [&](const Member& member) {
    const auto* function = std::get_if<ir::Pointwise>(&plan.node(member).op);
    return function &&
           (ir::row(function->fn).kind == ir::PointwiseClass::floating || function->fn == ir::PointwiseFn::div);
  });
  if (!computes || reads > kMaxReads) return 1;
  return std::min(reads == 1 ? kMaxVectors : kMaxVectors / 2, kMaxElements / width);
}

Status emit_elements(Emitter& emit, const GroupPlan& plan) {
  const auto& program = plan.program();
  const std::int64_t elements = ir::num_elements(plan.group().domain);
  if (elements == 0) return {};
  const auto walk = plan.element_walk();
  const auto views = plan.full_views();
  const bool is_linear = walk.is_linear();
  const int width = vector_width(walk, views, 8);
  const std::int64_t vectors = (elements + width - 1) / width;
  const int steps = vectors_per_thread(emit.target().facts(), plan);
  GroupPrinter printer(plan);

  std::string loads, stores, before, after, early;
  const auto last = static_cast<std::size_t>(walk.rank() - 1);
  for (std::size_t k = 0; k < plan.reads().size(); ++k) {
    const auto& read = plan.reads()[k];
    if (read.kind != GroupOperand::Kind::full) continue;
    const auto dtype = program.type_of(read.ref).dtype;
    const char* type = storage_type(dtype);
    if (!read.counts)
      printer.parameter(fmt::format("const {}*", type), fmt::format("p{}", k), Argument(read.view));
    else
      printer.parameter("std::int64_t", fmt::format("i{}", k), Argument(read.view.address.offset));
    const auto at = is_linear ? std::string("first") : fmt::format("at.at[{}]", read.full_index);
    const auto full = static_cast<std::size_t>(read.full_index);
    const bool repeats = walk.strides[full][last] == 0;
    const bool packs = width > 1 && !repeats;
    if (read.counts) {
      loads += counted_read(printer, k, fmt::format("i{} + {}", k, at), packs ? "j" : "0");
      continue;
    }
    if (steps > 1) {
      early += fmt::format(
          "  {1} e{0}[{2}];\n{3}  for (int step = 0; step < {2}; ++step)\n    e{0}[step] = {4};\n", k,
          cuda_cpp::pack_type(type, width), steps, cuda_cpp::kUnroll,
          cuda_cpp::load_pack(type, width, fmt::format("p{}", k), fmt::format("(begin + step * 256) * {}", width)));
      before += fmt::format("const auto l{0} = e{0}[step];\n", k);
    } else {
      before +=
          packs ? fmt::format("const auto l{} = {};\n", k, cuda_cpp::load_pack(type, width, fmt::format("p{}", k), at))
                : fmt::format("const auto l{0} = p{0}[{1}];\n", k, at);
    }
    loads += fmt::format("const {} x{} = {};\n", compute_type(dtype), k,
                         cuda_cpp::to_compute(type, fmt::format("l{}{}", k, packs ? ".lanes[j]" : "")));
  }
  for (std::size_t k = 0; k < plan.writes().size(); ++k) {
    const auto& write = plan.writes()[k];
    const auto dtype = program.type_of(write.ref).dtype;
    const char* type = storage_type(dtype);
    printer.parameter(fmt::format("{}*", type), fmt::format("q{}", k), Argument(write.view));
    const auto at = is_linear ? std::string("first") : fmt::format("at.at[{}]", write.full_index);
    if (width > 1) {
      before += fmt::format("{} s{};\n", cuda_cpp::pack_type(type, width), k);
      stores += fmt::format("s{}.lanes[j] = {};\n", k, cuda_cpp::to_storage(type, printer.name(write.ref)));
      after += cuda_cpp::store_pack(type, width, fmt::format("q{}", k), at, fmt::format("s{}", k));
    } else {
      stores += fmt::format("q{}[{}] = {};\n", k, at, cuda_cpp::to_storage(type, printer.name(write.ref)));
    }
  }
  allow_in_place(emit, plan);
  const auto scalars = scalar_reads(printer);
  std::string body;
  const auto coarse = coarse_elements(plan);
  for (const auto& member : plan.group().members)
    body += printer.statement(member, "position", coarse.contains(member.node));
  printer.parameter("std::int64_t", "count", Argument(elements));
  if (!is_linear) {
    printer.parameter(cuda_cpp::walk_type(plan.full_count()), "walk", walk_argument(walk));
  }

  // What is left of a linear walk's last vectors goes element by element.
  std::string text;
  if (steps > 1) {
    text += fmt::format("  const std::uint64_t begin = std::uint64_t{{block}} * {} + {};\n", 256 * steps,
                        cuda_cpp::kThread);
    text += fmt::format("  if (begin * {} >= count) return;\n", width);
  } else {
    text += fmt::format("  const std::uint64_t vector = std::uint64_t{{block}} * 256 + {};\n", cuda_cpp::kThread);
    text += fmt::format("  const std::int64_t first = vector * {};\n  if (first >= count) return;\n", width);
  }
  const auto vector_body = [&](bool packed) {
    std::string part;
    if (!is_linear) part += fmt::format("  const auto at = {};\n", offsets_in(walk, "walk", "first"));
    part += before;
    if (packed) {
      part += cuda_cpp::kUnroll + fmt::format("  for (unsigned j = 0; j < {}; ++j) {{\n", width);
      part += fmt::format("  const std::uint64_t position = vector * {} + j;\n  (void)position;\n", width);
    } else {
      part += "  const std::uint64_t position = vector;\n  (void)position;\n";
    }
    part += loads + body + stores;
    if (packed) part += "  }\n";
    return part + after;
  };
  if (width > 1 && is_linear) text += last_elements(width, steps, scalars, element_by_itself(printer, body));
  text += early + scalars;  // by the time that the scalars are there, the vectors are on their way
  if (steps > 1) {
    text += cuda_cpp::kUnroll + fmt::format("  for (int step = 0; step < {}; ++step) {{\n", steps);
    text += fmt::format(
        "  const std::uint64_t vector = begin + step * 256;\n  const std::int64_t first = vector * {};\n", width);
  }
  text += vector_body(width > 1) + (steps > 1 ? "  }\n" : "");

  const std::int64_t of_block = std::int64_t{256} * steps;
  std::vector<Address> written;
  for (const auto& write : plan.writes()) written.push_back(write.view.address);
  auto arguments = printer.take_arguments();
  auto functions = printer.functions();
  emit.launch(std::make_shared<const BlockKernel>(
                  BlockKernel{std::move(functions), printer.take_parameters(), std::move(text)}),
              (vectors + of_block - 1) / of_block, std::move(arguments), std::move(written));
  return {};
}

}  // namespace burn::compile
