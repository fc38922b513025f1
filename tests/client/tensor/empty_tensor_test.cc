// Tensors that hold nothing: every use of one is an error that names the function and the line of the call.
#include <functional>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/ops/activation.h"
#include "client/tensor/linalg.h"
#include "client/tensor/tensor.h"
#include "tests/client/recording_session.h"
#include "tests/support/error_of.h"

namespace burn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class EmptyTensor : public ::testing::Test {
 protected:
  std::shared_ptr<test::RecordedCalls> calls = std::make_shared<test::RecordedCalls>();
  Device device = Device::from_session("test", std::make_unique<test::RecordingSession>(calls)).autodiff();
  Tensor<2> x = Tensor<2>::from_data({{1, 2}, {3, 4}}, device);
  Tensor<2> empty;
  Tensor<2, Int> empty_ints;
  Tensor<2, Bool> empty_bools;

  void expect_error(const char* what, const std::function<void()>& call) {
    EXPECT_THAT(test::error_of(call),
                AllOf(StartsWith(what), HasSubstr("the tensor is empty: default-constructed or moved from"),
                      HasSubstr("empty_tensor_test.cc:")));
  }
};

TEST_F(EmptyTensor, HasNoShapeTypeOrDevice) {
  expect_error("shape", [&] { (void)empty.shape(); });
  expect_error("dims", [&] { (void)empty.dims(); });
  expect_error("dim", [&] { (void)empty.dim(-1); });
  expect_error("dtype", [&] { (void)empty.dtype(); });
  expect_error("device", [&] { (void)empty.device(); });
  expect_error("num_elements", [&] { (void)empty.num_elements(); });
}

TEST_F(EmptyTensor, CannotBeReadOrPrinted) {
  expect_error("to_data", [&] { (void)empty.to_data(); });
  expect_error("to_data", [&] { (void)empty.into_data(); });
  expect_error("to_data_async", [&] { (void)empty.to_data_async(); });
  expect_error("into_scalar", [&] { (void)empty.into_scalar<float>(); });
  std::ostringstream out;
  expect_error("print", [&] { out << empty; });
}

TEST_F(EmptyTensor, IsNoOperandOfAnOp) {
  expect_error("exp", [&] { (void)empty.exp(); });
  expect_error("add: operand 1 of 2", [&] { (void)(empty + x); });
  expect_error("add: operand 2 of 2", [&] { (void)(x + empty); });
  expect_error("mul", [&] { (void)(empty * 2); });
  expect_error("sub", [&] { (void)(2 - empty); });
  expect_error("equal", [&] { (void)x.equal(empty); });
  expect_error("greater", [&] { (void)empty.greater(1); });
  expect_error("matmul: operand 2 of 2", [&] { (void)x.matmul(empty); });
  expect_error("matmul: operand 1 of 2", [&] { (void)empty.matmul(x); });
  expect_error("neg", [&] { (void)-empty; });
  expect_error("clamp", [&] { (void)empty.clamp(0, 1); });
  expect_error("to_int", [&] { (void)empty.to_int(); });
  expect_error("to_float", [&] { (void)empty_ints.to_float(); });
  expect_error("mask_where: operand 1 of 3", [&] { (void)x.mask_where(empty_bools, x); });
  expect_error("mask_where: operand 2 of 3", [&] { (void)x.mask_where(x.greater(1), empty); });
  expect_error("mask_fill", [&] { (void)empty.mask_fill(x.greater(1), 0); });
  expect_error("mask_fill: operand 1 of 3", [&] { (void)x.mask_fill(empty_bools, 0); });
}

