#include "tests/ops/samples.h"

#include <cmath>

#include <fmt/format.h>

#include "tests/ops/op_case.h"
#include "tests/ops/sample_builder.h"

namespace burn::testing {
namespace {

// Relative, and absolute near zero.
struct Tolerance {
  double relative, absolute;
};

Tolerance tolerance(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::f64:
      return {1e-12, 1e-13};
    case ir::DType::f32:
      return {1e-5, 1e-6};
    case ir::DType::f16:
      return {1e-3, 1e-4};
    case ir::DType::bf16:
      return {8e-3, 1e-3};
    default:
      return {0, 0};
  }
}

bool close(double a, double b, Tolerance limit, double slack, double cancelled) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  return std::abs(a - b) <= slack * (limit.absolute + limit.relative * (std::abs(b) + cancelled));
}

}  // namespace

std::vector<Sample> samples(std::string_view op) {
  if (const auto fn = ir::parse_pointwise(op)) return pointwise_samples(*fn);
  for (const auto& one : op_cases()) {
    if (one.op == op) return one.samples;
  }
  for (const auto family : {source_samples, axis_samples, move_samples, window_samples, attention_samples,
                            sampling_samples, lattice_samples, linalg_samples, fourier_samples, collective_samples}) {
    if (auto found = family(op); !found.empty()) return found;
  }
  return {};
}

std::string first_difference(const reference::Tensor& actual, const reference::Tensor& expected, double slack,
                             double cancelled) {
  if (actual.type != expected.type) {
    return fmt::format("type {}, expected {}", to_string(actual.type), to_string(expected.type));
  }
  const auto limit = tolerance(expected.type.dtype);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (ir::is_floating(expected.type.dtype)) {
      const auto a = actual.get<double>(i), b = expected.get<double>(i);
      if (!close(a, b, limit, slack, cancelled)) return fmt::format("element {} is {}, expected {}", i, a, b);
    } else if (actual.bits[i] != expected.bits[i]) {
      return fmt::format("element {} is {}, expected {}", i, actual.get<std::int64_t>(i),
                         expected.get<std::int64_t>(i));
    }
  }
  return {};
}

}  // namespace burn::testing
