// Shape rules of convolution and pooling. Rules of adjoints check that the forward op maps the result's shape to the
// operand's.
#include "ir/ops/windows.h"

#include <limits>

#include "ir/shape_rules.h"

namespace burn::ir::shape_rules {
namespace {

// Limit for sizes along a spatial dim, so that sums and products of two do not overflow 63 bits.
constexpr std::int64_t kMaxSize = std::numeric_limits<std::int32_t>::max();

// A window sliding along one dim.
struct Window {
  std::int64_t kernel, stride, pad_begin, pad_end, dilation;
  bool ceil_mode = false;

  std::int64_t extent() const { return (kernel - 1) * dilation + 1; }
};

bool in_range(std::int64_t value, std::int64_t least) { return value >= least && value <= kMaxSize; }

// The number of windows that fit into `input`, as in PyTorch; 0 if none does.
std::int64_t window_count(std::int64_t input, const Window& w) {
  const auto free = input + w.pad_begin + w.pad_end - w.extent() + (w.ceil_mode ? w.stride - 1 : 0);
  if (free < 0) return 0;
  const auto last = free / w.stride;
  // With ceil_mode the last window must start inside the input or the padding before it.
  return w.ceil_mode && last * w.stride >= input + w.pad_begin ? last : last + 1;
}

Result<std::int64_t> output_size(std::string_view op, std::int64_t input, const Window& w) {
  if (!in_range(input, 1) || !in_range(w.kernel, 1) || !in_range(w.stride, 1) || !in_range(w.dilation, 1) ||
      !in_range(w.pad_begin, 0) || !in_range(w.pad_end, 0)) {
    return fail("{}: input size {}, kernel {}, stride {}, padding {} and {}, dilation {}: one is out of range", op,
                input, w.kernel, w.stride, w.pad_begin, w.pad_end, w.dilation);
  }
  const auto count = window_count(input, w);
  if (count > 0) return count;
  return fail("{}: kernel {} with dilation {} does not fit input size {} with padding {} and {}", op, w.kernel,
              w.dilation, input, w.pad_begin, w.pad_end);
}

// [batch, channel, spatial...] with 1 to 3 spatial dims.
Status check_image(std::string_view op, const TensorType& x, int spatial) {
  if (spatial >= 1 && spatial <= 3 && x.shape.rank() == spatial + 2) return {};
  return fail("{}: {} is not [batch, channel, ...] with {} spatial dims of 1 to 3", op, to_string(x), spatial);
}

// ---- Convolution

// The three values that Conv and its adjoints relate: two are operands, the third is the result.
struct ConvSizes {
  Shape input, weight, output;  // [n, c_in, in...], [c_out, c_in / groups, kernel...], [n, c_out, out...]
};

template <typename Kind>
Status check_conv_lists(const Kind& op, Operands in, int spatial) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 2));
  if (in[0]->dtype != in[1]->dtype || !is_floating(in[0]->dtype)) {
    return fail("{}: takes floats of one dtype, got {}", op.kName, types_text(in));
  }
  for (const auto* x : in) BURN_RETURN_IF_ERROR(check_image(op.kName, *x, spatial));
  for (const auto* list : {&op.stride, &op.pad_begin, &op.pad_end, &op.dilation}) {
    if (list->rank() == spatial) continue;
    return fail("{}: {} has {} entries for {} spatial dims", op.kName, to_string(*list), list->rank(), spatial);
  }
  return {};
}

