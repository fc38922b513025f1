// What a user gets for input that is wrong: the function that was called, what is wrong with which numbers, the line;
// and that nothing else is lost. In this process and on a worker.
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "burn/burn.h"
#include "tests/support/delayed_backend.h"  // makes "delayed" known
#include "tests/support/error_of.h"
#include "tests/system/digits_training.h"

namespace burn {
namespace {

using ::testing::HasSubstr;

using Index = std::int64_t;

Tensor<2> x(const Device& d) { return Tensor<2>::from_data({{1, 2, 3}, {4, 5, 6}}, d); }
Tensor<2> y(const Device& d) { return Tensor<2>::ones({2, 4}, d); }
Tensor<2> none(const Device& d) { return Tensor<2>::zeros({0, 3}, d); }
Tensor<2> square(const Device& d) { return Tensor<2>::from_data({{1, 2}, {2, 4}}, d); }  // singular
Tensor<1, Int> at_index(const Device& d, Index i) { return Tensor<1, Int>::full({1}, i, d); }
Tensor<2, Int> places(const Device& d, Index i) { return Tensor<2, Int>::full({2, 2}, i, d); }
// The gradient of what `f` makes of a parameter, where nothing else is read.
Tensor<2> slope(const Device& d, const std::function<Tensor<1>(const Tensor<2>&)>& f) {
  const auto parameter = x(d.autodiff()).require_grad();
  return parameter.grad(f(parameter).backward()).value_or(Tensor<2>{});
}
Tensor<1> tracked(const Device& d) { return Tensor<1>::ones({3}, d.autodiff()).require_grad(); }

struct Case {
  int line;
  std::function<void(const Device&)> call;
  std::string function;           // the message begins with it, possibly after "program 3: "
  std::vector<std::string> says;  // parts of the message
};

// One line for each: the message must name it.
#define BAD(function, call, ...)                                                                \
  Case {                                                                                        \
    __LINE__, []([[maybe_unused]] const Device& d) { (void)(call); }, function, { __VA_ARGS__ } \
  }

// clang-format off
const std::vector<Case> kRefusedAtTheCall = {
    // shapes that do not broadcast
    BAD("add", x(d) + y(d), "do not broadcast", "f32[2, 3]", "f32[2, 4]"),
    BAD("greater", x(d) > y(d), "do not broadcast", "f32[2, 3]", "f32[2, 4]"),
    BAD("max_pair", x(d).max_pair(y(d)), "do not broadcast", "f32[2, 4]"),
    BAD("powi", x(d).powi(y(d)), "do not broadcast", "f32[2, 4]"),
    BAD("mask_where", x(d).mask_where(Tensor<2, Bool>::zeros({2, 2}, d), x(d)), "bool[2, 2]", "f32[2, 3]"),
    BAD("mask_fill", x(d).mask_fill(Tensor<2, Bool>::zeros({3, 3}, d), 0), "bool[3, 3]", "f32[2, 3]"),
    BAD("cross", x(d).cross(Tensor<2>::ones({4, 3}, d), 1), "f32[2, 3]", "f32[4, 3]"),
    BAD("outer", linalg::outer(Tensor<2>::ones({3, 2}, d), Tensor<2>::ones({4, 2}, d)), "do not broadcast"),
    BAD("expand", x(d).expand<2>({4, 3}), "f32[2, 3]", "[4, 3]"),
    // a dim out of range
    BAD("sum_dim", x(d).sum_dim(2), "dim 2", "rank 2"),
    BAD("sum_dim", x(d).sum_dim(-3), "dim -3", "rank 2"),
    BAD("sum_dims", x(d).sum_dims({0, 5}), "dim 5", "rank 2"),
    BAD("sum_dims", x(d).sum_dims({0, -2}), "dim -2 is named twice"),
    BAD("mean_dim", x(d).mean_dim(7), "dim 7", "rank 2"),
    BAD("var", x(d).var(-4), "dim -4", "rank 2"),
    BAD("any_dim", x(d).any_dim(2), "dim 2", "rank 2"),
    BAD("argmax", x(d).argmax(9), "dim 9", "rank 2"),
    BAD("max_dim_with_indices", x(d).max_dim_with_indices(-9), "dim -9", "rank 2"),
    BAD("cumsum", x(d).cumsum(2), "dim 2", "rank 2"),
    BAD("sort", x(d).sort(2), "dim 2", "rank 2"),
    BAD("topk", x(d).topk(1, -3), "dim -3", "rank 2"),
    BAD("softmax", activation::softmax(x(d), 2), "dim 2", "rank 2"),
    BAD("logsumexp", x(d).logsumexp(3), "dim 3", "rank 2"),
    BAD("swap_dims", x(d).swap_dims(0, 2), "dim 2", "rank 2"),
    BAD("permute", x(d).permute({0, 2}), "dim 2", "rank 2"),
    BAD("squeeze_dim", x(d).squeeze_dim(0), "size 2"),
    BAD("unsqueeze_dim", x(d).unsqueeze_dim(5), "dim 5", "rank 3"),
    BAD("cat", (Tensor<2>::cat({x(d), x(d)}, 2)), "dim 2", "rank 2"),
    BAD("stack", (Tensor<2>::stack({x(d), x(d)}, 4)), "dim 4", "rank 3"),
    BAD("select", x(d).select(3, at_index(d, 0)), "dim 3", "rank 2"),
    BAD("rfft", signal::rfft(x(d), 5), "dim 5", "rank 2"),
    // a slice out of range
    BAD("slice", x(d).slice({s(0, 3)}), "0..3", "dim 0", "f32[2, 3]"),
    BAD("slice", x(d).slice({s(), s(-5, 2)}), "-5..2", "dim 1", "f32[2, 3]"),
    BAD("slice", x(d).slice({s(0, 2, 0)}), "step 0"),
    BAD("slice", x(d).slice({s(), s(), s()}), "3 ranges", "f32[2, 3]"),
    BAD("slice_fill", x(d).slice_fill({s(0, 9)}, 1), "0..9", "f32[2, 3]"),
    BAD("slice_assign", x(d).slice_assign({s(0, 1)}, y(d)), "[1, 3]", "f32[2, 4]"),
    BAD("narrow", x(d).narrow(1, 2, 4), "4 elements from 2", "dim 1", "f32[2, 3]"),
    BAD("narrow", x(d).narrow(1, 2, -1), "-1 elements from 2", "f32[2, 3]"),
    BAD("narrow", x(d).narrow(1, 2, INT64_MAX), "elements from 2", "f32[2, 3]"),
    BAD("select_dim", x(d).select_dim(0, 2), "index 2", "dim 0", "f32[2, 3]"),
    BAD("topk", x(d).topk(4, 1), "4 of the 3 elements", "f32[2, 3]"),
    BAD("topk_with_indices", x(d).topk_with_indices(-1, 1), "-1 of the 3 elements"),
    // shapes that do not fit together
    BAD("reshape", x(d).reshape<2>({4, 2}), "f32[2, 3]", "[4, 2]", "6 and 8"),
    BAD("reshape", x(d).reshape<2>({-1, 4}), "f32[2, 3]", "[-1, 4]"),
    BAD("cat", (Tensor<2>::cat({x(d), y(d)}, 0)), "f32[2, 4]", "f32[2, 3]"),
    BAD("stack", (Tensor<2>::stack({x(d), y(d)}, 0)), "[1, 2, 4]", "[1, 2, 3]"),
    BAD("matmul", x(d).matmul(y(d)), "f32[2, 3]", "f32[2, 4]", "3 and 2"),
    BAD("dot", Tensor<1>::ones({3}, d).dot(Tensor<1>::ones({4}, d)), "f32[3]", "f32[4]"),
    BAD("einsum", einsum<2>("ij,jk->ik", x(d), y(d)), "label j", "3 and 2"),
    BAD("gather", x(d).gather(0, (Tensor<2, Int>::zeros({1, 9}, d))), "i64[1, 9]", "f32[2, 3]"),
    BAD("scatter", x(d).scatter(0, (Tensor<2, Int>::zeros({1, 3}, d)), y(d)), "f32[2, 4]", "i64[1, 3]"),
    BAD("select_assign", x(d).select_assign(0, at_index(d, 0), y(d)), "f32[2, 4]"),
    BAD("gather_nd", x(d).gather_nd<1>(Tensor<2, Int>::zeros({1, 3}, d)), "3 dims", "i64[1, 3]", "f32[2, 3]"),
    BAD("conv2d", module::conv2d(Tensor<4>::ones({1, 3, 8, 8}, d), Tensor<4>::ones({4, 2, 3, 3}, d), std::nullopt, {}), "3 channels", "takes 2"),
    BAD("linear", (nn::LinearConfig{.d_input = 4, .d_output = 2}.init(d)(x(d))), "f32[2, 3]", "4"),
    // tensors of two devices, two dtypes
    BAD("add", x(d) + Tensor<2>::ones({2, 3}, "null"), "different devices", "null"),
    BAD("add", x(d) + x(Device::new_session(d.url())), "different devices", " and another session of it"),
    BAD("to_device", tracked(d).to_device(Device::new_session(d.url())), "requires a gradient", " to another session of it"),
    BAD("matmul", x(d).matmul(Tensor<2>::ones({3, 3}, "null")), "different devices", "null"),
    BAD("cat", (Tensor<2>::cat({x(d), Tensor<2>::ones({3, 3}, "null")}, 0)), "different devices", "null"),
    BAD("mask_where", x(d).mask_where(Tensor<2, Bool>::zeros({2, 3}, "null"), x(d)), "different devices", "null"),
    BAD("add", x(d) + Tensor<2>::ones({2, 3}, {d, DType::f16}), "f32[2, 3]", "f16[2, 3]"),
    BAD("matmul", x(d).matmul(Tensor<2>::ones({3, 3}, {d, DType::f16})), "f32[2, 3]", "f16[3, 3]"),
    BAD("zeros", Tensor<1>::zeros({1}, {d, DType::i32}), "i32[1] is not a Float tensor"),
    BAD("zeros", Tensor<1>::zeros({-1}, d), "[-1]"),
    BAD("full", (Tensor<1, Int>::full({1}, 300, {d, DType::u8})), "300", "u8"),
    BAD("cast", x(d).cast(DType::i32), "not a Float tensor"),
    // gradients
    BAD("backward", x(d).sum().backward(), "requires a gradient"),
    BAD("backward", Tensor<1>::ones({1}, d.autodiff()).backward(), "requires a gradient"),
    BAD("backward", tracked(d).backward(), "f32[3]", "not one number"),
    BAD("backward", tracked(d).backward(Tensor<1>::ones({2}, d)), "f32[2]", "f32[3]"),
    // reading elements that do not exist or have another dtype
    BAD("into_scalar", x(d).item(), "f32[2, 3]", "one element"),
    BAD("tensor data", x(d).to_data().as_slice<int>(), "asked for i32", "f32[2, 3]"),
    BAD("tensor data", x(d).to_data().to_vec<double>(), "asked for f64", "f32[2, 3]"),
    BAD("max", none(d).max(), "f32[0, 3]"),
    BAD("max_dim", none(d).max_dim(0), "axis 0", "f32[0, 3]"),
    BAD("min", none(d).min(), "f32[0, 3]"),
    BAD("max_abs", none(d).max_abs(), "f32[0, 3]"),
    BAD("argmax", none(d).argmax(0), "axis 0", "f32[0, 3]"),
    BAD("min_dim_with_indices", none(d).min_dim_with_indices(0), "axis 0", "f32[0, 3]"),
    BAD("median", none(d).median(0), "dim 0", "f32[0, 3]"),
    BAD("inverse", linalg::inverse(x(d)), "square", "f32[2, 3]"),
    BAD("random", Tensor<1>::random({2}, Distribution::normal(0, -1), d), "-1", "at least 0"),
    BAD("add", Tensor<2>{} + x(d), "empty"),
};

const std::vector<Case> kFoundByTheWorker = {
    // an index out of range
    BAD("gather", x(d).gather(1, places(d, 7)).to_data(), "index 7 is outside 0..2"),
    BAD("gather", x(d).gather(1, places(d, -1)).to_data(), "index -1 is outside 0..2"),
    BAD("select", x(d).select(0, at_index(d, 5)).to_data(), "index 5 is outside 0..1"),
    BAD("select", x(d).select(0, at_index(d, -1)).to_data(), "index -1 is outside 0..1"),
    BAD("take", x(d).take(0, at_index(d, 5)).to_data(), "index 5 is outside 0..1"),
    BAD("take", x(d).take(0, places(d, 5)).to_data(), "index 5 is outside 0..1"),
    BAD("scatter", x(d).scatter(1, places(d, 7), Tensor<2>::ones({2, 2}, d)).to_data(), "index 7 is outside 0..2"),
    BAD("select_assign", x(d).select_assign(0, at_index(d, 7), Tensor<2>::ones({1, 3}, d)).to_data(), "index 7 is outside 0..1"),
    BAD("gather_nd", x(d).gather_nd<1>(places(d, 7)).to_data(), "index 7 is outside 0..1"),
    BAD("gather_nd", x(d).gather_nd<1>(places(d, -1)).to_data(), "index -1 is outside 0..1"),
    BAD("scatter_nd", x(d).scatter_nd(places(d, 7), Tensor<1>::ones({2}, d)).to_data(), "index 7 is outside 0..1"),
    BAD("embedding", module::embedding(x(d), places(d, 7)).to_data(), "index 7 is outside 0..1"),
    BAD("embedding", (nn::EmbeddingConfig{.n_embedding = 3, .d_model = 2}.init(d)(places(d, 7)).to_data()), "index 7 is outside 0..2"),
    BAD("cross_entropy", nn::CrossEntropyLoss{}(x(d), (Tensor<1, Int>::full({2}, 7, d))).to_data(), "index 7 is outside 0..2"),
    BAD("one_hot", at_index(d, 3).one_hot(3).to_data(), "index 3 is outside 0..2"),
    BAD("one_hot", at_index(d, -1).one_hot(3).to_data(), "index -1 is outside 0..2"),
    BAD("one_hot_fill", at_index(d, 3).one_hot_fill(3, 1, 0, -1).to_data(), "index 3 is outside 0..2"),
    BAD("one_hot_fill", at_index(d, -4).one_hot_fill(3, 1, 0, -1).to_data(), "index -1 is outside 0..2"),
    // the same where only the gradient is read, as in a loop that looks at its loss now and then
    BAD("select", slope(d, [](const auto& w) { return w.select(0, at_index(w.device(), 5)).sum(); }).to_data(), "index 5 is outside 0..1"),
    BAD("gather", slope(d, [](const auto& w) { return w.gather(1, Tensor<2, Int>::full({2, 1}, -1, w.device())).sum(); }).to_data(), "index -1 is outside 0..2"),
    BAD("gather", slope(d, [](const auto& w) { return w.gather(1, places(w.device(), 7)).sum(); }).to_data(), "index 7 is outside 0..2"),
    BAD("cross_entropy", slope(d, [](const auto& w) { return nn::CrossEntropyLoss{}(w, (Tensor<1, Int>::full({2}, 7, w.device()))); }).to_data(), "index 7 is outside 0..2"),
    BAD("cross_entropy", slope(d, [](const auto& w) { return nn::CrossEntropyLossConfig{.smoothing = 0.1}.init(w.device())(w, (Tensor<1, Int>::full({2}, 7, w.device()))); }).to_data(), "index 7 is outside 0..2"),
    // a matrix that has no inverse
    BAD("inverse", linalg::inverse(square(d)).to_data(), "2 x 2", "singular", "pivot 1 is 0"),
    BAD("solve", linalg::solve(square(d), square(d)).to_data(), "2 x 2", "singular"),
    BAD("cholesky", linalg::cholesky(Tensor<2>::from_data({{1, 2}, {2, 1}}, d)).to_data(), "not positive definite", "order 2"),
};
// clang-format on

class BadInput : public ::testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() {
    server_ = new server::Server(test::on_every_transport());
    delayed_ = new server::Server({.device = "delayed", .ws = "127.0.0.1:0"});
  }
  static void TearDownTestSuite() {
    delete server_;
    delete delayed_;
  }

