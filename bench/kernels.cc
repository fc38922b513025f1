// Single operations and short chains, on tensors that stay on the device.
#include <cmath>

#include "bench/bench.h"
#include "client/tensor/tensor.h"
#include "nn/nn.h"

namespace burn::bench {
namespace {

// The side length of the square matrices in benchmarks of reductions and row operations.
std::int64_t side(const Context& c) { return c.gpu ? 8192 : 1024; }
double elements(const Context& c) { return static_cast<double>(side(c)) * static_cast<double>(side(c)); }
std::int64_t long_vector(const Context& c) { return std::int64_t{1} << (c.gpu ? 26 : 22); }

Tensor<2> matrix(const Device& device, std::int64_t rows, std::int64_t columns, DType dtype = DType::f32) {
  device.seed(1);
  auto x = Tensor<2>::random({rows, columns}, Distribution::normal(0, 1), {device, dtype});
  device.sync();
  return x;
}

// Calls per sample for operations that take a GPU about 100 us: with fewer, the sync at the end of the sample would be
// a large part of the time.
int calls(const Context& c, int on_cpu) { return c.gpu ? 32 : on_cpu; }

// Repeats `step` and discards its result: each result is held until the next one replaces it, so that it is computed.
template <typename Step>
std::vector<double> time_kernel(const Context& c, int inner, Step&& step) {
  auto held = step();
  return repeat_batched(
      c, inner,
      [&] {
        held = step();
        c.device.flush();
      },
      [&] { c.device.sync(); });
}

Tensor<1> gelu(const Tensor<1>& x) { return x * ((x / std::sqrt(2.0)).erf() + 1) / 2; }

std::vector<double> copy(const Context& c) {
  const std::int64_t bytes = std::int64_t{c.gpu ? 1024 : 64} << 20;
  auto x = Tensor<1>::zeros({bytes / 4}, c.device);
  x = x + 0;
  c.device.sync();
  // The API has no device copy; negation also reads and writes every number once.
  return giga_per_second(time_kernel(c, 4, [&] { return x.neg(); }), 2.0 * static_cast<double>(bytes));
}

std::vector<double> gelu_custom(const Context& c) {
  const auto size = long_vector(c);
  const auto x = Tensor<1>::random({size}, Distribution::normal(0, 1), c.device);
  c.device.sync();
  return giga_per_second(time_kernel(c, calls(c, 4), [&] { return gelu(x); }), 2.0 * 4 * static_cast<double>(size));
}

std::vector<double> gelu_custom_backward(const Context& c) {
  const auto size = long_vector(c);
  const auto x = Tensor<1>::random({size}, Distribution::normal(0, 1), c.device.autodiff()).require_grad();
  const auto ones = Tensor<1>::ones_like(x.inner());
  c.device.sync();
  return giga_per_second(time_kernel(c, calls(c, 4), [&] { return *x.grad(gelu(x).backward(ones)); }),
                         3.0 * 4 * static_cast<double>(size));
}

std::vector<double> softmax(const Context& c) {
  const auto x = matrix(c.device, side(c), side(c));
  return giga_per_second(time_kernel(c, calls(c, 16), [&] { return activation::softmax(x, 1); }), 2 * 4 * elements(c));
}

std::vector<double> layer_norm(const Context& c) {
  const auto x = matrix(c.device, side(c), side(c));
  const auto norm = nn::LayerNormConfig{.d_model = side(c)}.init(c.device);
  return giga_per_second(time_kernel(c, calls(c, 16), [&] { return norm(x); }), 2 * 4 * elements(c));
}

std::vector<double> cross_entropy(const Context& c) {
  const auto x = matrix(c.device, side(c), side(c));
  const auto targets = Tensor<1, Int>::arange(0, side(c), c.device);
  const nn::CrossEntropyLoss loss{};
  return giga_per_second(time_kernel(c, calls(c, 16), [&] { return loss(x, targets); }), 4 * elements(c));
}

std::vector<double> sum_dim0(const Context& c) {
  const auto x = matrix(c.device, side(c), side(c));
  return giga_per_second(time_kernel(c, 32, [&] { return x.sum_dim(0); }), 4 * elements(c));
}

// A sum over all elements, in i64: GB/s of bytes read.
std::vector<double> sum_of_integers(const Context& c, DType dtype) {
  constexpr std::int64_t kCount = std::int64_t{1} << 28;
  const auto x = Tensor<1, Int>::full({kCount}, 100, {c.device, dtype});
  c.device.sync();
  return giga_per_second(time_kernel(c, calls(c, 1), [&] { return x.sum(); }),
                         static_cast<double>(kCount) * static_cast<double>(ir::size_of(dtype)));
}

std::vector<double> matmul(const Context& c, std::int64_t size, DType dtype) {
  const auto a = matrix(c.device, size, size, dtype), b = matrix(c.device, size, size, dtype);
  const auto flops = 2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
  return tera_per_second(time_kernel(c, size == 1024 ? calls(c, 4) : 4, [&] { return a.matmul(b); }), flops);
}

std::vector<double> matmul_of_integers(const Context& c, DType dtype) {
  constexpr std::int64_t kSize = 1024;
  constexpr double kOps = 2.0 * kSize * kSize * kSize;
  const auto numbers = Tensor<1, Int>::arange(0, kSize * kSize, c.device).remainder(100).reshape<2>({kSize, kSize});
  const auto a = numbers.cast(dtype), b = (numbers.transpose() + 1).cast(dtype);
  c.device.sync();
  return tera_per_second(time_kernel(c, 4, [&] { return a.matmul(b); }), kOps);
}

struct ConvData {
  explicit ConvData(const Device& device)
      : x(Tensor<4>::random({32, 64, 56, 56}, Distribution::normal(0, 1), device)),
        w(Tensor<4>::random({64, 64, 3, 3}, Distribution::normal(0, 1), device)),
        g(Tensor<4>::random({32, 64, 56, 56}, Distribution::normal(0, 1), device)) {
    device.sync();
  }
  Tensor<4> x, w, g;
  static constexpr double kFlops = 2.0 * 32 * 64 * 56 * 56 * 64 * 9;
};

const ir::Conv kSame{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1};

std::vector<double> conv2d_fwd(const Context& c) {
  const ConvData d(c.device);
  return tera_per_second(
      time_kernel(c, 1, [&] { return Tensor<4>{client::conv(d.x.value(), d.w.value(), nullptr, kSame, {})}; }),
      ConvData::kFlops);
}

std::vector<double> conv2d_bwd(const Context& c) {
  const ConvData d(c.device);
  const auto step = [&] {
    const std::array in{d.g.value(), d.w.value()}, weight{d.x.value(), d.g.value()};
    return std::pair{client::apply(ir::ConvInputGrad{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {56, 56}, 1}, in, {}),
                     client::apply(ir::ConvWeightGrad{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {3, 3}, 1}, weight, {})};
  };
  return tera_per_second(time_kernel(c, 1, step), 2 * ConvData::kFlops);
}

// Upscaling by two, and a warp of the image: bytes that are read and written once.
std::vector<double> interpolate(const Context& c) {
  const auto x = Tensor<4>::random({8, 64, 128, 128}, Distribution::normal(0, 1), c.device);
  return giga_per_second(time_kernel(c, 2,
                                     [&] {
                                       return module::interpolate(x, {256, 256}, {InterpolateMode::bilinear, false});
                                     }),
                         4.0 * (1 + 4) * 8 * 64 * 128 * 128);
}

std::vector<double> grid_sample(const Context& c) {
  const auto x = Tensor<4>::random({8, 32, 128, 128}, Distribution::normal(0, 1), c.device);
  const auto grid = Tensor<4>::random({8, 128, 128, 2}, Distribution::uniform(-1, 1), c.device);
  return giga_per_second(time_kernel(c, 2, [&] { return x.grid_sample_2d(grid); }), 4.0 * 2 * 8 * 32 * 128 * 128);
}

// The attention of GPT-2: 12 heads of 64, split from rows, causal.
struct AttentionData {
  explicit AttentionData(const Device& device) {
    device.seed(1);
    for (auto* x : {&q, &k, &v, &g})
      *x = Tensor<4>::random({kBatch, kLength, kHeads, kDim}, Distribution::normal(0, 1), {device, DType::bf16});
    device.sync();
  }
  static client::Value heads(const Tensor<4>& x) { return x.swap_dims(1, 2).value(); }
  auto forward() const {
    const std::array in{heads(q), heads(k), heads(v)};
    return client::apply_all(ir::Attention{kScale, true}, in, {});
  }
  static constexpr std::int64_t kBatch = 16, kLength = 1024, kHeads = 12, kDim = 64;
  static constexpr double kScale = 0.125;
  static constexpr double kFlops = 4.0 * kBatch * kHeads * kLength * kLength * kDim / 2;  // the mask hides half
  Tensor<4> q, k, v, g;
};

std::vector<double> attention_fwd(const Context& c) {
  const AttentionData d(c.device);
  return tera_per_second(time_kernel(c, 4, [&] { return d.forward(); }), AttentionData::kFlops);
}

std::vector<double> attention_bwd(const Context& c) {
  const AttentionData d(c.device);
  const auto y = d.forward();
  c.device.sync();
  const auto step = [&] {
    const std::array in{d.heads(d.q), d.heads(d.k), d.heads(d.v), y[0], y[1], d.heads(d.g)};
    return client::apply_all(ir::AttentionGrad{AttentionData::kScale, true}, in, {});
  };
  return tera_per_second(time_kernel(c, 4, step), 2.5 * AttentionData::kFlops);
}

// A chain of a thousand additions of 32x32 matrices, with no read in between: the time per op from the call to the
// worker.
std::vector<double> op_dispatch(const Context& c) {
  constexpr int kChain = 1000;
  const auto x = matrix(c.device, 32, 32);
  auto seconds = repeat(c, [&] {
    auto y = x;
    for (int i = 0; i < kChain; ++i) y = y + x;
    c.device.flush();
    c.device.sync();
  });
  for (auto& s : seconds) s /= kChain;
  return microseconds(std::move(seconds));
}

}  // namespace

void add_kernels(std::vector<Benchmark>& list) {
  list.push_back({"copy", "GB/s", "higher", copy});
  list.push_back({"gelu_custom", "GB/s", "higher", gelu_custom});
  list.push_back({"gelu_custom_backward", "GB/s", "higher", gelu_custom_backward});
  list.push_back({"softmax", "GB/s", "higher", softmax});
  list.push_back({"layer_norm", "GB/s", "higher", layer_norm});
  list.push_back({"cross_entropy", "GB/s", "higher", cross_entropy});
  list.push_back({"sum_dim0", "GB/s", "higher", sum_dim0});
  list.push_back({"sum_u8", "GB/s", "higher", [](const Context& c) { return sum_of_integers(c, DType::u8); }});
  list.push_back({"sum_i32", "GB/s", "higher", [](const Context& c) { return sum_of_integers(c, DType::i32); }});
  list.push_back(
      {"matmul_f32_1024", "TFLOP/s", "higher", [](const Context& c) { return matmul(c, 1024, DType::f32); }});
  list.push_back(
      {"matmul_f32_4096", "TFLOP/s", "higher", [](const Context& c) { return matmul(c, 4096, DType::f32); }, true});
  list.push_back(
      {"matmul_bf16_1024", "TFLOP/s", "higher", [](const Context& c) { return matmul(c, 1024, DType::bf16); }});
  list.push_back(
      {"matmul_bf16_8192", "TFLOP/s", "higher", [](const Context& c) { return matmul(c, 8192, DType::bf16); }, true});
  list.push_back(
      {"matmul_i8_1024", "TOP/s", "higher", [](const Context& c) { return matmul_of_integers(c, DType::i8); }});
  list.push_back(
      {"matmul_i32_1024", "TOP/s", "higher", [](const Context& c) { return matmul_of_integers(c, DType::i32); }});
  list.push_back({"conv2d_fwd", "TFLOP/s", "higher", conv2d_fwd});
  list.push_back({"conv2d_bwd", "TFLOP/s", "higher", conv2d_bwd});
  list.push_back({"interpolate", "GB/s", "higher", interpolate});
  list.push_back({"grid_sample", "GB/s", "higher", grid_sample});
  list.push_back({"attention_bf16_fwd", "TFLOP/s", "higher", attention_fwd, true});
  list.push_back({"attention_bf16_bwd", "TFLOP/s", "higher", attention_bwd, true});
  list.push_back({"op_dispatch", "us/op", "lower", op_dispatch});
}

}  // namespace burn::bench
