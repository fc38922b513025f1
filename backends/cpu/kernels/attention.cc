#include "backends/cpu/kernels/attention.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/fill.h"
#include "backends/cpu/runtime/parallel.h"

namespace burn::backends::cpu {
namespace {

// Converts x to the dtype of the loops, with the elements of each row adjacent.
Result<Array> matrix_rows(Run& run, const Array& x, ir::DType dtype) {
  BURN_TRY(const Array converted, cast(run, x, dtype));
  const int last = x.rank() - 1;
  const bool side_by_side = converted.strides()[last] == 1 || converted.shape()[last] == 1;
  const bool apart = converted.strides()[last - 1] >= converted.shape()[last] || converted.shape()[last - 1] == 1;
  return side_by_side && apart ? Result<Array>(converted) : contiguous(run, converted);
}

// A new array whose dims have the same order in memory as those of `like`, the last one innermost. Results of heads
// then have the layout of their operands, and the permutation after them is a view that need not be copied.
Result<Array> allocate_like(Run& run, const ir::TensorType& type, const Array& like) {
  const int rank = type.shape.rank();
  std::vector<std::int64_t> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end() - 1, [&](auto a, auto b) {
    return like.strides()[static_cast<int>(a)] > like.strides()[static_cast<int>(b)];
  });
  ir::TensorType stored = type;
  ir::Dims back = ir::Dims::filled(rank, 0);
  for (int i = 0; i < rank; ++i) {
    const auto axis = static_cast<int>(order[static_cast<std::size_t>(i)]);
    stored.shape[i] = type.shape[axis];
    back[axis] = i;
  }
  BURN_TRY(const Array x, run.allocate(stored));
  return x.permuted(back);
}

// Where the matrices of batch item `index` begin.
std::int64_t offset(const Array& x, std::int64_t index) {
  std::int64_t at = 0;
  for (int i = x.rank() - 3; i >= 0; --i) {
    at += index % x.shape()[i] * x.strides()[i];
    index /= x.shape()[i];
  }
  return at;
}

template <typename T>
Rows<const T> rows_of(const Array& x, std::int64_t index) {
  return {x.as<T>() + offset(x, index),
          x.shape()[x.rank() - 2] == 1 ? x.shape()[x.rank() - 1] : x.strides()[x.rank() - 2]};
}

template <typename T>
ScoreOperand<T> extra_of(const std::optional<Array>& x, std::int64_t index) {
  if (!x) return {};
  return {x->as<T>() + offset(*x, index), x->strides()[x->rank() - 2], x->strides()[x->rank() - 1]};
}

// The operands of both ops, ready for the loops.
struct Prepared {
  AttentionSizes sizes;
  std::int64_t batch = 1;
  Array q, k, v;
  std::optional<Array> mask, bias;

