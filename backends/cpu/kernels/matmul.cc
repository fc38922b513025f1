#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/dot_products.h"
#include "backends/cpu/kernels/fill.h"
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/half_products.h"
#include "backends/cpu/runtime/loops.h"
#include "ir/dispatch.h"

namespace burn::backends::cpu {
namespace {

// How BLAS may read the last two dims in place.
struct Form {
  std::int64_t stride;
  bool transposed;
};

std::optional<Form> blas_form(const Array& x) {
  const int last = x.rank() - 1;
  const auto rows = x.shape()[last - 1], columns = x.shape()[last];
  const auto row_step = x.strides()[last - 1], column_step = x.strides()[last];
  if ((column_step == 1 || columns == 1) && (row_step >= columns || rows == 1)) {
    return Form{rows == 1 ? std::max<std::int64_t>(columns, 1) : row_step, false};
  }
  if ((row_step == 1 || rows == 1) && (column_step >= rows || columns == 1)) {
    return Form{columns == 1 ? std::max<std::int64_t>(rows, 1) : column_step, true};
  }
  return std::nullopt;
}

// An operand in a form that multiply() takes.
Result<Array> multipliable(Run& run, const Array& x, ir::DType dtype) {
  BURN_TRY(const Array converted, cast(run, x, dtype));
  if (converted.num_elements() > 0 && ir::is_floating(dtype) && blas_form(converted)) return converted;
  return contiguous(run, converted);
}

// One matrix for a whole batch of right-hand sides: [batch, m, k] is then [batch * m, k].
bool merge_batch(Array& a, Array& b, Array& c) {
  const int rank = a.rank();
  for (int i = 0; i < rank - 2; ++i) {
    if (b.shape()[i] != 1 && b.strides()[i] != 0) return false;
  }
  const auto rows = [&](const Array& x) {
    return x.reshaped({x.num_elements() / x.shape()[rank - 1], x.shape()[rank - 1]});
  };
  auto merged_a = rows(a), merged_c = rows(c);
  if (!merged_a || !merged_c) return false;
  const auto form = blas_form(*merged_a);
  if (!form || form->transposed) return false;
  while (b.rank() > 2) b = b.without_dim(0);
  a = *std::move(merged_a);
  c = *std::move(merged_c);
  return true;
}

// The products of a batch: body is called with the first of them, their number, and each(begin, end, multiply), which
// calls multiply(product) for a range of them.
template <typename T, typename Body>
void with_products(const Array& a, const Array& b, Array& c, const Body& body) {
  const int last = c.rank() - 1;
  const auto m = c.shape()[last - 1], n = c.shape()[last], k = a.shape()[last];
  const Form a_form = blas_form(a).value_or(Form{k, false}), b_form = blas_form(b).value_or(Form{n, false});
  ir::Shape batch = c.shape();
  ir::Dims of_a = a.strides(), of_b = b.strides(), of_c = c.strides();
  for (auto* dims : {&batch, &of_a, &of_b, &of_c}) {
    dims->erase(last);
    dims->erase(last - 1);
  }
  const auto product = [&](std::int64_t at_a, std::int64_t at_b, std::int64_t at_c) {
    return Product<T>{.m = m,
                      .n = n,
                      .k = k,
                      .a = {a.as<T>() + at_a, a_form.stride, a_form.transposed},
                      .b = {b.as<T>() + at_b, b_form.stride, b_form.transposed},
                      .c = c.as<T>() + at_c,
                      .c_stride = n};
  };

  const LoopNest<3> nest(batch, {&of_a, &of_b, &of_c});
  const auto step = nest.inner_strides();
  const auto each = [&](std::int64_t begin, std::int64_t end, auto multiply) {
    nest.for_each_run(begin, end, [&](std::int64_t count, const auto& at) {
      for (std::int64_t i = 0; i < count; ++i) {
        multiply(product(at[0] + i * step[0], at[1] + i * step[1], at[2] + i * step[2]));
      }
    });
  };
  body(product(0, 0, 0), nest.total, each);
}

// 8 multiply-adds take about as long as one element of simple work.
template <typename T>
std::int64_t grain_of(const Product<T>& p) {
  return kGrain / (p.m * p.n * std::max<std::int64_t>(p.k / 8, 1) + 1) + 1;
}

template <typename T>
void multiply_batch(const Array& a, const Array& b, Array& c) {
  with_products<T>(a, b, c, [](const Product<T>& first, std::int64_t count, const auto& each) {
    // Either whole products side by side, or one after the other on all threads.
    if (count < thread_count()) return each(0, count, [](const Product<T>& p) { multiply(p); });
    const auto run = [&](Library library) {
      parallel_for(count, grain_of(first), [&](std::int64_t begin, std::int64_t end) {
        each(begin, end, [&](const Product<T>& p) { multiply_here(p, library); });
      });
    };
    run(library_for_batch<T>(first, count, run));
  });
}

// Methods to multiply 16-bit floats: in f32, or without conversion by oneDNN, cut in three ways, or by our own tiles.
constexpr int kInFloats = 0, kByRows = 1, kByTiles = 4;
constexpr HalfSplit kCuts[] = {HalfSplit::rows, HalfSplit::columns, HalfSplit::both};  // from kByRows on

std::span<const std::string_view> half_ways(ir::DType dtype) {
  // The instructions are part of the name, as the choice is saved for other processes and sums differ.
  static const std::string by_tiles =
      dot_tiles<std::uint16_t>().empty() ? "" : fmt::format("by tiles of {}", dot_tiles<std::uint16_t>().front().name);
  static const std::array<std::string_view, kByTiles + 1> ways{
      "in f32", "as they are by rows", "as they are by columns", "as they are both ways", by_tiles};
  const bool has_tiles = dtype == ir::DType::bf16 && !dot_tiles<std::uint16_t>().empty();
  return std::span(ways).first(has_tiles ? kByTiles + 1 : kByTiles);
}

// Multiplies all products of 16-bit floats without conversion to f32.
Status multiply_half_batch(Run& run, ir::DType dtype, const Array& a, const Array& b, Array& c, int way) {
  std::mutex mutex;
  Status status;
  const auto keep = [&](Status result) {
    if (result.ok()) return;
    const std::lock_guard lock(mutex);
    status = std::move(result);
  };
  with_products<std::uint16_t>(a, b, c, [&](const HalfProduct& first, std::int64_t count, const auto& each) {
    const auto multiply = [&](const HalfProduct& p, bool here) {
      if (way == kByTiles) return keep(multiply_by_tiles(dot_tiles<std::uint16_t>().front(), p));
      keep(here ? multiply_half_here(run, dtype, p) : multiply_half(run, dtype, p, kCuts[way - kByRows]));
    };
    if (count < thread_count()) return each(0, count, [&](const HalfProduct& p) { multiply(p, false); });
    parallel_for(count, grain_of(first), [&](std::int64_t begin, std::int64_t end) {
      each(begin, end, [&](const HalfProduct& p) { multiply(p, true); });
    });
  });
  return status;
}

void fill_zero(Array& x) { fill_zeros(x.data(), static_cast<std::int64_t>(x.num_bytes())); }

// The product in the type that it is computed in, by the libraries for that type.
Result<Array> product(Run& run, std::span<Array> operands, const ir::TensorType& type) {
  const auto dtype = compute_dtype(type.dtype);
  BURN_TRY(Array y, run.allocate({dtype, type.shape}));
  BURN_TRY(Array a, multipliable(run, operands[0], dtype));
  BURN_TRY(Array b, multipliable(run, operands[1], dtype));
  Array c = y;
  merge_batch(a, b, c);
  ir::dispatch(dtype, [&]<typename T>() {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) multiply_batch<T>(a, b, c);
  });
  return cast(run, y, type.dtype);
}

// 16-bit floats: in f32 or without conversion, whichever is faster for such sizes.
Result<Array> half_product(Run& run, std::span<Array> operands, const ir::TensorType& type) {
  BURN_TRY(Array y, run.allocate(type));
  BURN_TRY(Array a, multipliable(run, operands[0], type.dtype));
  BURN_TRY(Array b, multipliable(run, operands[1], type.dtype));
  Array c = y;
  merge_batch(a, b, c);
  const auto compute = [&](int way) -> Status {
    if (way != kInFloats) return multiply_half_batch(run, type.dtype, a, b, c, way);
    return product(run, operands, type).status();
  };
  int way = kInFloats;
  with_products<std::uint16_t>(a, b, c, [&](const HalfProduct& first, std::int64_t count, const auto&) {
    if (work_of(first) * static_cast<double>(count) < kWorthTiming) return;
    const int kind = type.dtype == ir::DType::bf16 ? 1 : 2;
    way = std::max(choose_product(first, count, kind, half_ways(type.dtype), compute), kInFloats);
  });
  if (way != kInFloats && compute(way).ok()) return y;
  // oneDNN may lack a kernel for some sizes of a class for which it has others; tiles need some memory.
  return product(run, operands, type);
}

}  // namespace

namespace kernels {

Result<Kernel> prepare(const ir::MatMul&, const Signature& signature) {
  const auto dtype = signature.result.dtype;
  const bool is_half = dtype == ir::DType::bf16 || dtype == ir::DType::f16;
  return Kernel([is_half, type = signature.result](Run& run, std::span<Array> operands) -> Result<Array> {
    if (ir::num_elements(type.shape) == 0) return run.allocate(type);
    if (operands[0].num_elements() == 0) {  // k is 0
      BURN_TRY(Array y, run.allocate(type));
      fill_zero(y);
      return y;
    }
    if (is_half && (has_half_products(type.dtype) || half_ways(type.dtype).size() > kByTiles))
      return half_product(run, operands, type);
    return product(run, operands, type);
  });
}

}  // namespace kernels
}  // namespace burn::backends::cpu
