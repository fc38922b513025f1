// A module with a layer that was never made, or that was moved from: every use of it fails with the name of that layer.
#include <algorithm>
#include <functional>
#include <sstream>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/capture/capture.h"
#include "nn/nn.h"
#include "tests/train/fake_session.h"
#include "train/train.h"

namespace burn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Net {
  nn::Linear hidden, output;
  BURN_MODULE(Net, hidden, output)

  Tensor<2> forward(const Tensor<2>& x) const { return output(hidden(x)); }
};

struct Every {
  nn::Conv2d conv;
  nn::ConvTranspose2d conv_transpose;
  nn::BatchNorm batch_norm;
  nn::LayerNorm layer_norm;
  nn::RmsNorm rms_norm;
  nn::GroupNorm group_norm;
  nn::Embedding embedding;
};

class EmptyModule : public ::testing::Test {
 protected:
  std::shared_ptr<test::FakeServer> server = std::make_shared<test::FakeServer>();
  Device device = test::fake_device(server).autodiff();
  Net net{.hidden = nn::LinearConfig{.d_input = 2, .d_output = 2}.init(device)};  // NOLINT: .output is forgotten
  Tensor<2> x = Tensor<2>::from_data({{1, 2}, {3, 4}}, device);

  static std::string error_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  static void expect_error(const char* what, const std::function<void()>& call) {
    EXPECT_THAT(error_of(call),
                AllOf(StartsWith(what), HasSubstr("the tensor is empty: default-constructed or moved from")));
  }
  static void expect_error_here(const char* what, const std::function<void()>& call) {
    EXPECT_THAT(error_of(call),
                AllOf(StartsWith(what), HasSubstr("the tensor is empty: default-constructed or moved from"),
                      HasSubstr("empty_module_test.cc:")));
  }
};

TEST_F(EmptyModule, SaysSoWhenItIsCalled) {
  expect_error_here("Linear: weight", [&] { (void)net.forward(x); });
  expect_error_here("parameter", [&] { (void)net.output.weight.val(); });
  const Every every{};
  const auto image = x.reshape<4>({1, 1, 2, 2});
  expect_error_here("Conv: weight", [&] { (void)every.conv(image); });
  expect_error_here("ConvTranspose: weight", [&] { (void)every.conv_transpose(image); });
  expect_error_here("BatchNorm: gamma", [&] { (void)every.batch_norm(image); });
  expect_error_here("LayerNorm: gamma", [&] { (void)every.layer_norm(x); });
  expect_error_here("RmsNorm: gamma", [&] { (void)every.rms_norm(x); });
  expect_error_here("Embedding: weight", [&] { (void)every.embedding(x.to_int()); });
  expect_error_here("conv", [&] { (void)every.conv(Tensor<4>{}); });
  expect_error_here("group_norm", [&] { (void)every.group_norm(Tensor<4>{}); });
  expect_error_here("linear", [&] { (void)net.hidden(Tensor<2>{}); });
}

TEST_F(EmptyModule, SaysWhichTensorWhereItIsWalked) {
  const char* const which = "output.weight";
  expect_error(which, [&] { (void)net.into_record(); });
  expect_error(which, [&] { (void)net.num_params(); });
  expect_error(which, [&] { (void)net.valid(); });
  expect_error(which, [&] { (void)net.no_grad(); });
  expect_error(which, [&] { (void)net.to_device(device); });
  expect_error(which, [&] { (void)net.fork(device); });
  expect_error(which, [&] { net.for_each_slot([](const std::string&, Slot&) {}); });
}

TEST_F(EmptyModule, SaysWhichTensorWhenItIsTrained) {
  const char* const which = "output.weight";
  auto optim = optim::AdamConfig{}.init<Net>();
  const auto loss = net.hidden(x).mean();
  const auto gradients = loss.backward();
  expect_error(which, [&] { (void)optim::GradientsParams::from_grads(gradients, net); });
  expect_error(which, [&] { net = optim.step(1e-3, std::move(net), optim::GradientsParams{}); });
}

TEST_F(EmptyModule, IsWhatAMoveLeaves) {
  Net whole{.hidden = net.hidden, .output = nn::LinearConfig{.d_input = 2, .d_output = 2}.init(device)};
  const Net taken = std::move(whole);
  EXPECT_EQ(taken.num_params(), 12);
  expect_error("hidden.weight", [&] { (void)whole.into_record(); });  // NOLINT: after the move on purpose
  expect_error_here("Linear: weight", [&] { (void)whole.forward(x); });
}

TEST_F(EmptyModule, PrintsWhatIsMissing) {
  std::ostringstream out;
  out << net;
  EXPECT_THAT(out.str(), HasSubstr("weight: empty"));
}

TEST_F(EmptyModule, SaysSoInACapturedStep) {
  auto step = capture(device, [](const Net& net, const Tensor<2>& x) { return net.forward(x); });
  expect_error_here("Linear: weight", [&] { (void)step(net, x); });
  Tensor<2> none;
  expect_error_here("linear", [&] { (void)step(net, none); });
  net.output = net.hidden;
  EXPECT_EQ(step(net, x).dims()[1], 2);
}

// Whether an output of the program depends on a random number. Nodes that no output depends on are not executed.
bool needs_random_numbers(const ir::Program& program) {
  std::vector<bool> is_needed(program.nodes.size());
  const auto mark = [&](ir::Ref ref) {
    if (!ref.is_input()) is_needed[static_cast<std::size_t>(program.node_of(ref))] = true;
  };
  std::ranges::for_each(program.outputs, mark);
  for (std::size_t n = program.nodes.size(); n-- > 0;) {
    if (!is_needed[n]) continue;
    if (std::holds_alternative<ir::Random>(program.nodes[n].op)) return true;
    std::ranges::for_each(program.operands_of(program.nodes[n]), mark);
  }
  return false;
}

// Initial values that are replaced before the recording is sent are not computed.
TEST(LoadedModule, IsNotDrawnAtRandomFirst) {
  const auto server = std::make_shared<test::FakeServer>();
  const Device device = test::fake_device(server).autodiff();
  const auto make = [&] {
    return Net{nn::LinearConfig{.d_input = 2, .d_output = 3}.init(device),
               nn::LinearConfig{.d_input = 3, .d_output = 1, .layout = nn::LinearLayout::col}.init(device)};
  };
  const auto drawn = [&] {
    return std::ranges::count_if(
        server->runs, [&](const proto::Run& run) { return needs_random_numbers(*server->programs.at(run.program)); });
  };
  const auto record = make().into_record();
  EXPECT_GT(drawn(), 0);
  server->runs.clear();
  const auto loaded = make().load_record(record);
  device.sync();
  (void)loaded.forward(Tensor<2>::zeros({1, 2}, device)).to_data();
  EXPECT_GT(server->runs.size(), 0u);
  EXPECT_EQ(drawn(), 0);
}

}  // namespace
}  // namespace burn
