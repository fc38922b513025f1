// Transforms of every kind of length: powers of two, products of small primes, primes, and beside them views and axes.
#include "tests/ops/sample_builder.h"

namespace burn::testing {
namespace {

using ir::DType;

constexpr DType kReal[] = {DType::f64, DType::f32};
constexpr std::int64_t kLengths[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 29, 30, 37, 49, 64, 74, 97, 100, 128, 210};

// A sum of n numbers up to 3, turned.
double cancelled(std::int64_t n) { return 3.0 * static_cast<double>(n); }

// Calls add(type, axis, view): the length is that of the axis.
template <typename Add>
void for_types(const Add& add) {
  for (const auto dtype : kReal) {
    for (const auto n : kLengths) add(ir::TensorType{dtype, {2, n}}, 1, View::plain);
    for (const std::int64_t n : {5, 12, 37}) {
      add(ir::TensorType{dtype, {n}}, 0, View::plain);
      add(ir::TensorType{dtype, {2, n, 3}}, 1, View::plain);
      add(ir::TensorType{dtype, {n, 20}}, 0, View::plain);
      add(ir::TensorType{dtype, {40, 1, n}}, 2, View::plain);
      add(ir::TensorType{dtype, {1, 2, 1, 2, n}}, 4, View::plain);
      for (const auto view : {View::transposed, View::strided, View::reversed, View::expanded})
        add(ir::TensorType{dtype, {3, n, 2}}, 1, view);
    }
  }
  add(ir::TensorType{DType::f32, {0, 4}}, 1, View::plain);
  add(ir::TensorType{DType::f64, {3, 1009}}, 1, View::plain);  // a prime
  add(ir::TensorType{DType::f32, {2048}}, 0, View::plain);
}

std::string title(const ir::TensorType& type, std::int64_t axis, View view, std::string_view what = {}) {
  return to_string(type) + " axis " + std::to_string(axis) + " " + std::string(name(view)) + std::string(what);
}

std::vector<Sample> fft_samples() {
  std::vector<Sample> all;
  for (const bool inverse : {false, true}) {
    for_types([&](const ir::TensorType& type, int axis, View view) {
      SampleBuilder sample(title(type, axis, view, inverse ? " inverse" : ""));
      const auto re = sample.view(type, view), im = sample.view(type, View::plain);
      const auto y = sample.add(ir::Fft{axis, inverse}, {re, im});
      all.push_back(sample.finish({y, y.result(1)}, 1, cancelled(type.shape[axis])));
    });
  }
  SampleBuilder sample("of nothing");
  const auto x = sample.input({DType::f32, {2, 0}});
  const auto y = sample.add(ir::Fft{1, false}, {x, x});
  all.push_back(sample.finish({y, y.result(1)}));
  return all;
}

std::vector<Sample> real_fft_samples() {
  std::vector<Sample> all;
  for_types([&](const ir::TensorType& type, int axis, View view) {
    SampleBuilder sample(title(type, axis, view));
    const auto y = sample.add(ir::RealFft{axis}, {sample.view(type, view)});
    all.push_back(sample.finish({y, y.result(1)}, 1, cancelled(type.shape[axis])));
  });
  return all;
}

std::vector<Sample> inverse_real_fft_samples() {
  std::vector<Sample> all;
  for_types([&](const ir::TensorType& type, int axis, View view) {
    SampleBuilder sample(title(type, axis, view));
    ir::TensorType half = type;
    half.shape[axis] = type.shape[axis] / 2 + 1;
    const auto re = sample.view(half, View::plain), im = sample.view(half, view);
    all.push_back(sample.finish({sample.add(ir::InverseRealFft{axis, type.shape[axis]}, {re, im})}, 1,
                                cancelled(type.shape[axis])));
  });
  return all;
}

}  // namespace

std::vector<Sample> fourier_samples(std::string_view op) {
  if (op == ir::Fft::kName) return fft_samples();
  if (op == ir::RealFft::kName) return real_fft_samples();
  if (op == ir::InverseRealFft::kName) return inverse_real_fft_samples();
  return {};
}

}  // namespace burn::testing
