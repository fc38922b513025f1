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
    text += plan.reads()[k].counts ? counted_read(printer, k, fmt::format("i{} + i", k), "0")
                                   : stored_read(printer, k, fmt::format("p{}[i]", k));
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

namespace {

// The text of a kernel whose threads compute a vector of elements each, or `steps` vectors that lie a block's threads
// apart.
class ElementKernel {
 public:
  ElementKernel(const DeviceFacts& device, const GroupPlan& plan)
      : plan_(plan),
        walk_(plan.element_walk()),
        is_linear_(walk_.is_linear()),
        elements_(ir::num_elements(plan.group().domain)),
        width_(vector_width(walk_, plan.full_views(), 8)),
        steps_(vectors_per_thread(device, plan)),
        printer_(plan) {}

  // Prints the kernel. To be called once; what it wants of its launch is known afterwards.
  BlockKernel print() {
    for (std::size_t k = 0; k < plan_.reads().size(); ++k) {
      if (plan_.reads()[k].kind == GroupOperand::Kind::full) add_read(k);
    }
    for (std::size_t k = 0; k < plan_.writes().size(); ++k) add_write(k);
    const auto scalars = scalar_reads(printer_);
    const auto coarse = coarse_elements(plan_);
    for (const auto& member : plan_.group().members)
      formulas_ += printer_.statement(member, "position", coarse.contains(member.node));
    printer_.parameter("std::int64_t", "count", Argument(elements_));
    if (!is_linear_) printer_.parameter(cuda_cpp::walk_type(plan_.full_count()), "walk", walk_argument(walk_));

    std::string text = begin();
    // What is left of a linear walk's last vectors goes element by element.
    if (width_ > 1 && is_linear_)
      text += last_elements(width_, steps_, scalars, element_by_itself(printer_, formulas_));
    text += early_ + scalars;  // by the time that the scalars are there, the vectors are on their way
    text += steps_ > 1 ? loop_over_vectors() : vector();
    auto functions = printer_.functions();
    return {std::move(functions), printer_.take_parameters(), std::move(text)};
  }

  std::int64_t blocks() const {
    const std::int64_t vectors = (elements_ + width_ - 1) / width_, of_block = std::int64_t{256} * steps_;
    return (vectors + of_block - 1) / of_block;
  }
  std::vector<Argument> take_arguments() { return printer_.take_arguments(); }

 private:
  // Where the thread's vector begins in the k-th operand of the walk.
  std::string at(int full_index) const {
    return is_linear_ ? std::string("first") : fmt::format("at.at[{}]", full_index);
  }

  void add_read(std::size_t k) {
    const auto& read = plan_.reads()[k];
    const char* type = storage_type(plan_.program().type_of(read.ref).dtype);
    const auto repeats = walk_.strides[static_cast<std::size_t>(read.full_index)].back() == 0;
    const bool packs = width_ > 1 && !repeats;
    if (read.counts) {
      printer_.parameter("std::int64_t", fmt::format("i{}", k), Argument(read.view.address.offset));
      loads_ += counted_read(printer_, k, fmt::format("i{} + {}", k, at(read.full_index)), packs ? "j" : "0");
      return;
    }
    printer_.parameter(fmt::format("const {}*", type), fmt::format("p{}", k), Argument(read.view));
    if (steps_ > 1) {
      early_ += fmt::format(
          "  {1} e{0}[{2}];\n{3}  for (int step = 0; step < {2}; ++step)\n    e{0}[step] = {4};\n", k,
          cuda_cpp::pack_type(type, width_), steps_, cuda_cpp::kUnroll,
          cuda_cpp::load_pack(type, width_, fmt::format("p{}", k), fmt::format("(begin + step * 256) * {}", width_)));
      before_ += fmt::format("const auto l{0} = e{0}[step];\n", k);
    } else if (packs) {
      before_ += fmt::format("const auto l{} = {};\n", k,
                             cuda_cpp::load_pack(type, width_, fmt::format("p{}", k), at(read.full_index)));
    } else {
      before_ += fmt::format("const auto l{0} = p{0}[{1}];\n", k, at(read.full_index));
    }
    loads_ += stored_read(printer_, k, fmt::format("l{}{}", k, packs ? ".lanes[j]" : ""));
  }

