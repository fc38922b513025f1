// BURN_MODULE: which fields are visited and under which names, and what follows from it.
#include "nn/module/module.h"

#include <sstream>

#include "nn/nn.h"
#include "tests/nn/nn_test.h"
#include "tests/support/temp_folder.h"

namespace burn {
namespace {

using test::ad;
using test::cpu;
using test::error_of;
using test::expect_near;
using ::testing::ElementsAre;

// The network of the guide: two convolutions, two linear layers.
struct Net {
  nn::Conv2d conv1, conv2;
  nn::AdaptiveAvgPool2d pool;
  nn::Dropout dropout;
  nn::Linear linear1, linear2;
  nn::Relu activation;
  BURN_MODULE(Net, conv1, conv2, pool, dropout, linear1, linear2, activation)

  Tensor<2> forward(const Tensor<3>& images) const {  // [batch, height, width] -> [batch, classes]
    auto [batch, height, width] = images.dims();
    auto x = images.reshape<4>({batch, 1, height, width});
    x = dropout(conv1(x));                 // [batch, 8, .., ..]
    x = activation(dropout(conv2(x)));     // [batch, 16, .., ..]
    auto flat = pool(x).flatten<2>(1, 3);  // [batch, 16 * 8 * 8]
    return linear2(activation(dropout(linear1(flat))));
  }
};

struct NetConfig {
  std::int64_t num_classes = 10, hidden = 512;
  double dropout = 0.5;
  BURN_CONFIG(NetConfig, num_classes, hidden, dropout)

