// Matrices of a batch in memory, one after the other and row-major, for kernels in which a thread has a matrix to
// itself.
#pragma once

#include <fmt/format.h>

#include "compile/codegen/kernel/functions.h"
#include "compile/codegen/kernels/arguments.h"
#include "ir/node_errors.h"

namespace burn::compile::kernels {

struct MatrixBatch {
  std::int64_t count = 1, rows = 0, columns = 0;

  explicit MatrixBatch(const ir::Shape& shape) : rows(shape[shape.rank() - 2]), columns(shape.back()) {
    for (int i = 0; i < shape.rank() - 2; ++i) count *= shape[i];
  }
  std::int64_t least() const { return std::min(rows, columns); }
};

// A kernel with a thread for each matrix, which `body` writes.
class MatrixKernel {
 public:
  explicit MatrixKernel(std::int64_t matrices)
      : writer_(32), arguments_(writer_, ir::DType::i64), matrices_(matrices), matrix_(arguments_.position()) {}

  kernel::Writer& writer() { return writer_; }
  Arguments& arguments() { return arguments_; }
  kernel::Value matrix() const { return matrix_; }  // the thread's
  kernel::Value constant(std::int64_t number) { return arguments_.constant(number); }

  void launch(Emitter& emit, const std::function<void()>& body) {
    writer_.when(matrix_ < arguments_.number(matrices_), body);
    arguments_.launch(emit, matrices_);
  }

  // body(i) from a number to before another.
  void each(kernel::Value begin, kernel::Value end, const std::function<void(kernel::Value)>& body) {
    writer_.loop(begin, end, constant(1), body);
  }
  void each_pair(kernel::Value i0, kernel::Value i1, kernel::Value j0, kernel::Value j1,
                 const std::function<void(kernel::Value, kernel::Value)>& body) {
    each(i0, i1, [&](kernel::Value i) { each(j0, j1, [&](kernel::Value j) { body(i, j); }); });
  }
  // body(i) from one before `end` down to 0.
  void each_down(kernel::Value end, const std::function<void(kernel::Value)>& body) {
    each(constant(0), end, [&](kernel::Value step) { body(end - 1 - step); });
  }
  kernel::Value sum(ir::DType type, kernel::Value begin, kernel::Value end,
                    const std::function<kernel::Value(kernel::Value)>& term) {
    const auto total = writer_.variable(writer_.constant(type, 0.0));
    each(begin, end, [&](kernel::Value i) { total.set(total.get() + term(i)); });
    return total.get();
  }
  // As Emitter::report() takes it: the matrix, and a number that the host explains.
  void report(kernel::Memory to, kernel::Value number) {
    writer_.store(to, writer_.index(0), (matrix_ << 32) | number);
    writer_.store(to, writer_.index(1), constant(1));
  }

 private:
  kernel::Writer writer_;
  Arguments arguments_;
  std::int64_t matrices_;
  kernel::Value matrix_;
};

// The thread's matrix of so many columns in memory.
class MatrixInMemory {
 public:
  MatrixInMemory(MatrixKernel& of, kernel::Memory memory, kernel::Value rows, kernel::Value columns)
      : writer_(&of.writer()), memory_(memory), begin_(of.matrix() * rows * columns), columns_(columns) {}

  kernel::Value get(kernel::Value i, kernel::Value j) const { return writer_->load(memory_, at(i, j)); }
  void set(kernel::Value i, kernel::Value j, kernel::Value value) const { writer_->store(memory_, at(i, j), value); }
  void swap(kernel::Value i, kernel::Value j, kernel::Value k, kernel::Value l) const {
    const kernel::Value first = get(i, j), second = get(k, l);
    set(i, j, second);
    set(k, l, first);
  }

 private:
  kernel::Value at(kernel::Value i, kernel::Value j) const { return begin_ + i * columns_ + j; }

  kernel::Writer* writer_;
  kernel::Memory memory_;
  kernel::Value begin_, columns_;
};

inline Address matrix_report(Emitter& emit, const MatrixBatch& batch, Status (*explain)(const ir::MatrixFailure&)) {
  return emit.report([batch, explain](std::int64_t found) {
    return explain({.matrix = found >> 32,
                    .count = batch.count,
                    .rows = batch.rows,
                    .columns = batch.columns,
                    .number = found & 0xffffffff});
  });
}

// A row-major copy, which may be written over.
inline View copy_of(Emitter& emit, const View& view) {
  const View copy = emit.scratch_value({view.dtype, view.shape});
  emit.copy(view, copy);
  return copy;
}

}  // namespace burn::compile::kernels
