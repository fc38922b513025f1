// The fields that BURN_MODULE accepts, and the names of the parameters in them. Refused fields are in
// refused/modules.cc.
#include <functional>
#include <map>

#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using test::ad;
using test::cpu;
using ::testing::ElementsAre;

nn::Linear linear(const Device& device, std::int64_t inputs = 1, std::int64_t outputs = 1) {
  return nn::LinearConfig{.d_input = inputs, .d_output = outputs, .bias = false}.init(device);
}

struct Containers {
  std::tuple<nn::Linear, std::int64_t, nn::Linear> layers;
  std::pair<nn::Linear, double> weighted;
  std::variant<nn::Linear, nn::LayerNorm> either;
  std::map<std::string, nn::Linear> by_name;
  std::map<std::int64_t, Param<1>> by_number;
  nn::Linear in_c[2];
  std::vector<std::map<std::string, std::optional<nn::Linear>>> nested;
  BURN_MODULE(Containers, layers, weighted, either, by_name, by_number, in_c, nested)
};

Containers containers(const Device& device) {
  const auto ones = Tensor<1>::ones({1}, device);
  return {.layers = {linear(device, 2, 3), 7, linear(device, 3, 4)},
          .weighted = {linear(device), 0.5},
          .either = nn::LayerNormConfig{.d_model = 2}.init(device),
          .by_name = {{"b", linear(device)}, {"a", linear(device)}},
          .by_number = {{10, ones}, {-2, ones}},
          .in_c = {linear(device), linear(device)},
          .nested = {{{"x", linear(device)}, {"y", std::nullopt}}}};
}

std::vector<std::string> paths_of(auto&& module) {
  std::vector<std::string> paths;
  module.for_each_slot([&](const std::string& path, Slot&) { paths.push_back(path); });
  return paths;
}

TEST(ModuleFields, ContainersAreVisited) {
  EXPECT_THAT(paths_of(containers(cpu())),
              ElementsAre("layers.0.weight", "layers.2.weight", "weighted.0.weight", "either.1.gamma", "either.1.beta",
                          "by_name.a.weight", "by_name.b.weight", "by_number.-2", "by_number.10", "in_c.0.weight",
                          "in_c.1.weight", "nested.0.x.weight"));
  EXPECT_EQ(containers(cpu()).num_params(), 6 + 12 + 1 + 4 + 2 + 2 + 2 + 1);
}

TEST(ModuleFields, ContainersGoThroughARecordAndToOtherDevices) {
  const auto module = containers(cpu());
  const auto copy = containers(cpu()).load_record(module.into_record());
  EXPECT_EQ(test::values(std::get<2>(copy.layers).weight.val()), test::values(std::get<2>(module.layers).weight.val()));
  const Device other = Device::new_session("cpu");
  auto moved = module.to_device(other);
  moved.for_each_slot(
      [&](const std::string& path, Slot& slot) { EXPECT_EQ(slot.value.device(), other.state()) << path; });
  EXPECT_EQ(std::get<1>(moved.layers), 7);
}

// Fields without tensors may be listed or not.
struct Settings {
  std::int64_t heads = 2;
  std::optional<double> rate = 0.5;
};
enum class Norm { before, after };
struct Constants {
  Param<1> weight;
  std::int64_t count = 1;
  bool flag = true;
  Norm norm = Norm::after;
  std::string name = "x";
  std::vector<bool> flags{true};
  std::vector<std::int64_t> sizes{1, 2};
  std::optional<double> rate{};
  std::map<std::string, double> rates{};
  std::function<Tensor<1>(const Tensor<1>&)> activation{};
  Settings settings{};
  nn::LinearConfig config{};
  Device device{"cpu"};
  std::pair<int, std::string> label{};
  std::variant<std::monostate, double> choice{};
  BURN_MODULE(Constants, weight, count, flag, norm, name, flags, sizes, rate, rates, activation, settings, config,
              device, label, choice)
};
struct UnlistedConstants {
  std::int64_t count = 1;
  Param<1> weight;
  std::string name = "x";
  std::optional<double> rate{};
  std::vector<std::int64_t> sizes{};
  std::function<Tensor<1>(const Tensor<1>&)> activation{};
  Settings settings{};
  nn::LinearConfig config{};
  double table[3] = {};
  std::shared_ptr<const std::string> text{};
  BURN_MODULE(UnlistedConstants, weight)
};

TEST(ModuleFields, ConstantsArePassedOver) {
  EXPECT_THAT(paths_of(Constants{.weight = Tensor<1>::ones({1}, cpu())}), ElementsAre("weight"));
  EXPECT_THAT(paths_of(UnlistedConstants{.weight = Tensor<1>::ones({1}, cpu())}), ElementsAre("weight"));
}

class Opaque {  // not an aggregate: its fields cannot be found
 public:
  explicit Opaque(int seed) : seed_(seed) {}
  int seed() const { return seed_; }

 private:
  int seed_;
};
struct WithSkipped {
  Opaque opaque;
  nn::Linear kept, shared;
  BURN_MODULE(WithSkipped, BURN_SKIP(opaque), kept, BURN_SKIP(shared))
};

TEST(ModuleFields, SkippedOnesAreLeftAlone) {
  const WithSkipped module{Opaque{3}, linear(ad()), linear(ad())};
  EXPECT_THAT(paths_of(module.valid()), ElementsAre("kept.weight"));
  EXPECT_TRUE(module.valid().shared.weight.val().is_require_grad());
}

template <typename Inner>
struct Residual {
  Inner inner;
  std::int64_t times = 1;
  BURN_MODULE(Residual, inner)
};
struct Base {
  nn::Linear first;
  BURN_MODULE(Base, first)
};
struct Derived : Base {
  nn::Linear second;
  BURN_MODULE(Derived, first, second)
};

TEST(ModuleFields, OfTemplatesAndBaseClasses) {
  EXPECT_THAT(paths_of(Residual<nn::Linear>{linear(cpu())}), ElementsAre("inner.weight"));
  EXPECT_THAT(paths_of(Residual<std::vector<Residual<nn::Linear>>>{{{linear(cpu())}}}),
              ElementsAre("inner.0.inner.weight"));
  EXPECT_THAT(paths_of(Derived{{linear(cpu())}, linear(cpu())}), ElementsAre("first.weight", "second.weight"));
}

struct Tree {
  Param<1> weight;
  std::vector<Tree> children{};
  BURN_MODULE(Tree, weight, children)
};

TEST(ModuleFields, OfAModuleThatHoldsItsOwnKind) {
  const auto one = Tensor<1>::ones({1}, cpu());
  EXPECT_THAT(paths_of(Tree{one, {{one}, {one, {{one}}}}}),
              ElementsAre("weight", "children.0.weight", "children.1.weight", "children.1.children.0.weight"));
}

struct WithTensor {
  nn::Linear layer;
  Tensor<1> offset;
  BURN_MODULE(WithTensor, layer, offset)
};

TEST(ModuleFields, ATensorGoesWhereTheModuleGoes) {
  const WithTensor module{linear(ad()), Tensor<1>::from_data({1, 2}, ad())};
  EXPECT_EQ(module.num_params(), 1);
  EXPECT_FALSE(module.into_record().contains("offset"));
  EXPECT_FALSE(module.valid().offset.device().is_autodiff());
  EXPECT_TRUE(module.valid().train().offset.device().is_autodiff());
  const Device other = Device::new_session("cpu");
  const auto moved = module.to_device(other);
  EXPECT_EQ(moved.offset.device(), other);
  test::expect_near(moved.offset, {1, 2});
}

}  // namespace
}  // namespace burn
