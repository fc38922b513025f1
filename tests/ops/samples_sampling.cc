// Interpolation and recurrences.
#include <limits>

#include "ir/enums.h"
#include "tests/ops/sample_builder.h"

namespace burn::testing {
namespace {

using ir::Dims;
using ir::DType;
using ir::InterpolateMode;
using ir::Shape;

struct ResizeCase {
  Shape input;
  Dims output;
};

std::vector<Sample> resize_samples(bool backward) {
  constexpr InterpolateMode kModes[] = {InterpolateMode::nearest, InterpolateMode::nearest_exact,
                                        InterpolateMode::bilinear, InterpolateMode::bicubic, InterpolateMode::lanczos3};
  const std::vector<ResizeCase> cases = {{{2, 3, 7}, {12}},      {{1, 2, 9}, {4}},          {{2, 3, 4, 5}, {8, 10}},
                                         {{1, 2, 9, 8}, {4, 3}}, {{1, 2, 1, 6}, {3, 1}},    {{2, 1, 2, 2}, {23, 17}},
                                         {{0, 2, 3, 3}, {5, 5}}, {{1, 2, 70, 90}, {9, 200}}};
  std::vector<Sample> all;
  for (const auto& c : cases) {
    Shape resized = c.input;
    for (int i = 0; i < c.output.rank(); ++i) resized[i + 2] = c.output[i];
    const Dims in_size(c.input.span().subspan(2));
    for (const auto mode : kModes) {
      for (const bool align_corners : {false, true}) {
        for (const auto dtype : kFloats) {
          for (const auto view : {View::plain, View::strided, View::expanded}) {
            const bool is_usual = dtype == DType::f32;
            if (!is_usual && view != View::plain) continue;
            SampleBuilder sample(std::string(ir::name(dtype)) + to_string(c.input) + to_string(c.output) +
                                 std::to_string(static_cast<int>(mode)) + (align_corners ? "corners" : "") +
                                 std::string(name(view)));
            const auto op = backward ? ir::Op(ir::InterpolateGrad{in_size, mode, align_corners})
                                     : ir::Op(ir::Interpolate{c.output, mode, align_corners});
            // Gradients of upsampling sum many elements.
            all.push_back(
                sample.finish({sample.add(op, {sample.view({dtype, backward ? resized : c.input}, view)})}, 4, 10));
          }
        }
      }
    }
  }
  return all;
}

std::vector<Sample> scan_samples() {
  struct Case {
    std::int64_t n, rows, band, width;
  };
  std::vector<Sample> all;
  for (const auto& [n, rows, band, width] :
       {Case{1, 1, 1, 1}, Case{2, 5, 3, 7}, Case{3, 6, 2, 300}, Case{1, 4, 5, 3}, Case{2, 40, 1, 4}, Case{0, 3, 2, 4},
        Case{2, 0, 2, 4}, Case{2, 3, 0, 4}, Case{2, 3, 2, 0}}) {
    for (const auto semiring : {ir::Semiring::linear, ir::Semiring::log}) {
      for (const bool adjoint : {false, true}) {
        for (const auto dtype : {DType::f32, DType::f64}) {
          for (const auto view : {View::plain, View::strided, View::expanded}) {
            SampleBuilder sample(std::string(ir::name(dtype)) + to_string(Shape{n, rows, band, width}) +
                                 std::string(ir::name(semiring)) + (adjoint ? "adjoint" : "") +
                                 std::string(name(view)));
            const auto b = sample.view({dtype, {n, rows, width}}, view);
            auto w = sample.view({dtype, {n, rows, band, width}}, view);
            // Sums that do not explode: weights of a tenth, or in logarithms not at all.
            if (semiring == ir::Semiring::linear) {
              const auto tenth = sample.add(ir::Constant{.dtype = dtype, .real = 0.1}, {});
              w = sample.add(ir::Pointwise{ir::PointwiseFn::mul}, {w, tenth});
            }
            all.push_back(sample.finish({sample.add(ir::BandedScan{semiring, adjoint}, {b, w})}, 8, 10));
          }
        }
      }
    }
  }
  return all;
}

// Logarithms of 0, as in lattices with places that cannot be reached.
std::vector<Sample> unreachable_samples() {
  std::vector<Sample> all;
  for (const bool adjoint : {false, true}) {
    for (const auto dtype : {DType::f32, DType::f64}) {
      SampleBuilder sample(std::string(ir::name(dtype)) + "unreachable" + (adjoint ? "adjoint" : ""));
      const auto nothing =
          sample.add(ir::Constant{.dtype = dtype, .real = -std::numeric_limits<double>::infinity()}, {});
      const auto sometimes = [&](const Shape& shape) {
        const auto x = sample.view({dtype, shape}, View::plain);
        const auto zero = sample.add(ir::Constant{.dtype = dtype, .real = 0}, {});
        const auto is_low = sample.add(ir::Pointwise{ir::PointwiseFn::lower}, {x, zero});
        return sample.add(ir::Pointwise{ir::PointwiseFn::select}, {is_low, nothing, x});
      };
      const auto b = sometimes({3, 6, 5}), w = sometimes({3, 6, 2, 5});
      all.push_back(sample.finish({sample.add(ir::BandedScan{ir::Semiring::log, adjoint}, {b, w})}, 8, 10));
    }
  }
  return all;
}

}  // namespace

std::vector<Sample> sampling_samples(std::string_view op) {
  if (op == "interpolate") return resize_samples(false);
  if (op == "interpolate_grad") return resize_samples(true);
  return {};
}

std::vector<Sample> lattice_samples(std::string_view op) {
  if (op != "banded_scan") return {};
  auto all = scan_samples();
  for (auto& sample : unreachable_samples()) all.push_back(std::move(sample));
  return all;
}

}  // namespace burn::testing