  Net init(const Device& device) const {
    return {
        .conv1 = nn::Conv2dConfig{.channels = {1, 8}, .kernel_size = {3, 3}}.init(device),
        .conv2 = nn::Conv2dConfig{.channels = {8, 16}, .kernel_size = {3, 3}}.init(device),
        .pool = nn::AdaptiveAvgPool2dConfig{.output_size = {8, 8}}.init(),
        .dropout = nn::DropoutConfig{.prob = dropout}.init(),
        .linear1 = nn::LinearConfig{.d_input = 16 * 8 * 8, .d_output = hidden}.init(device),
        .linear2 = nn::LinearConfig{.d_input = hidden, .d_output = num_classes}.init(device),
        .activation = {},
    };
  }
};

// Every form that a field can take.
struct Leaf {
  Param<1> weight;
  RunningState<1> seen;
  std::int64_t setting = 1;
  std::vector<bool> flags{true};
  BURN_MODULE(Leaf, weight, seen, setting, flags)
};
struct Empty {
  BURN_MODULE(Empty)
};
struct Forms {
  Param<2> matrix;
  std::optional<Param<1>> present, absent;
  std::vector<Param<1>> list;
  std::vector<nn::Linear> layers;
  std::array<Leaf, 2> pair;
  std::optional<Leaf> maybe;
  std::vector<std::optional<Leaf>> nested;
  std::vector<std::int64_t> numbers{1, 2};
  Empty empty;
  Leaf leaf;
  BURN_MODULE(Forms, matrix, present, absent, list, layers, pair, maybe, nested, numbers, empty, leaf)
};

template <int D>
Tensor<D> ones(const Dims<D>& dims, const Device& device) {
  return Tensor<D>::ones(dims, device);
}

Leaf leaf(const Device& device) { return {.weight = ones<1>({2}, device), .seen = ones<1>({2}, device)}; }

Forms forms(const Device& device) {
  return {.matrix = ones<2>({2, 3}, device),
          .present = ones<1>({4}, device),
          .list = {ones<1>({1}, device), ones<1>({1}, device)},
          .layers = {nn::LinearConfig{.d_input = 1, .d_output = 1}.init(device),
                     nn::LinearConfig{.d_input = 1, .d_output = 1, .bias = false}.init(device)},
          .pair = {leaf(device), leaf(device)},
          .nested = {std::nullopt, leaf(device)},
          .leaf = leaf(device)};
}

TEST(Module, NamesEveryTensorByItsPath) {
  std::vector<std::string> paths;
  forms(cpu()).for_each_slot([&](const std::string& path, Slot&) { paths.push_back(path); });
  EXPECT_THAT(paths, ElementsAre("matrix", "present", "list.0", "list.1", "layers.0.weight", "layers.0.bias",
                                 "layers.1.weight", "pair.0.weight", "pair.0.seen", "pair.1.weight", "pair.1.seen",
                                 "nested.1.weight", "nested.1.seen", "leaf.weight", "leaf.seen"));
}

TEST(Module, WithoutFieldsIsAModule) {
  static_assert(Module<Empty> && Module<nn::Relu>);
  EXPECT_EQ(Empty{}.num_params(), 0);
  EXPECT_TRUE(Empty{}.into_record().empty());
}

TEST(Module, CountsParametersButNoStatistics) {
  EXPECT_EQ(forms(cpu()).num_params(), 6 + 4 + 1 + 1 + 2 + 1 + 2 + 2 + 2 + 2);
  EXPECT_EQ(NetConfig{}.init(cpu()).num_params(), 531'178);
}

TEST(Module, PrintsATreeWithCounts) {
  std::ostringstream out;
  out << NetConfig{}.init(cpu());
  EXPECT_EQ(out.str(), R"(Net (531178 parameters)
  conv1: Conv2d (80 parameters)
    weight: f32[8, 1, 3, 3]
    bias: f32[8]
  conv2: Conv2d (1168 parameters)
    weight: f32[16, 8, 3, 3]
    bias: f32[16]
  pool: AdaptiveAvgPool2d (0 parameters)
  dropout: Dropout (0 parameters)
  linear1: Linear (524800 parameters)
    weight: f32[1024, 512]
    bias: f32[512]
  linear2: Linear (5130 parameters)
    weight: f32[512, 10]
    bias: f32[10]
  activation: Relu (0 parameters)
)");
}

TEST(Module, OfTheGuideRunsAndLearns) {
  ad().seed(1);
  const Net net = NetConfig{.dropout = 0}.init(ad());
  const auto images = Tensor<3>::random({4, 12, 12}, Distribution::normal(0, 1), ad());
  const auto targets = Tensor<1, Int>::from_data({0, 1, 2, 3}, ad());
  const auto logits = net.forward(images);
  EXPECT_THAT(logits.dims(), ElementsAre(4, 10));
  const auto loss = nn::CrossEntropyLoss{}(logits, targets);
  const auto gradients = loss.backward();
  const double before = loss.into_scalar<double>();
  Net stepped = net;
  stepped.for_each_slot([&](const std::string& path, Slot& slot) {
    const auto gradient = gradients.get(slot.value);
    ASSERT_TRUE(gradient.has_value()) << path;
    const auto step = client::pointwise(ir::PointwiseFn::mul, *gradient, 0.05, {});
    slot.value = client::require_grad(client::pointwise(ir::PointwiseFn::sub, slot.value.inner(), step, {}));
  });
  EXPECT_LT(nn::CrossEntropyLoss{}(stepped.forward(images), targets).into_scalar<double>(), before);
}

TEST(Module, RoundTripsThroughARecordOnDisk) {
  const test::TempFolder folder;
  cpu().seed(2);
  const Net net = NetConfig{.hidden = 16, .dropout = 0}.init(cpu());
  net.into_record().save(folder / "net.safetensors");
  const Net copy =
      NetConfig{.hidden = 16, .dropout = 0}.init(ad()).load_record(Record::load(folder / "net.safetensors"));
  const auto images = Tensor<3>::random({2, 12, 12}, Distribution::normal(0, 1), cpu());
  EXPECT_EQ(test::values(copy.valid().forward(images)), test::values(net.forward(images)));
  EXPECT_TRUE(copy.linear1.weight.val().is_require_grad());
}

TEST(Module, LoadingARecordKeepsParameterIds) {
  const auto module = forms(ad());
  const auto copy = module.load_record(module.into_record());
  EXPECT_EQ(copy.matrix.id(), module.matrix.id());
  EXPECT_FALSE(copy.leaf.seen.slot().value.is_autodiff());
}

TEST(Module, RefusesARecordThatDoesNotFit) {
  const auto layer = nn::LinearConfig{.d_input = 2, .d_output = 3}.init(cpu());
  const auto loading = [&](auto&& change) {
    Record record = layer.into_record();
    change(record);
    return error_of([&] { (void)layer.load_record(record); });
  };
  EXPECT_EQ(loading([](Record&) {}), "");
  EXPECT_EQ(loading([](Record& r) { r.remove("bias"); }),
            "load_record: the record has no tensor \"bias\" for Linear, which needs f32[3]");
  EXPECT_EQ(loading([](Record& r) {
              r.insert("weight", TensorData::zeros({3, 2}));
            }),
            "load_record: tensor \"weight\" is f32[2, 3] in Linear but f32[3, 2] in the record");
  EXPECT_EQ(loading([](Record& r) { r.insert("extra", TensorData::zeros({1})); }),
            "load_record: the record's tensor \"extra\" (f32[1]) has no place in Linear");
}

TEST(Module, TakesARecordOfAnotherElementType) {
  const auto layer = nn::LinearConfig{.d_input = 1, .d_output = 2, .bias = false}.init(cpu());
  Record record;
  record.insert("weight", TensorData(std::vector<double>{1.5, 2.5}, {1, 2}));
  const auto loaded = layer.load_record(record);
  EXPECT_EQ(loaded.weight.val().dtype(), DType::f32);
  expect_near(loaded.weight.val(), {1.5, 2.5});
}

TEST(Module, OffTheAutodiffDeviceHasNoTape) {
  const auto module = forms(ad());
  EXPECT_TRUE(module.matrix.val().is_require_grad());
  EXPECT_TRUE(module.nested[1]->weight.val().device().is_autodiff());
  const auto inference = module.valid();
  EXPECT_FALSE(inference.matrix.val().device().is_autodiff());
  EXPECT_FALSE(inference.nested[1]->weight.val().device().is_autodiff());
  EXPECT_TRUE(module.matrix.val().is_require_grad()) << "the original is another value";
}

TEST(Module, FrozenParametersGetNoGradient) {
  auto layer = nn::LinearConfig{.d_input = 2, .d_output = 1}.init(ad()).no_grad();
  EXPECT_FALSE(layer.weight.val().is_require_grad());
  EXPECT_TRUE(layer.weight.val().device().is_autodiff());
  const auto x = Tensor<2>::ones({1, 2}, ad()).require_grad();
  const auto gradients = layer(x).sum().backward();
  EXPECT_EQ(gradients.size(), 1u);
}

TEST(Module, ForkedHasLeavesOfItsOwn) {
  const auto layer = nn::LinearConfig{.d_input = 2, .d_output = 1}.init(ad());
  const auto replica = layer.fork(ad());
  EXPECT_EQ(replica.weight.id(), layer.weight.id());
  EXPECT_TRUE(replica.weight.val().is_require_grad());
  const auto x = Tensor<2>::ones({1, 2}, ad());
  const auto gradients = replica(x).sum().backward();
  EXPECT_TRUE(replica.weight.val().grad(gradients).has_value());
  EXPECT_FALSE(layer.weight.val().grad(gradients).has_value());
}

TEST(Module, MovesToAnotherSession) {
  const auto layer = nn::LinearConfig{.d_input = 2, .d_output = 1}.init(cpu());
  const Device other = Device::new_session("cpu");
  const auto moved = layer.to_device(other);
  EXPECT_EQ(moved.weight.val().device(), other);
  EXPECT_EQ(test::values(moved(Tensor<2>::ones({1, 2}, other))), test::values(layer(Tensor<2>::ones({1, 2}, cpu()))));
}

}  // namespace
}  // namespace burn
