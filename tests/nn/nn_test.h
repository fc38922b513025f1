// Shared by the tests of nn/: devices, making and comparing numbers, error messages, and gradients checked against
// finite differences.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "nn/nn.h"

namespace burn::test {

inline const Device& cpu() {
  static const Device device{"cpu"};
  return device;
}
inline Device ad() { return cpu().autodiff(); }

template <int D, Kind K>
std::vector<double> values(const Tensor<D, K>& x) {
  return x.to_data().template to_vec_as<double>();
}

template <int D, Kind K>
void expect_near(const Tensor<D, K>& x, const std::vector<double>& expected, double tolerance = 1e-5) {
  EXPECT_THAT(values(x), ::testing::Pointwise(::testing::DoubleNear(tolerance), expected));
}

// Numbers in [-1, 1): distinct, reproducible, of both signs, in no order.
inline std::vector<double> spread(std::size_t count, int salt = 0) {
  std::vector<double> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = 2 * std::fmod(0.5 + 0.6180339887498949 * static_cast<double>(i + 1) + 0.137 * salt, 1.0) - 1;
  }
  return numbers;
}
template <int D>
Tensor<D> spread_tensor(const std::array<std::int64_t, D>& dims, const TensorOptions& options, int salt = 0) {
  const ir::Shape shape{std::span<const std::int64_t>{dims}};
  return Tensor<D>::from_data(
      TensorData(spread(static_cast<std::size_t>(ir::num_elements(shape)), salt), shape).convert<float>(), options);
}

// The message of the burn::Error that `body` throws, without the call site at its end; "" if it throws none.
template <typename Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    const std::string text = error.what();
    return text.substr(0, text.rfind(" (at "));
  }
  return "";
}

// Compares the gradients of sum(f(module, x)) in every parameter and in x with central differences. Everything runs in
// f64: the module's parameters and x are converted first. f takes a module and a Tensor<D>, and returns a tensor.
template <typename M, int D, typename F>
void expect_gradients(const M& initial, const Tensor<D>& x, F&& f, double tolerance = 1e-6) {
  const auto module_with = [&](const Device& device, const std::string& path, std::size_t element, double by) {
    M module = initial;
    module.for_each_slot([&](const std::string& name, Slot& slot) {
      auto numbers = client::to_data(slot.value).convert<double>().template to_vec<double>();
      if (name == path) numbers[element] += by;
      slot.value =
          client::from_data(TensorData(std::move(numbers), slot.value.shape()), {device, DType::f64}, DType::f64);
      if (slot.role == Slot::Role::state)
        slot.value = slot.value.inner();
      else if (device.is_autodiff())
        slot.value = client::require_grad(slot.value);
    });
    return module;
  };
  const auto x_with = [&](const Device& device, std::size_t element, double by) {
    auto numbers = x.to_data().template to_vec_as<double>();
    if (element < numbers.size()) numbers[element] += by;
    return Tensor<D>::from_data(TensorData(std::move(numbers), x.shape()), {device, DType::f64});
  };
  constexpr std::size_t kNone = SIZE_MAX;
  // The weights differ, so that a gradient of a wrong element of the result shows.
  const auto total = [&](const auto& y) {
    const TensorData weights(spread(static_cast<std::size_t>(y.num_elements()), 5), y.shape());
    return (y * std::decay_t<decltype(y)>::from_data(weights, {y.device(), DType::f64})).sum();
  };
  M module = module_with(ad(), "", 0, 0);
  const auto input = x_with(ad(), kNone, 0).require_grad();
  const auto gradients = total(f(module, input)).backward();
  const auto evaluate = [&](const M& at, const Tensor<D>& with) { return values(total(f(at, with)))[0]; };
  constexpr double kStep = 1e-5;
  const auto check = [&](const std::string& name, const std::vector<double>& got, auto&& value_at) {
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double want = (value_at(i, kStep) - value_at(i, -kStep)) / (2 * kStep);
      EXPECT_NEAR(got[i], want, tolerance * std::max(1.0, std::abs(want))) << name << ", element " << i;
    }
  };
  check("x", values(input.grad(gradients).value_or(Tensor<D>{})),
        [&](std::size_t i, double by) { return evaluate(module_with(ad(), "", 0, 0), x_with(ad(), i, by)); });
  module.for_each_slot([&](const std::string& name, Slot& slot) {
    if (slot.role == Slot::Role::state) return;
    const auto gradient = gradients.get(slot.value);
    ASSERT_TRUE(gradient.has_value()) << name;
    check(name, client::to_data(*gradient).template to_vec<double>(),
          [&](std::size_t i, double by) { return evaluate(module_with(ad(), name, i, by), x_with(ad(), kNone, 0)); });
  });
}

}  // namespace burn::test
