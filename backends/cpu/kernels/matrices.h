// Code shared by kernels over batches of matrices: matrices in LAPACK's layout, and work spread over a batch.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/lapack.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/run.h"
#include "ir/node_errors.h"

namespace burn::backends::cpu {

// The sizes of a batch of matrices.
struct MatrixBatch {
  std::int64_t count = 1, rows = 0, columns = 0;

  explicit MatrixBatch(const ir::Shape& shape) : rows(shape[shape.rank() - 2]), columns(shape.back()) {
    for (int i = 0; i < shape.rank() - 2; ++i) count *= shape[i];
  }
  std::int64_t size() const { return rows * columns; }  // of one
  std::int64_t least() const { return std::min(rows, columns); }
  bool is_empty() const { return count * size() == 0; }
};

inline ir::Dims last_two_swapped(int rank) {
  ir::Dims axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  std::swap(axes[rank - 2], axes[rank - 1]);
  return axes;
}

// Exchanges rows and columns: a view.
inline Array transposed(const Array& x) { return x.permuted(last_two_swapped(x.rank())); }

inline ir::TensorType transposed(ir::TensorType type) {
  std::swap(type.shape[type.shape.rank() - 2], type.shape[type.shape.rank() - 1]);
  return type;
}

// The operand's matrices stored column by column (their transposes row by row), in memory that may be overwritten.
inline Result<Array> column_major(Run& run, Array& operand) {
  Array view = transposed(operand);
  operand = Array();  // not needed any more, so that it may be overwritten
  return writable(run, view);
}

inline Status check_lapack_sizes(const MatrixBatch& batch) {
  constexpr std::int64_t kMax = std::numeric_limits<lapack::Int>::max();
  if (std::max(batch.rows, batch.columns) <= kMax) return {};
  return unimplemented(fmt::format("a matrix of {} x {}: LAPACK counts to {}", batch.rows, batch.columns, kMax));
}

// The work space must be countable in LAPACK's 32 bits: LAPACK computes offsets in it by sums that would wrap.
inline Status check_lapack_work(const MatrixBatch& batch, double numbers) {
  constexpr double kMax = std::numeric_limits<lapack::Int>::max();
  if (numbers <= kMax) return {};
  return unimplemented(fmt::format("a matrix of {} x {} wants {:.0f} numbers to work with: LAPACK counts to {:.0f}",
                                   batch.rows, batch.columns, numbers, kMax));
}

// Work space of LAPACK from the pool, for matrices that are processed at the same time.
class LapackWorkspaces {
 public:
  explicit LapackWorkspaces(Pool& pool) : pool_(pool) {}

  // An allocator for one of them; its memory is valid as long as the function object.
  template <typename T>
  lapack::WorkspaceAllocator<T> allocator() {
    return [this, block = CpuBufferPtr()](std::size_t numbers) mutable -> T* {
      if (!block || block->size() < numbers * sizeof(T)) {
        block.reset();
        auto made = pool_.allocate(numbers * sizeof(T));
        if (!made.ok()) {
          const std::lock_guard lock(mutex_);
          status_ = made.status();
          return nullptr;
        }
        block = *std::move(made);
      }
      return reinterpret_cast<T*>(block->data());
    };
  }
  // To be called when all are done: not ok if there was too little memory for one.
  const Status& status() const { return status_; }

 private:
  Pool& pool_;
  std::mutex mutex_;
  Status status_;
};

// The number of threads that the library may use for each matrix: all of them for a single large one.
inline int threads_for(const MatrixBatch& batch) {
  constexpr std::int64_t kLarge = 256;
  return batch.count == 1 && batch.least() >= kLarge ? thread_count() : 1;
}

// Calls body(k) for each matrix, on several threads.
template <typename Body>
void for_each_matrix(const MatrixBatch& batch, const Body& body) {
  const LibraryThreads used(threads_for(batch));
  const auto work = std::max<std::int64_t>(1, batch.size() * batch.least());
  parallel_for(batch.count, std::max<std::int64_t>(1, kGrain / work), [&](std::int64_t begin, std::int64_t end) {
    for (auto k = begin; k < end; ++k) body(k);
  });
}

// The first matrix that failed, and its failure; found() may be called by several threads.
class FirstFailure {
 public:
  void found(std::int64_t matrix, std::int64_t what) {
    const auto mine = static_cast<std::uint64_t>(matrix) << 32 | static_cast<std::uint64_t>(what);
    auto before = first_.load();
    while (mine < before && !first_.compare_exchange_weak(before, mine)) {
    }
  }
  bool any() const { return first_.load() != kNone; }
  std::int64_t matrix() const { return static_cast<std::int64_t>(first_.load() >> 32); }
  std::int64_t what() const { return static_cast<std::int64_t>(first_.load() & 0xffffffff); }
  ir::MatrixFailure of(const MatrixBatch& batch) const {
    return {.matrix = matrix(), .count = batch.count, .rows = batch.rows, .columns = batch.columns, .number = what()};
  }

 private:
  static constexpr auto kNone = std::numeric_limits<std::uint64_t>::max();
  std::atomic<std::uint64_t> first_ = kNone;
};

// float or double: the shape rules accept no others.
template <typename Body>
void dispatch_real(ir::DType dtype, const Body& body) {
  if (dtype == ir::DType::f64)
    body.template operator()<double>();
  else
    body.template operator()<float>();
}

}  // namespace burn::backends::cpu