TEST_F(EmptyTensor, HasNoShapeToChange) {
  expect_error("reshape", [&] { (void)empty.reshape<1>({4}); });
  expect_error("transpose", [&] { (void)empty.transpose(); });
  expect_error("permute", [&] { (void)empty.permute({1, 0}); });
  expect_error("flip", [&] { (void)empty.flip({0}); });
  expect_error("flatten", [&] { (void)empty.flatten<1>(0, 1); });
  expect_error("squeeze", [&] { (void)empty.squeeze_dim(0); });
  expect_error("unsqueeze", [&] { (void)empty.unsqueeze_dim(0); });
  expect_error("expand", [&] { (void)empty.expand<2>({2, 2}); });
  expect_error("repeat", [&] { (void)empty.repeat({2, 1}); });
  expect_error("slice", [&] { (void)empty.slice({s(0, 1)}); });
  expect_error("slice_assign", [&] { (void)empty.slice_assign({s(0, 1)}, x); });
  expect_error("slice_assign: the values", [&] { (void)x.slice_assign({s(0, 1)}, empty); });
  expect_error("narrow", [&] { (void)empty.narrow(0, 0, 1); });
  expect_error("cat", [&] { (void)Tensor<2>::cat({empty}, 0); });
  expect_error("cat: operand 2 of 2", [&] { (void)Tensor<2>::cat({x, empty}, 0); });
  expect_error("stack", [&] { (void)Tensor<2>::stack({x, empty}, 0); });
}

TEST_F(EmptyTensor, IsNotReducedOrIndexed) {
  expect_error("sum", [&] { (void)empty.sum(); });
  expect_error("max_dim", [&] { (void)empty.max_dim(0); });
  expect_error("mean", [&] { (void)empty.mean(); });
  expect_error("mean", [&] { (void)empty.mean_dim(0); });
  expect_error("var", [&] { (void)empty.var(0); });
  expect_error("argmax", [&] { (void)empty.argmax(0); });
  expect_error("argsort", [&] { (void)empty.argsort(0); });
  expect_error("cumsum", [&] { (void)empty.cumsum(0); });
  expect_error("any", [&] { (void)empty_bools.any(); });
  expect_error("gather", [&] { (void)empty.gather(0, empty_ints); });
  expect_error("gather: operand 2 of 2", [&] { (void)x.gather(0, empty_ints); });
  expect_error("scatter: operand 2 of 3", [&] { (void)x.scatter(0, empty_ints, x); });
  expect_error("select", [&] { (void)x.select(0, Tensor<1, Int>{}); });
  expect_error("one_hot", [&] { (void)empty_ints.one_hot(3); });
  expect_error("vector_norm", [&] { (void)linalg::vector_norm(empty, 2, 0); });
  expect_error("vector_normalize", [&] { (void)linalg::vector_normalize(empty, 2, 0); });
  expect_error("cosine_similarity", [&] { (void)linalg::cosine_similarity(x, empty, 0); });
  expect_error("trace", [&] { (void)linalg::trace(empty); });
  expect_error("outer", [&] { (void)linalg::outer(x, empty); });
  expect_error("matvec", [&] { (void)linalg::matvec(x, Tensor<1>{}); });
}

TEST_F(EmptyTensor, IsNoModelForAnother) {
  expect_error("zeros_like", [&] { (void)Tensor<2>::zeros_like(empty); });
  expect_error("full_like", [&] { (void)Tensor<2>::full_like(empty, 2); });
  expect_error("random_like", [&] { (void)empty.random_like(Distribution::uniform(0, 1)); });
}

TEST_F(EmptyTensor, HasNoGradient) {
  expect_error("require_grad", [&] { (void)empty.require_grad(); });
  expect_error("detach", [&] { (void)empty.detach(); });
  expect_error("inner", [&] { (void)empty.inner(); });
  expect_error("from_inner", [&] { (void)Tensor<2>::from_inner(empty); });
  expect_error("backward", [&] { (void)empty.backward(); });
  expect_error("grad", [&] { (void)empty.grad(Gradients{}); });
  EXPECT_FALSE(empty.is_require_grad());
}