  template <typename T>
  AttentionHead<T> head(std::int64_t index) const {
    return {rows_of<T>(q, index), rows_of<T>(k, index), rows_of<T>(v, index), extra_of<unsigned char>(mask, index),
            extra_of<T>(bias, index)};
  }
  double work_of_block() const {
    return static_cast<double>(kQueryBlock) * static_cast<double>(sizes.m + 1) *
           static_cast<double>(sizes.d + sizes.e + 16);
  }
};

template <typename Op>
Result<Prepared> prepared(Run& run, const Op& op, std::span<const Array> in, std::size_t required, ir::DType dtype) {
  Prepared p;
  BURN_TRY(p.q, matrix_rows(run, in[0], dtype));
  BURN_TRY(p.k, matrix_rows(run, in[1], dtype));
  BURN_TRY(p.v, matrix_rows(run, in[2], dtype));
  for (const auto& extra : in.subspan(required)) {
    if (extra.dtype() == ir::DType::bool_) {
      p.mask = extra;
    } else {
      BURN_TRY(p.bias, cast(run, extra, dtype));
    }
  }
  const auto &q = in[0].shape(), &v = in[2].shape();
  const int rank = q.rank();
  p.sizes = {
      .n = q[rank - 2], .m = v[rank - 2], .d = q[rank - 1], .e = v[rank - 1], .scale = op.scale, .causal = op.causal};
  for (int i = 0; i < rank - 2; ++i) p.batch *= q[i];
  return p;
}

// The writable rows of a result.
template <typename T>
Rows<T> writable(const Array& x, std::int64_t index) {
  const auto rows = rows_of<T>(x, index);
  return {const_cast<T*>(rows.data), rows.stride};
}

// Zeroes an array that has a whole buffer of its own, whatever its strides.
void clear(Array& x) { fill_zeros(x.data(), static_cast<std::int64_t>(x.num_bytes())); }

// Calls body(task, scratch) for tasks [0, count), each thread with scratch of its own.
template <typename T, typename Body>
Status for_each_task(Run& run, std::int64_t count, double work, std::int64_t scratch_size, const Body& body) {
  std::atomic<bool> failed = false;
  const auto grain = static_cast<std::int64_t>(static_cast<double>(kGrain) / work) + 1;
  parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
    const auto scratch = run.pool.allocate(static_cast<std::size_t>(scratch_size) * sizeof(T));
    if (!scratch.ok()) {
      failed = true;
      return;
    }
    for (auto task = begin; task < end; ++task) body(task, reinterpret_cast<T*>((*scratch)->data()));
  });
  return failed ? resource_exhausted("out of memory") : Status{};
}

template <typename T>
Status forward(Run& run, const Prepared& p, const Array& y, const Array& statistics) {
  const auto blocks = (p.sizes.n + kQueryBlock - 1) / kQueryBlock;
  return for_each_task<T>(run, p.batch * blocks, p.work_of_block(), attention_scratch<T>(p.sizes),
                          [&](std::int64_t task, T* scratch) {
                            const auto index = task / blocks, begin = task % blocks * kQueryBlock;
                            attend<T>(p.sizes, p.head<T>(index), begin, std::min(begin + kQueryBlock, p.sizes.n),
                                      writable<T>(y, index), writable<T>(statistics, index), scratch);
                          });
}

// Operands of the gradient besides those of the attention, and its results.
struct Backward {
  Array y, statistics, g;
  Array dq, dk, dv;
};

// Queries add to the gradients of all keys. So a thread takes a head, or, if heads are few, a range of queries; all
// ranges but the first have sums of their own, which are added in order.
template <typename T>
Status backward(Run& run, const Prepared& p, Backward& x) {
  const auto& s = p.sizes;
  if (p.batch == 0 || s.n == 0 || s.m == 0 || s.d + s.e == 0) {
    for (Array* result : {&x.dq, &x.dk, &x.dv}) clear(*result);
    return {};
  }
  const auto blocks = (s.n + kQueryBlock - 1) / kQueryBlock;
  const auto parts = std::clamp<std::int64_t>((thread_count() + p.batch - 1) / p.batch, 1, blocks);
  const auto sums = s.m * (s.d + s.e);  // dk, then dv, of one part of one head
  BURN_TRY(const auto partial, run.pool.allocate(static_cast<std::size_t>((parts - 1) * p.batch * sums) * sizeof(T)));
  auto* rest = reinterpret_cast<T*>(partial->data());
  const auto sum_at = [&](std::int64_t index, std::int64_t part) {
    return rest + (index * (parts - 1) + part - 1) * sums;
  };
  BURN_RETURN_IF_ERROR(for_each_task<T>(
      run, p.batch * parts, p.work_of_block() * static_cast<double>(blocks), attention_grad_scratch<T>(s),
      [&](std::int64_t task, T* scratch) {
        const auto index = task / parts, part = task % parts;
        AttentionGradients<T> grad{rows_of<T>(x.y, index),   rows_of<T>(x.statistics, index), rows_of<T>(x.g, index),
                                   writable<T>(x.dq, index), writable<T>(x.dk, index),        writable<T>(x.dv, index)};
        if (part > 0) {
          grad.dk = {sum_at(index, part), s.d};
          grad.dv = {sum_at(index, part) + s.m * s.d, s.e};
        }
        for (std::int64_t row = 0; row < s.m; ++row) {
          std::fill_n(grad.dk.row(row), s.d, T{0});
          std::fill_n(grad.dv.row(row), s.e, T{0});
        }
        for (auto block = part * blocks / parts; block < (part + 1) * blocks / parts; ++block) {
          const auto begin = block * kQueryBlock;
          attend_back<T>(s, p.head<T>(index), grad, begin, std::min(begin + kQueryBlock, s.n), scratch);
        }
      }));
  if (parts == 1) return {};
  parallel_for(p.batch * s.m, kGrain / (parts * (s.d + s.e) + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      const auto index = i / s.m, row = i % s.m;
      T *to_k = writable<T>(x.dk, index).row(row), *to_v = writable<T>(x.dv, index).row(row);
      for (std::int64_t part = 1; part < parts; ++part) {
        const T *from_k = sum_at(index, part) + row * s.d, *from_v = sum_at(index, part) + s.m * s.d + row * s.e;
        for (std::int64_t c = 0; c < s.d; ++c) to_k[c] += from_k[c];
        for (std::int64_t c = 0; c < s.e; ++c) to_v[c] += from_v[c];
      }
    }
  });
  return {};
}

}  // namespace