  void add_write(std::size_t k) {
    const auto& write = plan_.writes()[k];
    const char* type = storage_type(plan_.program().type_of(write.ref).dtype);
    printer_.parameter(fmt::format("{}*", type), fmt::format("q{}", k), Argument(write.view));
    const auto value = cuda_cpp::to_storage(type, printer_.name(write.ref));
    if (width_ == 1) {
      stores_ += fmt::format("q{}[{}] = {};\n", k, at(write.full_index), value);
      return;
    }
    before_ += fmt::format("{} s{};\n", cuda_cpp::pack_type(type, width_), k);
    stores_ += fmt::format("s{}.lanes[j] = {};\n", k, value);
    after_ += cuda_cpp::store_pack(type, width_, fmt::format("q{}", k), at(write.full_index), fmt::format("s{}", k));
  }

  // Which elements the thread computes; those beyond the last end it.
  std::string begin() const {
    if (steps_ > 1) {
      return fmt::format("  const std::uint64_t begin = std::uint64_t{{block}} * {} + {};\n", 256 * steps_,
                         cuda_cpp::kThread) +
             fmt::format("  if (begin * {} >= count) return;\n", width_);
    }
    return fmt::format("  const std::uint64_t vector = std::uint64_t{{block}} * 256 + {};\n", cuda_cpp::kThread) +
           fmt::format("  const std::int64_t first = vector * {};\n  if (first >= count) return;\n", width_);
  }

  std::string loop_over_vectors() const {
    return cuda_cpp::kUnroll + fmt::format("  for (int step = 0; step < {}; ++step) {{\n", steps_) +
           fmt::format(
               "  const std::uint64_t vector = begin + step * 256;\n  const std::int64_t first = vector * {};\n",
               width_) +
           vector() + "  }\n";
  }

  // Loads, computes and stores one vector.
  std::string vector() const {
    std::string text;
    if (!is_linear_) text += fmt::format("  const auto at = {};\n", offsets_in(walk_, "walk", "first"));
    text += before_;
    if (width_ > 1) {
      text += cuda_cpp::kUnroll + fmt::format("  for (unsigned j = 0; j < {}; ++j) {{\n", width_);
      text += fmt::format("  const std::uint64_t position = vector * {} + j;\n  (void)position;\n", width_);
    } else {
      text += "  const std::uint64_t position = vector;\n  (void)position;\n";
    }
    text += loads_ + formulas_ + stores_;
    if (width_ > 1) text += "  }\n";
    return text + after_;
  }

  const GroupPlan& plan_;
  const LoopDims walk_;
  const bool is_linear_;  // the elements of all operands lie as those of the walk
  const std::int64_t elements_;
  const int width_, steps_;  // elements of a vector; vectors of a thread
  GroupPrinter printer_;
  // Parts of the text, in the order of their running. `early_`: the loads of all vectors; of a vector `before_` and
  // `after_`; of an element `loads_`, `formulas_` and `stores_`.
  std::string early_, before_, loads_, formulas_, stores_, after_;
};

}  // namespace

Status emit_elements(Emitter& emit, const GroupPlan& plan) {
  if (ir::num_elements(plan.group().domain) == 0) return {};
  ElementKernel kernel{emit.target().facts(), plan};
  auto text = std::make_shared<const BlockKernel>(kernel.print());
  allow_in_place(emit, plan);
  std::vector<Address> written;
  for (const auto& write : plan.writes()) written.push_back(write.view.address);
  emit.launch(std::move(text), kernel.blocks(), kernel.take_arguments(), std::move(written));
  return {};
}

}  // namespace burn::compile
