// The gradient of a convolution's weights as matrix products: for every item of the batch, the gradient of its result
// [c_out, positions] times the inputs of each weight [c_in kernel, positions], transposed. These inputs are written out
// for a few rows of the result at a time, so that they stay in the second-level cache.
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/conv.h"
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/interrupt.h"

namespace burn::backends::cpu {
namespace {

class WeightProducts final : public ConvPrimitive {
 public:
  explicit WeightProducts(const ConvProblem& problem)
      : p_(problem),
        channels_(problem.input[1]),
        height_(problem.input[2]),
        width_(problem.input[3]),
        taps_(channels_ * problem.weight[2] * problem.weight[3]),
        out_height_(problem.output[2]),
        out_width_(problem.output[3]),
        rows_(std::clamp<std::int64_t>(kSeen / (taps_ * out_width_), 1, out_height_)) {}

  Status run(Run& run, const float* input, const float* gradient, float* result) const override {
    const auto parts = std::min<std::int64_t>(thread_count(), p_.input[0]);
    const auto weights = ir::num_elements(p_.weight), seen = taps_ * rows_ * out_width_;
    const auto bytes = static_cast<std::size_t>(parts * (weights + seen)) * sizeof(float);
    BURN_TRY(const auto scratch, run.pool.allocate(bytes));
    auto* sums = reinterpret_cast<float*>(scratch->data());
    parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto part = begin; part < end; ++part) {
        add_items(part * p_.input[0] / parts, (part + 1) * p_.input[0] / parts, input, gradient, sums + part * weights,
                  sums + parts * weights + part * seen);
      }
    });
    std::copy_n(sums, weights, result);  // in order, so that the sum is reproducible
    for (std::int64_t part = 1; part < parts; ++part) {
      for (std::int64_t i = 0; i < weights; ++i) result[i] += sums[part * weights + i];
    }
    return {};
  }

 private:
  static constexpr std::int64_t kSeen = 1 << 16;  // numbers written out at a time

  void add_items(std::int64_t begin, std::int64_t end, const float* input, const float* gradient, float* sum,
                 float* seen) const {
    const auto c_out = p_.output[1], positions = out_height_ * out_width_;
    bool is_first = true;
    for (auto item = begin; item < end; ++item) {
      for (std::int64_t row = 0; row < out_height_; row += rows_) {
        throw_if_interrupted();
        const auto rows = std::min(rows_, out_height_ - row), k = rows * out_width_;
        write_seen(input + item * channels_ * height_ * width_, row, rows, seen);
        multiply_here(Product<float>{.m = c_out,
                                     .n = taps_,
                                     .k = k,
                                     .a = {gradient + item * c_out * positions + row * out_width_, positions, false},
                                     .b = {seen, k, true},
                                     .c = sum,
                                     .c_stride = taps_,
                                     .beta = is_first ? 0.0f : 1.0f});
        is_first = false;
      }
    }
  }

  // seen[tap][position]: the input under every weight, for the positions of some rows of the result.
  void write_seen(const float* item, std::int64_t row, std::int64_t rows, float* seen) const {
    for (std::int64_t c = 0; c < channels_; ++c) {
      for (std::int64_t i = 0; i < p_.weight[2]; ++i) {
        for (std::int64_t j = 0; j < p_.weight[3]; ++j) {
          for (std::int64_t r = row; r < row + rows; ++r, seen += out_width_) {
            const auto y = r * p_.stride[0] + i * p_.dilation[0] - p_.pad_begin[0];
            if (y < 0 || y >= height_)
              std::fill_n(seen, out_width_, 0.0f);
            else
              write_line(item + (c * height_ + y) * width_, j * p_.dilation[1] - p_.pad_begin[1], seen);
          }
        }
      }
    }
  }

  // to[k] = line[first + k stride], 0 outside the line.
  void write_line(const float* line, std::int64_t first, float* to) const {
    const auto stride = p_.stride[1];
    const auto inside = [&](std::int64_t k) { return first + k * stride; };
    std::int64_t begin = first >= 0 ? 0 : std::min((-first + stride - 1) / stride, out_width_);
    std::int64_t end =
        inside(out_width_ - 1) < width_ ? out_width_ : std::max((width_ - first + stride - 1) / stride, begin);
    std::fill_n(to, begin, 0.0f);
    if (stride == 1)
      std::memcpy(to + begin, line + first + begin, static_cast<std::size_t>(end - begin) * sizeof(float));
    else
      for (auto k = begin; k < end; ++k) to[k] = line[inside(k)];
    std::fill_n(to + end, out_width_ - end, 0.0f);
  }

  const ConvProblem p_;
  const std::int64_t channels_, height_, width_, taps_, out_height_, out_width_;
  const std::int64_t rows_;  // of the result at a time
};

}  // namespace

std::unique_ptr<const ConvPrimitive> make_weight_products(const ConvProblem& p) {
  const bool fits = p.direction == ConvDirection::weight_grad && p.spatial() == 2 && p.groups == 1;
  if (!fits || ir::num_elements(p.output) == 0 || ir::num_elements(p.input) == 0 || ir::num_elements(p.weight) == 0)
    return nullptr;
  return std::make_unique<WeightProducts>(p);
}

}  // namespace burn::backends::cpu
