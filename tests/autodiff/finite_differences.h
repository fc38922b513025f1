// Gradients checked against central differences, in f64.
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "client/tensor/tensor.h"

namespace burn::test {

// A function of several f64 values that returns one f64 value of any shape.
using Function = std::function<client::Value(const std::vector<client::Value>&)>;

inline client::Value value_of(const TensorData& data, const Device& device) {
  return client::from_data(data, {device, DType::f64}, DType::f64);
}

// Numbers that are spread, distinct and reproducible: no ties, nothing on a kink of the functions tested.
inline TensorData spread(const ir::Shape& shape, double low, double high, int salt = 0) {
  const auto count = static_cast<std::size_t>(ir::num_elements(shape));
  std::vector<double> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double position = std::fmod(0.5 + 0.6180339887498949 * static_cast<double>(i + 1) + 0.137 * salt, 1.0);
    numbers[i] = low + (high - low) * position;
  }
  return {std::move(numbers), shape};
}

// Compares the gradient of sum(f(inputs) * weights), with weights from spread(), with central differences.
// `may_be_flat`: f may be independent of an input, which then has no gradient; it is compared as zeros.
inline void expect_gradients(const Function& f, const std::vector<TensorData>& inputs, double tolerance = 1e-6,
                             bool may_be_flat = false) {
  const Device cpu{"cpu"};
  const Device ad = cpu.autodiff();
  const ir::CallSite site{};
  std::vector<client::Value> leaves;
  leaves.reserve(inputs.size());
  for (const auto& input : inputs) leaves.push_back(client::require_grad(value_of(input, ad)));
  const auto y = f(leaves);
  const auto weights_data = spread(y.shape(), 0.5, 1.5, 3);
  const auto weighted_sum = [&](const client::Value& out) {
    const auto weights = value_of(weights_data, Device{out.device(), out.is_autodiff()});
    return client::reduce_all(ir::ReduceFn::sum, client::pointwise(ir::PointwiseFn::mul, out, weights, site), site);
  };
  std::optional<Gradients> gradients;
  if (y.is_tracked() || !may_be_flat) gradients = client::backward(weighted_sum(y), {}, site);
  const auto evaluate = [&](std::size_t which, std::size_t element, double by) {
    std::vector<client::Value> values;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      auto numbers = inputs[i].to_vec<double>();
      if (i == which) numbers[element] += by;
      values.push_back(value_of(TensorData(std::move(numbers), inputs[i].shape()), cpu));
    }
    return client::to_data(weighted_sum(f(values))).to_vec<double>()[0];
  };
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto gradient = gradients ? gradients->get(leaves[i]) : std::nullopt;
    if (!may_be_flat) {
      ASSERT_TRUE(gradient.has_value()) << "no gradient for input " << i;
    }
    if (gradient) {
      ASSERT_EQ(gradient->shape(), inputs[i].shape());
    }
    const auto got =
        gradient ? client::to_data(*gradient).to_vec<double>() : std::vector<double>(inputs[i].num_elements());
    for (std::size_t k = 0; k < got.size(); ++k) {
      const double want = (evaluate(i, k, kStep) - evaluate(i, k, -kStep)) / (2 * kStep);
      EXPECT_NEAR(got[k], want, tolerance * std::max(1.0, std::abs(want))) << "input " << i << ", element " << k;
    }
  }
}

// The gradient of sum(f(inputs)^2) with respect to one input, as a function of all inputs. f is squared so that there
// is a second derivative even where f is linear.
inline Function gradient_of(const Function& f, std::size_t which) {
  return [f, which](const std::vector<client::Value>& inputs) {
    const ir::CallSite site{};
    const bool is_tracked = inputs[0].is_tracked();
    auto leaves = inputs;
    if (!is_tracked) {  // differences are taken with untracked inputs: track them here, to compute the gradient
      for (auto& leaf : leaves) leaf = client::require_grad(leaf.from_inner());
    }
    const auto y = f(leaves);
    const auto total = client::reduce_all(ir::ReduceFn::sum, client::pointwise(ir::PointwiseFn::mul, y, y, site), site);
    const auto gradient = client::backward(total, {.create_graph = is_tracked}, site).get(leaves[which]);
    return is_tracked ? *gradient : gradient->inner();
  };
}

// Checks both orders: the gradients of f, and the gradients of those gradients, for every pair of inputs.
inline void expect_both_orders(const Function& f, const std::vector<TensorData>& inputs, double tolerance = 1e-6) {
  expect_gradients(f, inputs, tolerance);
  for (std::size_t which = 0; which < inputs.size() && !::testing::Test::HasFatalFailure(); ++which) {
    SCOPED_TRACE("the gradient of input " + std::to_string(which));
    expect_gradients(gradient_of(f, which), inputs, std::max(10 * tolerance, 2e-5), true);
  }
}

}  // namespace burn::test