TEST_F(EmptyTensor, IsWhatAMoveLeaves) {
  const auto taken = std::move(x);
  expect_error("exp", [&] { (void)x.exp(); });
  x = taken;
  EXPECT_EQ(x.dims()[0], 2);
}

// Functions of client/ that are not methods of Tensor and take the call site as an argument.
TEST_F(EmptyTensor, IsNoArgumentOfAComposite) {
  const client::Value none;
  const auto& site = at(Loc::current());
  using Unary = client::Value (*)(const client::Value&, const client::Site&);
  const std::pair<const char*, Unary> unary[] = {{"gelu", client::gelu},
                                                 {"gelu_approximate", client::gelu_approximate},
                                                 {"silu", client::silu},
                                                 {"mish", client::mish},
                                                 {"hard_swish", client::hard_swish},
                                                 {"log_sigmoid", client::log_sigmoid},
                                                 {"tanhshrink", client::tanhshrink},
                                                 {"softsign", client::softsign},
                                                 {"selu", client::selu},
                                                 {"clamp", client::relu6}};
  for (const auto& [name, function] : unary) expect_error(name, [&] { (void)function(none, site); });
  expect_error("softmax", [&] { (void)client::softmax(none, 0, site); });
  expect_error("log_softmax", [&] { (void)client::log_softmax(none, 0, site); });
  expect_error("softmin", [&] { (void)client::softmin(none, 0, site); });
  expect_error("softplus", [&] { (void)client::softplus(none, 1, site); });
  expect_error("elu", [&] { (void)client::elu(none, 1, site); });
  expect_error("celu", [&] { (void)client::celu(none, 1, site); });
  expect_error("leaky_relu", [&] { (void)client::leaky_relu(none, 0.1, site); });
  expect_error("prelu: alpha", [&] { (void)client::prelu(x.value(), none, site); });
  expect_error("threshold", [&] { (void)client::threshold(none, 0, 0, site); });
  expect_error("shrink", [&] { (void)client::shrink(none, 0, 0, site); });
  expect_error("glu", [&] { (void)client::glu(none, 0, site); });
  expect_error("linear: the weight", [&] { (void)client::linear(x.value(), none, nullptr, site); });
  expect_error("linear: the bias", [&] { (void)client::linear(x.value(), x.value(), &none, site); });
  expect_error("attention", [&] { (void)client::attention(x.value(), none, x.value(), nullptr, nullptr, {}, site); });
  expect_error("conv", [&] { (void)client::conv(x.value(), none, nullptr, {}, site); });
  expect_error("conv_transpose", [&] { (void)client::conv_transpose(none, none, nullptr, {}, {}, site); });
  expect_error("sum_to", [&] { (void)client::sum_to(none, {1}, site); });
}

TEST_F(EmptyTensor, LeavesTheRecordingAsItWas) {
  const auto y = x + 1;
  expect_error("add", [&] { (void)(y + empty); });
  (void)(y * 2).to_data();
  EXPECT_EQ(calls->program_of(0).nodes.size(), 4u);  // two scalars, two ops
}

TEST(EmptyDevice, IsWhatAMoveLeavesAndSaysSo) {
  Device device =
      Device::from_session("test", std::make_unique<test::RecordingSession>(std::make_shared<test::RecordedCalls>()));
  const Device taken = std::move(device);
  for (const auto& call : std::vector<std::function<void()>>{
           // NOLINTNEXTLINE(bugprone-use-after-move): what is tested
           [&] { (void)device.url(); }, [&] { (void)device.info(); }, [&] { device.sync(); }, [&] { device.flush(); },
           [&] { device.seed(1); }, [&] { (void)Tensor<1>::zeros({1}, device); },
           [&] { (void)Tensor<1>::from_data({1}, device); }}) {
    EXPECT_THAT(test::error_of(call), HasSubstr("the device is empty: it was moved from"));
  }
  EXPECT_EQ(taken.url(), "test");
}

}  // namespace
}  // namespace burn