// Checks that the groups divide the channels, and that the sizes of input, weight and output fit together.
template <typename Kind>
Status check_conv(const Kind& op, const ConvSizes& sizes) {
  const auto& [input, weight, output] = sizes;
  const auto c_in = input[1], c_out = weight[0];
  if (op.groups < 1 || c_in < 1 || c_out < 1 || c_in % op.groups != 0 || c_out % op.groups != 0) {
    return fail("{}: {} groups do not divide {} input and {} output channels", op.kName, op.groups, c_in, c_out);
  }
  if (weight[1] != c_in / op.groups) {
    return fail(
        "{}: the input has {} channels, {} in each of {} groups; the weight takes {}: input {}, weight {} do not "
        "belong together",
        op.kName, c_in, c_in / op.groups, op.groups, weight[1], to_string(input), to_string(weight));
  }
  if (output[1] != c_out || output[0] != input[0]) {
    return fail("{}: input {}, weight {} and output {} do not belong together with {} groups", op.kName,
                to_string(input), to_string(weight), to_string(output), op.groups);
  }
  for (int i = 0; i + 2 < input.rank(); ++i) {
    const Window window{weight[i + 2], op.stride[i], op.pad_begin[i], op.pad_end[i], op.dilation[i]};
    BURN_TRY(const auto size, output_size(op.kName, input[i + 2], window));
    if (size != output[i + 2]) {
      return fail("{}: input {} and weight {} give size {} in spatial dim {}, not {}", op.kName, to_string(input),
                  to_string(weight), size, i, output[i + 2]);
    }
  }
  return {};
}

void replace_spatial(Shape& shape, const Dims& sizes) {
  for (int i = 0; i < sizes.rank(); ++i) shape[i + 2] = sizes[i];
}

// ---- Pooling

template <typename Kind>
Window pool_window(const Kind& op, int i) {
  Window window{op.kernel[i], op.stride[i], op.padding[i], op.padding[i], 1, op.ceil_mode};
  if constexpr (requires { op.dilation; }) window.dilation = op.dilation[i];
  return window;
}

template <typename Kind>
Status check_pool_lists(const Kind& op, const TensorType& x) {
  const int spatial = op.kernel.rank();
  BURN_RETURN_IF_ERROR(check_image(op.kName, x, spatial));
  bool fits = op.stride.rank() == spatial && op.padding.rank() == spatial;
  if constexpr (requires { op.dilation; }) fits = fits && op.dilation.rank() == spatial;
  if constexpr (requires { op.input_size; }) fits = fits && op.input_size.rank() == spatial;
  if (fits) return {};
  return fail("{}: every list must have one entry per entry of kernel {}", op.kName, to_string(op.kernel));
}

// [n, c, in...] -> [n, c, out...]. Checks that every window covers an element of the input: executors rely on it.
template <typename Kind>
Result<Shape> pooled(const Kind& op, const Shape& input) {
  Shape output = input;
  for (int i = 0; i < op.kernel.rank(); ++i) {
    const Window window = pool_window(op, i);
    BURN_TRY(output[i + 2], output_size(op.kName, input[i + 2], window));
    if (window.pad_begin > window.extent() / 2) {
      return fail("{}: padding {} is more than half the window of {}", op.kName, window.pad_begin, window.extent());
    }
    if (window.pad_begin > 0 && window.dilation > input[i + 2]) {
      return fail("{}: with dilation {} and padding a window may miss the input of size {}", op.kName, window.dilation,
                  input[i + 2]);
    }
  }
  return output;
}

Status check_floating(std::string_view op, const TensorType& x) {
  if (is_floating(x.dtype)) return {};
  return fail("{}: takes floats, got {}", op, to_string(x));
}

Status check_adaptive(std::string_view op, const Shape& input, const Shape& output) {
  for (int i = 2; i < input.rank(); ++i) {
    if (in_range(input[i], 1) && in_range(output[i], 1)) continue;
    return fail("{}: cannot pool {} to {}", op, to_string(input), to_string(output));
  }
  return {};
}

}  // namespace

Result<TensorType> infer(const Conv& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_conv_lists(op, in, op.stride.rank()));
  const auto &x = *in[0], &weight = *in[1];
  TensorType result = x;
  result.shape[1] = weight.shape[0];
  for (int i = 0; i < op.stride.rank(); ++i) {
    const Window window{weight.shape[i + 2], op.stride[i], op.pad_begin[i], op.pad_end[i], op.dilation[i]};
    BURN_TRY(result.shape[i + 2], output_size(op.kName, x.shape[i + 2], window));
  }
  BURN_RETURN_IF_ERROR(check_conv(op, {x.shape, weight.shape, result.shape}));
  return checked(op.kName, result.dtype, result.shape);
}

