// The rule by which an optimizer changes one parameter: what users write to bring an optimizer of their own.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "client/value.h"

namespace burn::optim {

// What a rule remembers of one parameter.
struct TensorState {
  std::int64_t step = 0;               // steps taken
  std::vector<client::Value> tensors;  // in the order of state_names(); empty before the first step
};

// What a rule does with a sparse gradient, one that has some rows of its parameter (client/ops/sparse_gradient.h).
struct SparseSupport {
  std::string_view refusal{};  // why it takes none, for the error of the step; empty: it takes them
  bool as_dense = false;       // made dense first, as the step moves rows without a gradient, too
};

// A tensor that a rule remembers of a parameter.
struct StateTensor {
  std::string_view name;
  ir::Shape shape;
};

// Immutable, shared between parameters and threads.
//
// All numbers of a step travel as scalars of its run, made once and used by every parameter: what changes from step to
// step (a learning rate, a bias correction) must not be written into the recorded operations, or each step would be a
// program of its own.
class TensorOptimizer {
 public:
  virtual ~TensorOptimizer() = default;

  virtual std::string_view name() const = 0;                          // "adam": says in a record whose state it is
  virtual std::span<const std::string_view> state_names() const = 0;  // of the tensors it keeps
  // Those of a parameter of this shape: all of state_names(), of the parameter's shape, if nothing else is said.
  virtual std::vector<StateTensor> state_tensors(const ir::Shape& param) const;

  // The numbers that update() uses in a parameter's `step`-th step, which counts from 1.
  virtual std::vector<double> numbers(double lr, std::int64_t step) const = 0;
  // Records the step: returns the new parameter and puts the new state in place of the old. Parameter and gradient are
  // of one shape, all are of one dtype (f32 where the parameter has 16 bits), on the inner device; `numbers` are rank-0
  // tensors.
  virtual client::Value update(std::span<const client::Value> numbers, const client::Value& param,
                               const client::Value& gradient, std::vector<client::Value>& state) const = 0;

  // Whether a sparse gradient is taken, and how: row by row, unless it says otherwise.
  virtual SparseSupport sparse_gradients() const {
    return {.refusal = "it moves every row; take SgdConfig, AdamConfig or AdaGradConfig for it, or a dense gradient"};
  }
  // The step of rows that a sparse gradient has, the same as update() if nothing else is said: all are [n, ...], rows
  // of the parameter, of the gradient and of the state, which is never empty. Rows that the gradient has not stay as
  // they are, with what is remembered of them.
  virtual client::Value update_rows(std::span<const client::Value> numbers, const client::Value& rows,
                                    const client::Value& gradient, std::vector<client::Value>& state) const {
    return update(numbers, rows, gradient, state);
  }
};

}  // namespace burn::optim