  // In this process, on a worker over a transport, or on a worker whose device detects the error later.
  Device device() const {
    const std::string wanted = GetParam();
    if (wanted == "delayed") return Device{delayed_->url()};
    for (const auto& url : server_->urls()) {
      if (wanted != "cpu" && url.starts_with(wanted + ":")) return Device{url};
    }
    EXPECT_EQ(wanted, "cpu");
    return Device{"cpu"};
  }

  void expect_all(const std::vector<Case>& cases) const {
    const Device d = device();
    const auto kept = x(d) * 2;
    for (const auto& bad : cases) {
      const auto message = test::error_of([&] { bad.call(d); });
      EXPECT_TRUE(message.starts_with(bad.function + ' ') || message.starts_with(bad.function + ':') ||
                  message.find(": " + bad.function + ": ") != std::string::npos)
          << "line " << bad.line << ": not by " << bad.function << ": " << message;
      for (const auto& part : bad.says) EXPECT_THAT(message, HasSubstr(part)) << "line " << bad.line;
      EXPECT_THAT(message, HasSubstr("bad_input_test.cc:" + std::to_string(bad.line) + ")"));
      EXPECT_EQ(Tensor<1>::ones({3}, d).sum().item(), 3) << "after line " << bad.line;
    }
    EXPECT_EQ(kept.sum().item(), 42);  // recorded before all of it
  }

