// The rule by which an optimizer updates one parameter: implement it to define an optimizer.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "client/value.h"

namespace burn::optim {

// A rule's state for one parameter.
struct TensorState {
  std::int64_t step = 0;               // steps taken
  std::vector<client::Value> tensors;  // in the order of state_names(); empty before the first step
};

// How a rule handles a sparse gradient, which has only some rows of its parameter (client/ops/sparse_gradient.h).
struct SparseSupport {
  std::string_view refusal{};  // why it rejects them, for the step's error; empty: accepted
  bool as_dense = false;       // converts to dense: the step also moves rows without a gradient
};

// A tensor of a rule's state.
struct StateTensor {
  std::string_view name;
  ir::Shape shape;
};

// Immutable, shared between parameters and threads.
//
// All numbers of a step are passed as scalars of its run, created once and used by every parameter. Numbers that change
// from step to step (a learning rate, a bias correction) must not be constants of the recorded ops, or each step would
// be a different program.
class TensorOptimizer {
 public:
  virtual ~TensorOptimizer() = default;

  virtual std::string_view name() const = 0;                          // "adam": identifies the state in a record
  virtual std::span<const std::string_view> state_names() const = 0;  // names of its state's tensors
  // The state tensors for a parameter of this shape. Default: all of state_names(), of the parameter's shape.
  virtual std::vector<StateTensor> state_tensors(const ir::Shape& param) const;

  // The numbers that update() uses in a parameter's `step`-th step, which counts from 1.
  virtual std::vector<double> numbers(double lr, std::int64_t step) const = 0;
  // Records the step: returns the new parameter and replaces the state by the new one. Parameter and gradient have the
  // same shape; all have the same dtype (f32 if the parameter has 16 bits) and are on the inner device; `numbers` are
  // rank-0 tensors.
  virtual client::Value update(std::span<const client::Value> numbers, const client::Value& param,
                               const client::Value& gradient, std::vector<client::Value>& state) const = 0;

  // Whether sparse gradients are accepted, and how. The default rejects them.
  virtual SparseSupport sparse_gradients() const {
    return {.refusal = "it moves every row; take SgdConfig, AdamConfig or AdaGradConfig for it, or a dense gradient"};
  }
  // The step for the rows of a sparse gradient; by default the same as update(). All tensors are [n, ...]: rows of the
  // parameter, of the gradient and of the state, which is never empty. Other rows and their state do not change.
  virtual client::Value update_rows(std::span<const client::Value> numbers, const client::Value& rows,
                                    const client::Value& gradient, std::vector<client::Value>& state) const {
    return update(numbers, rows, gradient, state);
  }
};

}  // namespace burn::optim
