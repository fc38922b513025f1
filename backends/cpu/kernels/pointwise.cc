#include <algorithm>

#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/runtime/loops.h"
#include "backends/cpu/runtime/run.h"
#include "backends/cpu/simd/float_loops.h"
#include "backends/cpu/simd/pointwise_table.h"

namespace burn::backends::cpu {

using ir::DType;

// The dtype of the loop that computes it.
DType loop_dtype(ir::PointwiseClass kind, DType operand) {
  if (kind != ir::PointwiseClass::choose) return compute_dtype(operand);
  switch (ir::size_of(operand)) {
    case 1:
      return DType::u8;
    case 2:
      return DType::u16;
    case 4:
      return DType::u32;
    default:
      return DType::u64;
  }
}

RunLoop pointwise_loop(ir::PointwiseFn fn, DType dtype) {
  if (const auto loop = vector_loop(fn, dtype)) return loop;
  if (const auto loop = numeric_loop(fn, dtype)) return loop;
  if (const auto loop = floating_loop(fn, dtype)) return loop;
  return logic_loop(fn, dtype);
}

namespace {

// Applies a loop over f32 to 16-bit operands, through buffers that stay in the first-level cache.
struct WideningLoop {
  RunLoop loop;
  CastLoop widen, narrow;  // narrow: null where the result is no 16-bit float

  void operator()(std::int64_t n, std::byte* y, const void* const* operands, const std::int64_t* strides, int arity,
                  std::int64_t result_size) const {
    constexpr std::int64_t kChunk = 512, kSize = 2;
    alignas(64) float wide[2][kChunk];
    alignas(64) float result[kChunk];
    const void* wide_operands[] = {wide[0], wide[1]};
    const std::int64_t wide_strides[] = {strides[0] != 0, strides[1] != 0};
    for (std::int64_t begin = 0; begin < n; begin += kChunk) {
      const auto size = std::min(kChunk, n - begin);
      for (int k = 0; k < arity; ++k) {
        const auto* x = static_cast<const std::byte*>(operands[k]) + begin * strides[k] * kSize;
        widen(strides[k] == 0 ? 1 : size, wide[k], x, strides[k]);
      }
      std::byte* out = y + begin * result_size;
      loop(size, narrow ? static_cast<void*>(result) : out, wide_operands, wide_strides);
      if (narrow) narrow(size, out, result, 1);
    }
  }
};

struct PointwiseKernel {
  RunLoop loop = nullptr;
  CastLoop widen = nullptr, narrow = nullptr;
  DType result_dtype = DType::f32;

  Result<Array> operator()(Run& run, std::span<Array> operands) const {
    ir::Shape shape = operands[0].shape();
    for (const auto& x : operands) {
      if (x.rank() > 0) shape = x.shape();
    }
    BURN_TRY(Array y, result(run, operands, shape));
    switch (operands.size()) {
      case 1:
        compute<1>(operands, y);
        break;
      case 2:
        compute<2>(operands, y);
        break;
      default:
        compute<3>(operands, y);
    }
    return y;
  }

 private:
  // The memory of an operand that is not needed any more if one fits, otherwise new memory.
  Result<Array> result(Run& run, std::span<Array> operands, const ir::Shape& shape) const {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Array& x = operands[i];
      if (x.shape() == shape && ir::size_of(x.dtype()) == ir::size_of(result_dtype) && may_overwrite(operands, i)) {
        return Array({result_dtype, shape}, x.buffer());
      }
    }
    return run.allocate({result_dtype, shape});
  }

  template <int kArity>
  void compute(std::span<Array> operands, Array& y) const {
    std::array<ir::Dims, kArity> strides;
    std::array<const ir::Dims*, kArity + 1> all_strides{&y.strides()};
    std::array<const std::byte*, kArity> data;
    std::array<std::int64_t, kArity> sizes;
    for (int k = 0; k < kArity; ++k) {
      const Array& x = operands[k];
      strides[k] = x.rank() == y.rank() ? x.strides() : ir::Dims::filled(y.rank(), 0);
      all_strides[k + 1] = &strides[k];
      data[k] = x.data();
      sizes[k] = static_cast<std::int64_t>(ir::size_of(x.dtype()));
    }
    const LoopNest<kArity + 1> nest(y.shape(), all_strides);
    const auto result_size = static_cast<std::int64_t>(ir::size_of(result_dtype));
    const std::int64_t* inner = nest.inner_strides().data() + 1;
    nest.for_all_runs([&](std::int64_t n, const auto& at) {
      const void* from[kArity];
      for (int k = 0; k < kArity; ++k) from[k] = data[k] + at[k + 1] * sizes[k];
      std::byte* to = y.data() + at[0] * result_size;
      if (!widen) return loop(n, to, from, inner);
      if constexpr (kArity < 3) WideningLoop{loop, widen, narrow}(n, to, from, inner, kArity, result_size);
    });
  }
};

}  // namespace

namespace kernels {

Result<Kernel> prepare(const ir::Pointwise& op, const Signature& signature) {
  const auto& row = ir::row(op.fn);
  const DType operand = signature.operands.back()->dtype;
  const DType loop_type = loop_dtype(row.kind, operand);
  PointwiseKernel kernel{.loop = pointwise_loop(op.fn, loop_type), .result_dtype = signature.result.dtype};
  if (!kernel.loop) {
    return unimplemented(std::string(row.name) + ": the cpu backend has no loop for " + std::string(ir::name(operand)));
  }
  if (row.kind != ir::PointwiseClass::choose && loop_type != operand) {
    kernel.widen = cast_loop(operand, loop_type);
    if (kernel.result_dtype == operand) kernel.narrow = cast_loop(loop_type, operand);
  }
  return Kernel(kernel);
}

}  // namespace kernels
}  // namespace burn::backends::cpu
