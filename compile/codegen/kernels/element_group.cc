// Groups without rows: a thread computes some elements that lie side by side, or one.
#include <algorithm>
#include <vector>

#include "compile/codegen/accuracy.h"
#include "compile/codegen/group_kernel.h"
#include "compile/codegen/kernels/group.h"
#include "compile/codegen/kernels/group_values.h"
#include "compile/codegen/target.h"

namespace burn::compile::kernels {

Status emit_group(Emitter& emit, const ir::Program& program, const Group& group, std::span<const ir::Ref> results) {
  return emit_remembered(emit, program, group, results, [](Emitter& to, const GroupPlan& plan) {
    return plan.group().has_rows() ? emit_rows(to, plan) : emit_elements(to, plan);
  });
}

namespace {

using kernel::Value;

constexpr int kThreads = 256;

class ElementKernel {
 public:
  ElementKernel(Emitter& emit, const GroupPlan& plan)
      : emit_(emit),
        plan_(plan),
        count_(ir::num_elements(plan.group().domain)),
        walk_(plan.element_walk()),
        width_(vector_width(walk_, plan.full_views(), 8)),
        steps_(choose_steps()),
        writer_(kThreads, emit.target().facts().has_functions, emit.target().facts().has_exp2),
        arguments_(writer_, walk_.is_narrow() ? index_type(count_) : ir::DType::i64),
        values_(writer_, arguments_, plan, coarse_elements(plan)) {}

  void emit() {
    scalars_ = values_.scalars();
    const Value block = arguments_.block(), thread = arguments_.thread();
    // Of the thread's first vector; the others are as many vectors further on as the block has threads.
    const Value first = (block * (kThreads * steps_) + thread) * width_;
    const Value count = arguments_.number(count_);
    if (width_ == 1) {
      writer_.when(first < count, [&] { compute({first}, 1); });
    } else if (!walk_.is_linear()) {  // rows end with a whole vector
      writer_.when(first < count, [&] { compute({first}, width_); });
    } else if (steps_ == 1) {
      compute_vector(first, count);
    } else {
      const Value begin = block * (kThreads * steps_ * width_), whole = begin + kThreads * steps_ * width_;
      writer_.when(
          whole <= count,
          [&] {
            Offsets positions;
            for (int step = 0; step < steps_; ++step) positions.push_back(first + step * (kThreads * width_));
            compute(positions, width_);
          },
          [&] {  // the last block
            writer_.loop(begin + thread * width_, count, values_.index(std::int64_t{kThreads} * width_),
                         [&](Value position) { compute_vector(position, count); });
          });
    }
    allow_in_place(emit_, plan_);
    const auto of_block = std::int64_t{kThreads} * steps_ * width_;
    arguments_.launch_blocks(emit_, (count_ + of_block - 1) / of_block);
  }

 private:
  // Vectors of a thread: several where there are enough of them to keep the device busy.
  int choose_steps() const {
    constexpr int kMaxSteps = 4, kMaxElements = 16;  // beyond, the kernel has too many copies of what it computes
    constexpr std::int64_t kBlocks = 32;             // of each multiprocessor
    if (width_ == 1 || !walk_.is_linear()) return 1;
    const auto enough = kBlocks * kThreads * width_ * std::max(emit_.target().facts().multiprocessors, 1);
    int steps = std::min(kMaxSteps, kMaxElements / width_);
    while (steps > 1 && count_ < enough * steps) steps /= 2;
    return steps;
  }

  // A vector, or what there is of it before the end, element by element.
  void compute_vector(Value first, Value count) {
    writer_.when(
        first + width_ <= count, [&] { compute({first}, width_); },
        [&] { writer_.loop(first, count, values_.index(1), [&](Value position) { compute({position}, 1); }); });
  }

  // Of so many elements at each of these positions: all is read before anything is computed.
  void compute(const Offsets& positions, int width) {
    std::vector<std::vector<KnownValues>> all;
    std::vector<Offsets> places;
    for (const auto position : positions) {
      all.emplace_back(static_cast<std::size_t>(width), scalars_);
      places.push_back(values_.offsets_at(walk_, position));
      values_.read_elements(walk_, places.back(), all.back());
    }
    for (std::size_t p = 0; p < positions.size(); ++p) {
      values_.compute_elements(positions[p], all[p]);
      values_.write_elements(places[p], all[p]);
    }
  }

  Emitter& emit_;
  const GroupPlan& plan_;
  const std::int64_t count_;
  const LoopDims walk_;
  const int width_, steps_;
  kernel::Writer writer_;
  Arguments arguments_;
  GroupValues values_;
  KnownValues scalars_;
};

}  // namespace

Status emit_elements(Emitter& emit, const GroupPlan& plan) {
  if (ir::num_elements(plan.group().domain) > 0) ElementKernel(emit, plan).emit();
  return {};
}

}  // namespace burn::compile::kernels