namespace kernels {

// 16-bit floats are computed in f32.
Result<Kernel> prepare(const ir::Attention& op, const Signature& signature) {
  return Kernel([op, type = signature.result](Run& run, std::span<Array> in, std::span<Array> results) -> Status {
    const auto dtype = compute_dtype(type.dtype);
    BURN_TRY(const Prepared p, prepared(run, op, in, 3, dtype));
    BURN_TRY(const Array y, allocate_like(run, {dtype, type.shape}, p.q));
    ir::Shape rows = type.shape;
    rows[rows.rank() - 1] = 1;
    BURN_TRY(results[1], run.allocate({dtype, rows}));
    if (results[1].num_elements() > 0) {
      BURN_RETURN_IF_ERROR(dtype == ir::DType::f64 ? forward<double>(run, p, y, results[1])
                                                   : forward<float>(run, p, y, results[1]));
    }
    BURN_TRY(results[0], cast(run, y, type.dtype));
    return {};
  });
}

Result<Kernel> prepare(const ir::AttentionGrad& op, const Signature& signature) {
  return Kernel(
      [op, dtype = signature.result.dtype](Run& run, std::span<Array> in, std::span<Array> results) -> Status {
        const auto computed = compute_dtype(dtype);
        BURN_TRY(const Prepared p, prepared(run, op, in, 6, computed));
        Backward x;
        BURN_TRY(x.y, matrix_rows(run, in[3], computed));
        BURN_TRY(x.statistics, matrix_rows(run, in[4], computed));
        BURN_TRY(x.g, matrix_rows(run, in[5], computed));
        BURN_TRY(x.dq, allocate_like(run, {computed, in[0].shape()}, p.q));
        BURN_TRY(x.dk, allocate_like(run, {computed, in[1].shape()}, p.q));
        BURN_TRY(x.dv, allocate_like(run, {computed, in[2].shape()}, p.q));
        BURN_RETURN_IF_ERROR(computed == ir::DType::f64 ? backward<double>(run, p, x) : backward<float>(run, p, x));
        BURN_TRY(results[0], cast(run, x.dq, dtype));
        BURN_TRY(results[1], cast(run, x.dk, dtype));
        BURN_TRY(results[2], cast(run, x.dv, dtype));
        return {};
      });
}

}  // namespace kernels
}  // namespace burn::backends::cpu