Result<TensorType> infer(const ConvInputGrad& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_conv_lists(op, in, op.input_size.rank()));
  const auto &grad = *in[0], &weight = *in[1];
  Shape input = grad.shape;
  if (__builtin_mul_overflow(weight.shape[1], op.groups, &input[1])) {
    return fail("conv_input_grad: {} groups are too many", op.groups);
  }
  replace_spatial(input, op.input_size);
  BURN_RETURN_IF_ERROR(check_conv(op, {input, weight.shape, grad.shape}));
  return checked(op.kName, grad.dtype, input);
}

Result<TensorType> infer(const ConvWeightGrad& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_conv_lists(op, in, op.kernel_size.rank()));
  const auto &x = *in[0], &grad = *in[1];
  Shape weight = grad.shape;
  weight[0] = grad.shape[1];
  weight[1] = op.groups > 0 ? x.shape[1] / op.groups : 0;
  replace_spatial(weight, op.kernel_size);
  BURN_RETURN_IF_ERROR(check_conv(op, {x.shape, weight, grad.shape}));
  return checked(op.kName, x.dtype, weight);
}

Result<TensorType> infer(const AvgPool& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  BURN_RETURN_IF_ERROR(check_floating(op.kName, *in[0]));
  BURN_RETURN_IF_ERROR(check_pool_lists(op, *in[0]));
  BURN_TRY(const Shape shape, pooled(op, in[0]->shape));
  return checked(op.kName, in[0]->dtype, shape);
}

Result<TensorType> infer(const AvgPoolGrad& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  const auto& grad = *in[0];
  BURN_RETURN_IF_ERROR(check_floating(op.kName, grad));
  BURN_RETURN_IF_ERROR(check_pool_lists(op, grad));
  Shape input = grad.shape;
  replace_spatial(input, op.input_size);
  BURN_TRY(const Shape output, pooled(op, input));
  if (output != grad.shape) {
    return fail("avg_pool_grad: pooling {} gives {}, not {}", to_string(input), to_string(output), to_string(grad));
  }
  return checked(op.kName, grad.dtype, input);
}

Result<TypeList> infer(const MaxPool& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  if (is_bool(in[0]->dtype)) return fail("max_pool: takes numbers, got {}", to_string(*in[0]));
  BURN_RETURN_IF_ERROR(check_pool_lists(op, *in[0]));
  BURN_TRY(const Shape shape, pooled(op, in[0]->shape));
  BURN_TRY(const auto values, checked(op.kName, in[0]->dtype, shape));
  return types_of(values, TensorType{DType::i64, shape});
}

Result<TensorType> infer(const AdaptiveAvgPool& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  const auto& x = *in[0];
  BURN_RETURN_IF_ERROR(check_floating(op.kName, x));
  BURN_RETURN_IF_ERROR(check_image(op.kName, x, op.output_size.rank()));
  Shape output = x.shape;
  replace_spatial(output, op.output_size);
  BURN_RETURN_IF_ERROR(check_adaptive(op.kName, x.shape, output));
  return checked(op.kName, x.dtype, output);
}

Result<TensorType> infer(const AdaptiveAvgPoolGrad& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  const auto& grad = *in[0];
  BURN_RETURN_IF_ERROR(check_floating(op.kName, grad));
  BURN_RETURN_IF_ERROR(check_image(op.kName, grad, op.input_size.rank()));
  Shape input = grad.shape;
  replace_spatial(input, op.input_size);
  BURN_RETURN_IF_ERROR(check_adaptive(op.kName, input, grad.shape));
  return checked(op.kName, grad.dtype, input);
}

Result<TypeList> infer(const AdaptiveMaxPool& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  const auto& x = *in[0];
  if (is_bool(x.dtype)) return fail("{}: takes numbers, got {}", op.kName, to_string(x));
  BURN_RETURN_IF_ERROR(check_image(op.kName, x, op.output_size.rank()));
  Shape output = x.shape;
  replace_spatial(output, op.output_size);
  BURN_RETURN_IF_ERROR(check_adaptive(op.kName, x.shape, output));
  BURN_TRY(const auto values, checked(op.kName, x.dtype, output));
  return types_of(values, TensorType{DType::i64, output});
}

}  // namespace burn::ir::shape_rules
