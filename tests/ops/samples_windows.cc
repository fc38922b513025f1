#include "tests/ops/sample_builder.h"

namespace burn::testing {
namespace {

using ir::Dims;
using ir::DType;
using ir::Shape;

// A convolution in words: all three directions are made from it.
struct ConvCase {
  Shape input, weight;
  Dims stride, pad_begin, pad_end, dilation;
  std::int64_t groups = 1;
};

std::vector<ConvCase> conv_cases() {
  return {
      {{2, 3, 9}, {4, 3, 3}, {1}, {0}, {0}, {1}},
      {{2, 4, 11}, {6, 2, 3}, {2}, {1}, {2}, {2}, 2},
      {{1, 1, 5}, {1, 1, 2}, {1}, {3}, {2}, {1}},  // padding beyond the kernel's reach
      {{2, 1, 8, 7}, {8, 1, 3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
      {{2, 8, 9, 10}, {16, 8, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {{3, 3, 10, 9}, {5, 3, 2, 3}, {2, 3}, {1, 0}, {0, 2}, {2, 1}},
      {{2, 6, 7, 7}, {6, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 6},  // depthwise
      {{2, 6, 7, 7}, {9, 2, 1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, 3},
      {{1, 2, 5, 6, 4}, {3, 2, 2, 3, 2}, {1, 2, 1}, {1, 1, 0}, {0, 1, 1}, {1, 1, 2}},
      {{0, 2, 5, 5}, {3, 2, 3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},  // an empty batch
      {{8, 8, 26, 26}, {16, 8, 3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
  };
}

// Sums over many products of two numbers up to 3.
constexpr double kConvSlack = 4, kProducts = 30;

std::vector<Sample> conv_samples(std::string_view op) {
  std::vector<Sample> all;
  for (const auto& c : conv_cases()) {
    const ir::Conv conv{c.stride, c.pad_begin, c.pad_end, c.dilation, c.groups};
    const ir::TensorType input{DType::f32, c.input}, weight{DType::f32, c.weight};
    const ir::TensorType* operands[] = {&input, &weight};
    const Shape output = (*ir::infer(conv, operands))[0].shape;
    const Dims in_size(c.input.span().subspan(2)), kernel_size(c.weight.span().subspan(2));
    for (const auto dtype : kFloats) {
      for (const auto view : {View::plain, View::transposed}) {
        SampleBuilder sample(std::string(ir::name(dtype)) + to_string(c.input) + to_string(c.weight) +
                             std::string(name(view)));
        const auto x = [&](const Shape& shape) { return sample.view({dtype, shape}, view); };
        ir::Ref result;
        std::vector<ir::Ref> more;
        if (op == "conv") {
          result = sample.add(conv, {x(c.input), x(c.weight)});
        } else if (op == "conv_input_grad") {
          result = sample.add(ir::ConvInputGrad{c.stride, c.pad_begin, c.pad_end, c.dilation, in_size, c.groups},
                              {x(output), x(c.weight)});
        } else {
          result = sample.add(ir::ConvWeightGrad{c.stride, c.pad_begin, c.pad_end, c.dilation, kernel_size, c.groups},
                              {x(c.input), x(output)});
        }
        all.push_back(sample.finish({result}, kConvSlack, kProducts));
      }
    }
  }
  return all;
}

struct PoolCase {
  Shape input;
  Dims kernel, stride, padding, dilation;
  bool count_include_pad = true, ceil_mode = false;
};

std::vector<PoolCase> pool_cases() {
  return {
      {{2, 3, 10}, {3}, {2}, {0}, {1}},
      {{2, 3, 11}, {4}, {3}, {2}, {1}, false, true},
      {{2, 3, 8, 9}, {2, 2}, {2, 2}, {0, 0}, {1, 1}},
      {{2, 3, 8, 9}, {3, 3}, {1, 2}, {1, 1}, {2, 1}, true, false},
      {{1, 2, 8, 9}, {3, 2}, {2, 2}, {1, 1}, {1, 1}, false, false},
      {{1, 2, 7, 10}, {3, 3}, {2, 3}, {1, 0}, {1, 1}, true, true},
      {{1, 2, 5, 6, 7}, {2, 3, 2}, {2, 1, 2}, {1, 1, 0}, {1, 1, 1}},
      {{0, 2, 4, 4}, {2, 2}, {2, 2}, {0, 0}, {1, 1}},
      {{32, 16, 24, 24}, {3, 3}, {3, 3}, {0, 0}, {1, 1}},
  };
}

std::vector<Sample> pool_samples(std::string_view op) {
  std::vector<Sample> all;
  for (const auto& c : pool_cases()) {
    const ir::AvgPool pool{c.kernel, c.stride, c.padding, c.count_include_pad, c.ceil_mode};
    const ir::TensorType input{DType::f32, c.input};
    const ir::TensorType* operands[] = {&input};
    const Shape output = (*ir::infer(pool, operands))[0].shape;
    const Dims in_size(c.input.span().subspan(2));
    for (const auto dtype : op == "max_pool" ? numbers() : std::vector(std::begin(kFloats), std::end(kFloats))) {
      for (const auto view : {View::plain, View::transposed, View::expanded}) {
        SampleBuilder sample(std::string(ir::name(dtype)) + to_string(c.input) + to_string(c.kernel) +
                             std::string(name(view)));
        const auto x = [&](const Shape& shape) { return sample.view({dtype, shape}, view, Values::special); };
        ir::Ref result;
        std::vector<ir::Ref> more;
        if (op == "avg_pool") {
          result = sample.add(pool, {x(c.input)});
        } else if (op == "avg_pool_grad") {
          result = sample.add(ir::AvgPoolGrad{c.kernel, c.stride, c.padding, in_size, c.count_include_pad, c.ceil_mode},
                              {sample.view({dtype, output}, view)});
        } else {
          result = sample.add(ir::MaxPool{c.kernel, c.stride, c.padding, c.dilation, c.ceil_mode}, {x(c.input)});
          more.push_back(result.result(1));
        }
        more.push_back(result);
        all.push_back(sample.finish(std::move(more), 4));
      }
    }
  }
  return all;
}

std::vector<Sample> adaptive_samples(bool backward) {
  struct Case {
    Shape input;
    Dims output;
  };
  std::vector<Sample> all;
  for (const auto& [input, output] :
       {Case{{2, 3, 10}, {4}}, Case{{2, 3, 9, 7}, {3, 3}}, Case{{1, 2, 3, 4}, {5, 6}}, Case{{2, 2, 5, 6, 7}, {2, 3, 1}},
        Case{{16, 16, 24, 24}, {8, 8}}, Case{{0, 1, 4}, {2}}}) {
    Shape pooled = input;
    for (int i = 0; i < output.rank(); ++i) pooled[i + 2] = output[i];
    const Dims in_size(input.span().subspan(2));
    for (const auto dtype : kFloats) {
      for (const auto view : kViews) {
        SampleBuilder sample(std::string(ir::name(dtype)) + to_string(input) + to_string(output) +
                             std::string(name(view)));
        const auto x = sample.view({dtype, backward ? pooled : input}, view);
        const auto op = backward ? ir::Op(ir::AdaptiveAvgPoolGrad{in_size}) : ir::Op(ir::AdaptiveAvgPool{output});
        all.push_back(sample.finish({sample.add(op, {x})}, 4));
      }
    }
  }
  return all;
}

std::vector<Sample> adaptive_max_samples() {
  struct Case {
    Shape input;
    Dims output;
  };
  std::vector<Sample> all;
  for (const auto& [input, output] :
       {Case{{2, 3, 10}, {4}}, Case{{2, 3, 9, 7}, {3, 3}}, Case{{1, 2, 3, 4}, {5, 6}}, Case{{2, 2, 5, 6, 7}, {2, 3, 1}},
        Case{{16, 16, 24, 24}, {8, 8}}, Case{{0, 1, 4}, {2}}}) {
    for (const auto dtype : numbers()) {
      for (const auto view : {View::plain, View::transposed, View::expanded}) {
        SampleBuilder sample(std::string(ir::name(dtype)) + to_string(input) + to_string(output) +
                             std::string(name(view)));
        const auto result =
            sample.add(ir::AdaptiveMaxPool{output}, {sample.view({dtype, input}, view, Values::special)});
        all.push_back(sample.finish({result.result(1), result}));
      }
    }
  }
  return all;
}

}  // namespace

std::vector<Sample> window_samples(std::string_view op) {
  if (op == "conv" || op == "conv_input_grad" || op == "conv_weight_grad") return conv_samples(op);
  if (op == "avg_pool" || op == "avg_pool_grad" || op == "max_pool") return pool_samples(op);
  if (op == "adaptive_avg_pool") return adaptive_samples(false);
  if (op == "adaptive_avg_pool_grad") return adaptive_samples(true);
  if (op == "adaptive_max_pool") return adaptive_max_samples();
  return {};
}

}  // namespace burn::testing