 private:
  static inline server::Server *server_ = nullptr, *delayed_ = nullptr;
};

TEST_P(BadInput, IsRefusedAtTheCall) { expect_all(kRefusedAtTheCall); }

TEST_P(BadInput, ThatOnlyTheWorkerFindsIsReportedByTheNextRead) { expect_all(kFoundByTheWorker); }

TEST_P(BadInput, LosesOnlyWhatIsComputedFromIt) {
  const Device d = device();
  const auto good = x(d) + 1;
  const auto bad = x(d).select(0, at_index(d, 9)) * 2;
  const auto after = good * 3;
  const auto of_bad = after + bad;
  EXPECT_EQ(after.sum().item(), 81);
  EXPECT_THAT(test::error_of([&] { (void)of_bad.to_data(); }), HasSubstr("select: index 9 is outside 0..1"));
  EXPECT_THAT(test::error_of([&] { (void)bad.to_data(); }), HasSubstr("select: index 9"));  // as often as it is asked
  EXPECT_EQ((good * 2).sum().item(), 54);
}

// float -> whole saturates, NaN is 0; whole -> narrower whole keeps the low bits, as in PyTorch (docs/dtypes.md).
TEST_P(BadInput, NumbersBeyondADtypeAreCastAsDocumented) {
  const Device d = device();
  const auto wide = Tensor<1>::from_data({3e9, -3e9, NAN, INFINITY}, d).to_int(DType::i32);
  EXPECT_EQ(wide.to_vec_as<std::int64_t>(), (std::vector<std::int64_t>{INT32_MAX, INT32_MIN, 0, INT32_MAX}));
  const auto whole = Tensor<1, Int>::from_data({(Index{1} << 40) + 7, 300, -5}, d);
  EXPECT_EQ(whole.cast(DType::i32).to_vec_as<Index>(), (std::vector<Index>{7, 300, -5}));
  EXPECT_EQ(whole.cast(DType::u8).to_vec_as<Index>(), (std::vector<Index>{7, 44, 251}));
  EXPECT_EQ(Tensor<1>::full({1}, 70000, d).cast(DType::f16).to_vec_as<float>(), std::vector<float>{INFINITY});
  // On the host, a check has to be asked for:
  EXPECT_THAT(test::error_of([&] { (void)whole.to_data().try_cast(DType::u8).value(); }), HasSubstr("u8"));
}

// A probability that is none: never drawn, and no error.
TEST_P(BadInput, WeightsThatAreNoProbabilitiesAreNeverDrawn) {
  const Device d = device();
  const auto weights = Tensor<2>::from_data({{NAN, 2, -1, 3}, {0, -INFINITY, 1, NAN}}, d);
  const auto drawn = weights.multinomial(50, true).to_vec_as<Index>(),
             distinct = weights.multinomial(1).to_vec_as<Index>();
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_TRUE(drawn[i] == 1 || drawn[i] == 3) << drawn[i];
    EXPECT_EQ(drawn[50 + i], 2);
  }
  EXPECT_TRUE(distinct[0] == 1 || distinct[0] == 3) << distinct[0];
  EXPECT_EQ(distinct[1], 2);
}

// The same ops called from two lines are one program, run twice: each error names its own line.
TEST_P(BadInput, NamesTheLineOfTheCallThoughTheProgramIsKnown) {
  const Device d = device();
  const auto source = Tensor<1>::ones({17}, d);
  for (int round = 0; round < 2; ++round) {
    const auto first = __LINE__ + 1;
    const auto one = test::error_of([&] { (void)source.select(0, at_index(d, 99)).to_data(); });
    const auto two = test::error_of([&] { (void)source.select(0, at_index(d, 99)).to_data(); });
    EXPECT_THAT(one, HasSubstr("bad_input_test.cc:" + std::to_string(first) + ")"));
    EXPECT_THAT(two, HasSubstr("bad_input_test.cc:" + std::to_string(first + 1) + ")"));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, BadInput, ::testing::Values("cpu", "ws", "grpc", "unix", "delayed"),
                         [](const auto& device) { return std::string{device.param}; });

}  // namespace
}  // namespace burn
