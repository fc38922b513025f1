// Convolution and its two adjoints: one set of sizes, three directions, two implementations.
#pragma once

#include <array>
#include <memory>

#include "backends/cpu/runtime/run.h"

namespace burn::backends::cpu {

// forward: input, weight -> output; input_grad: output, weight -> input; weight_grad: input, output -> weight.
enum class ConvDirection { forward, input_grad, weight_grad };

struct ConvProblem {
  ConvDirection direction = ConvDirection::forward;
  ir::Shape input, weight, output;  // [n, c_in, in...], [c_out, c_in / groups, kernel...], [n, c_out, out...]
  ir::Dims stride, pad_begin, pad_end, dilation;
  std::int64_t groups = 1;

  int spatial() const { return stride.rank(); }
  const ir::Shape& first() const { return direction == ConvDirection::input_grad ? output : input; }
  const ir::Shape& second() const { return direction == ConvDirection::weight_grad ? output : weight; }
  const ir::Shape& result() const;
};

// A library's kernels for one problem, in f32. Thread-safe.
class ConvPrimitive {
 public:
  virtual ~ConvPrimitive() = default;
  // Row-major operands and result.
  virtual Status run(Run& run, const float* first, const float* second, float* result) const = 0;
};

// The layouts that oneDNN computes with: its kernels' preferred one, with copies before and after, or row-major.
enum class ConvLayout { blocked, row_major };

// A primitive of oneDNN, on that many of its own threads. Null for problems that it does not support.
std::unique_ptr<const ConvPrimitive> make_conv_primitive(const ConvProblem& problem, int threads, ConvLayout layout);

// The same on our threads with the batch cut into pieces, if it is large enough for that. Null as above.
std::unique_ptr<const ConvPrimitive> make_batched_conv(const ConvProblem& problem, std::int64_t pieces,
                                                       ConvLayout layout);

// The gradient of the weights by matrix products; null for other directions, several groups and other than two spatial
// dims.
std::unique_ptr<const ConvPrimitive> make_weight_products(const ConvProblem& problem);

// The fastest of these, timed at the first run (backends/autotune.h). Null as above.
std::unique_ptr<const ConvPrimitive> make_tuned_conv(const ConvProblem& problem);

// Plain loops for any problem. T: float, double.
template <typename T>
void convolve_plainly(const ConvProblem& problem, const T* first, const T* second, T* result);

}  // namespace burn::backends::cpu
