// Matrices at sizes where devices change their ways: by blocks, by a library one by one, or many in one call. The
// catalogue has the small ones. Products are compared on a few vectors, so that large matrices cost little.
#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/backends/test_device.h"

namespace burn::testing {

using ir::DType;
using Vector = std::vector<double>;

// Matrix `k` of a batch.
class Matrix {
 public:
  Matrix(const reference::Tensor& of, std::int64_t k)
      : of_(&of),
        rows_(of.type.shape[of.type.shape.rank() - 2]),
        columns_(of.type.shape.back()),
        first_(static_cast<std::size_t>(k * rows_ * columns_)) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  double at(std::int64_t i, std::int64_t j) const {
    return of_->get<double>(first_ + static_cast<std::size_t>(i * columns_ + j));
  }
  // Multiplies by v; elements (i, j) for which `keep(i, j)` is false count as 0.
  template <typename Keep>
  Vector times(const Vector& v, const Keep& keep) const {
    Vector y(static_cast<std::size_t>(rows_));
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) {
        if (keep(i, j)) y[static_cast<std::size_t>(i)] += at(i, j) * v[static_cast<std::size_t>(j)];
      }
    }
    return y;
  }
  Vector times(const Vector& v) const {
    return times(v, [](auto, auto) { return true; });
  }
  Vector transpose_times(const Vector& v) const {
    Vector y(static_cast<std::size_t>(columns_));
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j)
        y[static_cast<std::size_t>(j)] += at(i, j) * v[static_cast<std::size_t>(i)];
    }
    return y;
  }
  double norm() const {
    double sum = 0;
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) sum += at(i, j) * at(i, j);
    }
    return std::sqrt(sum);
  }

 private:
  const reference::Tensor* of_;
  std::int64_t rows_, columns_;
  std::size_t first_;
};

inline Vector probe(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  Vector v(static_cast<std::size_t>(n));
  for (auto& x : v) x = std::normal_distribution<double>()(random);
  return v;
}

inline double distance(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

struct Problem {
  DType dtype;
  std::int64_t count, rows, columns;

  ir::TensorType type() const { return {dtype, {count, rows, columns}}; }
  double epsilon() const {
    return dtype == DType::f64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  }
  // The allowed error of a product with a probe vector.
  double tolerance(double norm) const {
    const auto n = static_cast<double>(std::max(rows, columns));
    return 20 * epsilon() * n * (1 + norm);
  }
  std::string text() const { return to_string(type()); }
};

enum class Fill : std::uint8_t { random, symmetric, positive, low_rank };

inline reference::Tensor made(const Problem& p, Fill fill, unsigned seed = 1) {
  reference::Tensor x(p.type());
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (std::int64_t k = 0; k < p.count; ++k) {
    const Vector u = probe(p.rows, seed + 2), v = probe(p.columns, seed + 3);
    for (std::int64_t i = 0; i < p.rows; ++i) {
      for (std::int64_t j = 0; j < p.columns; ++j) {
        const auto at = static_cast<std::size_t>((k * p.rows + i) * p.columns + j);
        if (fill == Fill::low_rank) {
          x.set(at, u[static_cast<std::size_t>(i)] * v[static_cast<std::size_t>(j)] +
                        static_cast<double>((i % 2) * (j % 3)));
          continue;
        }
        const bool mirrors = fill != Fill::random && j > i;
        x.set(at, normal(random));
        if (mirrors) continue;
        if (fill != Fill::random && j < i)
          x.set_bits(static_cast<std::size_t>((k * p.rows + j) * p.columns + i), x.bits[at]);
        if (fill == Fill::positive && i == j) x.set(at, 4 * std::sqrt(static_cast<double>(p.rows)) + 1);
      }
    }
  }
  return x;
}

// NaN above the diagonals of square matrices, for ops that do not read what lies there.
inline void spoil_above_diagonal(reference::Tensor& x, const Problem& p) {
  for (std::int64_t k = 0; k < p.count; ++k) {
    for (std::int64_t i = 0; i < p.rows; ++i) {
      for (std::int64_t j = i + 1; j < p.rows; ++j)
        x.set(static_cast<std::size_t>((k * p.rows + i) * p.rows + j), std::nan(""));
    }
  }
}

inline std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (const auto& kind : backends::backend_kinds()) {
    if (kind.computes && kind.name != "null") names.push_back(kind.name);
  }
  return names;
}

class Factors : public ::testing::TestWithParam<std::string> {
 protected:
  using Outputs = std::vector<reference::Tensor>;

  // All results of the op. `transpose`: the first operand is read through a transposed view of what is given.
  Result<Outputs> run(const ir::Op& op, const std::vector<reference::Tensor>& inputs, bool transpose = false) {
    ir::ProgramBuilder builder;
    std::vector<ir::Ref> operands;
    operands.reserve(inputs.size());
    for (const auto& input : inputs) operands.push_back(builder.add_input(input.type));
    if (transpose) operands[0] = builder.add(ir::Permute{{0, 2, 1}}, {&operands[0], 1})->result(0);
    const auto y = *builder.add(op, operands);
    std::vector<ir::Ref> outputs;
    outputs.reserve(static_cast<std::size_t>(ir::result_count(op)));
    for (int k = 0; k < ir::result_count(op); ++k) outputs.push_back(y.result(k));
    return run_program(device_, builder.finish(outputs), inputs);
  }
  Outputs results(const ir::Op& op, const std::vector<reference::Tensor>& inputs) {
    auto found = run(op, inputs);
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    return found.ok() ? *std::move(found) : Outputs{};
  }

  bool is_gpu() const { return GetParam() == "cuda"; }
  std::vector<Problem> squares() const {
    std::vector<Problem> all;
    for (const auto dtype : {DType::f32, DType::f64}) {
      for (const std::int64_t n : {1, 2, 31, 48, 64, 97, 128, 200}) all.push_back({dtype, 1, n, n});
      for (const std::int64_t n : {3, 64, 130}) all.push_back({dtype, 17, n, n});
      if (!is_gpu()) continue;
      for (const std::int64_t n : {256, 513, 1024}) all.push_back({dtype, 1, n, n});
      all.push_back({dtype, 6, 300, 300});
      all.push_back({dtype, 100, 48, 48});
    }
    return all;
  }
  std::vector<Problem> rectangles() const {
    auto all = squares();
    for (const auto dtype : {DType::f32, DType::f64}) {
      for (const std::int64_t count : {1, 5}) {
        all.push_back({dtype, count, 300, 130});
        all.push_back({dtype, count, 130, 220});
        all.push_back({dtype, count, 70, 2});
        all.push_back({dtype, count, 1, 40});
      }
    }
    return all;
  }

  TestDevice device_{GetParam()};
};

}  // namespace burn::testing
