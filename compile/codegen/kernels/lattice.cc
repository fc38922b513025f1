// Recurrences over rows (ir/ops/lattices.h): a block for each sequence, whose threads go through the rows together. The
// row before is kept in shared memory; where it has no room there, or threads that wait are slow, one thread goes
// through all.
#include "compile/codegen/kernel/functions.h"
#include "compile/codegen/kernels/arguments.h"
#include "compile/codegen/kernels/lower.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;

// total + weight y, or log(e^total + e^(weight + y)).
Value sum_of(ir::Semiring semiring, Value total, Value weight, Value y) {
  if (semiring == ir::Semiring::linear) return total + weight * y;
  const Value term = weight + y, least = -kernel::infinity(total);
  const Value total_is_less = total < term;
  const Value high = select(total_is_less, term, total), low = select(total_is_less, total, term);
  const Value both = select(high == kernel::infinity(high), high, high + kernel::log1p(kernel::exp(low - high)));
  return select(term == least, total, select(total == least, term, both));
}

}  // namespace

Status lower(Emitter& emit, const ir::BandedScan& op, const NodeInPlan& at) {
  const View b = emit.contiguous(emit.read(at.operand(0))), w = emit.contiguous(emit.read(at.operand(1)));
  const View y = emit.result(at.result());
  if (y.num_elements() == 0) return {};
  constexpr int kThreads = 128;
  const auto& facts = emit.target().facts();
  const auto width_of_row = y.shape[2];
  const auto type = ir::compute_dtype(y.dtype);
  const bool is_together =
      !facts.has_slow_barriers && y.dtype == type &&
      2 * width_of_row * static_cast<std::int64_t>(ir::size_of(type)) <= facts.shared_bytes_per_block;
  kernel::Writer writer(is_together ? kThreads : 1);
  Arguments arguments(writer, ir::DType::i64);
  const auto from = arguments.address(b), weights = arguments.address(w), to = arguments.address(y);
  const Value rows = arguments.number(y.shape[1]), width = arguments.number(width_of_row);
  const Value band = arguments.number(emit.type_of(at.operand(1)).shape[2]);
  const auto kept = is_together ? writer.shared(type, 2 * width_of_row) : kernel::Shared{};
  const Value sequence = arguments.block();
  writer.when(sequence < arguments.number(y.shape[0]), [&] {
    const Value begin = sequence * rows * width;
    writer.loop(rows, [&](Value step) {
      const Value t = op.adjoint ? rows - 1 - step : step;
      const Value other = op.adjoint ? t + 1 : t - 1;
      const Value weights_begin = begin * band + (op.adjoint ? t + 1 : t) * band * width;
      const Value before = (step + 1) % 2 * width, now = step % 2 * width;  // in shared memory
      writer.loop(arguments.thread(), width, arguments.constant(writer.threads()), [&](Value i) {
        const auto total = writer.variable(writer.load(from, begin + t * width + i));
        writer.when(step > 0, [&] {
          const Value room = op.adjoint ? width - i : i + 1;
          writer.loop(select(band < room, band, room), [&](Value j) {
            const Value place = op.adjoint ? i + j : i - j;
            const Value weight = writer.load(weights, weights_begin + j * width + (op.adjoint ? place : i));
            const Value value =
                is_together ? writer.load(kept, before + place) : writer.load(to, begin + other * width + place);
            total.set(sum_of(op.semiring, total.get(), weight, value));
          });
        });
        writer.store(to, begin + t * width + i, total.get());
        if (is_together) writer.store(kept, now + i, total.get());
      });
      if (is_together) writer.barrier();
    });
  });
  kernels::launch(emit, writer, {.blocks = y.shape[0]}, arguments.take());
  return {};
}

}  // namespace burn::compile::kernels
