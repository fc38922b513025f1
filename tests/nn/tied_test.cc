// A parameter at several places of a module stays one parameter, whatever is done with the module.
#include "nn/module/tied.h"

#include <map>
#include <optional>
#include <sstream>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nn/layer/linear.h"
#include "nn/module/fresh.h"
#include "nn/module/module.h"
#include "nn/module/pairs.h"
#include "nn/module/param_group.h"
#include "nn/norm/batch_norm.h"
#include "tests/support/error_of.h"

namespace burn {
namespace {

using test::error_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Net {
  std::vector<nn::Linear> layers;
  nn::Linear head;
  BURN_MODULE(Net, layers, head)
};

class Tied : public ::testing::Test {
 protected:
  Device cpu = Device{"cpu"}, device = cpu.autodiff();

  nn::Linear linear(const Device& on) { return nn::LinearConfig{.d_input = 2, .d_output = 2}.init(on); }
  // Three copies of one layer, and a head that shares their weight.
  Net net(const Device& on) {
    const auto layer = linear(on);
    Net net{.layers = std::vector<nn::Linear>(3, layer), .head = linear(on)};
    net.head.weight = layer.weight;
    return net;
  }
  static bool is_tied(const Net& net) {
    const auto& first = net.layers[0];
    for (const auto& layer : net.layers) {
      if (layer.weight.id() != first.weight.id() || !is_same(layer.weight.slot(), first.weight.slot())) return false;
      if (!is_same(layer.bias->slot(), first.bias->slot())) return false;
    }
    return net.head.weight.id() == first.weight.id() && is_same(net.head.weight.slot(), first.weight.slot());
  }
  static bool is_same(const Slot& a, const Slot& b) {  // the same tensor, leaf of the tape and frozen state
    return a.value.storage() == b.value.storage() && a.value.tape().get() == b.value.tape().get() &&
           a.is_frozen == b.is_frozen;
  }
  static std::vector<std::string> paths(Net net) {
    std::vector<std::string> paths;
    net.for_each_slot([&](const std::string& path, Slot&) { paths.push_back(path); });
    return paths;
  }
  template <int D, Kind K>
  static std::vector<double> values(const Tensor<D, K>& x) {
    return x.to_data().template to_vec_as<double>();
  }
};

TEST_F(Tied, ParametersAreMetAndCountedOnce) {
  EXPECT_THAT(paths(net(device)), ElementsAre("layers.0.weight", "layers.0.bias", "head.bias"));
  EXPECT_EQ(net(device).num_params(), 4 + 2 + 2);
  EXPECT_EQ(ParamGroup::ids_from_module(net(device)).size(), 3u);
}

TEST_F(Tied, ParametersArePrintedAsTied) {
  std::ostringstream out;
  out << net(device);
  EXPECT_EQ(out.str(), R"(Net (8 parameters)
  layers: list (6 parameters)
    0: Linear (6 parameters)
      weight: f32[2, 2]
      bias: f32[2]
    1: Linear (6 parameters)
      weight: f32[2, 2], tied to layers.0.weight
      bias: f32[2], tied to layers.0.bias
    2: Linear (6 parameters)
      weight: f32[2, 2], tied to layers.0.weight
      bias: f32[2], tied to layers.0.bias
  head: Linear (6 parameters)
    weight: f32[2, 2], tied to layers.0.weight
    bias: f32[2]
)");
}

TEST_F(Tied, ParametersStayTiedWhateverBecomesOfTheModule) {
  const auto given = net(device);
  EXPECT_TRUE(is_tied(given));
  EXPECT_TRUE(is_tied(given.to_device(cpu)));
  EXPECT_TRUE(is_tied(given.to_device(Device::new_session("cpu").autodiff())));
  EXPECT_TRUE(is_tied(given.to_dtype(DType::f64)));
  EXPECT_TRUE(is_tied(given.fork(device)));
  EXPECT_TRUE(is_tied(given.valid()));
  EXPECT_TRUE(is_tied(given.valid().train()));
  EXPECT_TRUE(is_tied(given.no_grad()));
  EXPECT_TRUE(is_tied(given.no_grad().require_grad()));
  EXPECT_TRUE(is_tied(given.load_record(net(cpu).into_record())));
  EXPECT_TRUE(is_tied(nn::freeze_group(given, ParamGroup::from_path("head"))));
  EXPECT_TRUE(is_tied(nn::fresh(given)));
}

TEST_F(Tied, AChangeByPathReachesAllPlaces) {
  auto given = net(device);
  given.for_each_slot(
      [](const std::string&, Slot& slot) { slot.put(client::cast(slot.value.inner(), DType::f64, {}), true); });
  EXPECT_TRUE(is_tied(given));
  EXPECT_EQ(given.head.weight.val().dtype(), DType::f64);
}

TEST_F(Tied, ParametersAreRecordedOnceAndFoundUnderEachName) {
  const auto record = net(cpu).into_record();
  EXPECT_THAT(record.names(), ElementsAre("head.bias", "layers.0.bias", "layers.0.weight"));
  Record by_other_names;
  by_other_names.insert("layers.2.bias", record.get("layers.0.bias"));
  by_other_names.insert("head.weight", record.get("layers.0.weight"));
  by_other_names.insert("head.bias", record.get("head.bias"));
  const auto loaded = net(device).load_record(by_other_names);
  EXPECT_TRUE(is_tied(loaded));
  EXPECT_EQ(loaded.layers[1].weight.val().to_data(), record.get("layers.0.weight"));
  EXPECT_EQ(loaded.layers[0].bias->val().to_data(), record.get("layers.0.bias"));
}

TEST_F(Tied, ARecordThatHasBothNamesLoadsIfTheyAreEqual) {
  auto record = net(cpu).into_record();
  record.insert("head.weight", record.get("layers.0.weight"));
  EXPECT_TRUE(is_tied(net(device).load_record(record)));
  record.insert("head.weight", TensorData(std::vector<float>{1, 2, 3, 4}, {2, 2}));
  EXPECT_THAT(error_of([&] { (void)net(device).load_record(record); }),
              AllOf(HasSubstr("\"layers.0.weight\" and \"head.weight\" are one parameter of Net"),
                    HasSubstr("other numbers in the record")));
  EXPECT_THAT(error_of([&] { (void)net(device).load_record(Record{}); }),
              HasSubstr("the record has no tensor \"layers.0.weight\", \"layers.1.weight\", \"layers.2.weight\", "
                        "\"head.weight\" for Net"));
}

TEST_F(Tied, PlacesThatDifferAreAnErrorThatNamesBoth) {
  const auto error_in = [](const Net& net) { return error_of([&] { (void)net.num_params(); }); };
  auto frozen = net(device);
  frozen.head.weight = frozen.head.weight.set_require_grad(false);
  EXPECT_THAT(error_in(frozen), AllOf(HasSubstr("\"layers.0.weight\" and \"head.weight\" are copies of one parameter"),
                                      HasSubstr("trained at the first and frozen at the second")));
  auto narrow = net(device);
  narrow.layers[1] = narrow.layers[1].to_dtype(DType::bf16);
  EXPECT_THAT(error_in(narrow), AllOf(HasSubstr("\"layers.0.weight\" and \"layers.1.weight\""), HasSubstr("f32[2, 2]"),
                                      HasSubstr("bf16[2, 2]")));
  auto elsewhere = net(device);
  elsewhere.head = elsewhere.head.to_device(cpu);
  EXPECT_THAT(error_in(elsewhere), HasSubstr("it is on cpu (autodiff) at the first and on cpu at the second"));
  auto other = net(device);
  other.layers[2] = other.layers[2].load_record(linear(cpu).into_record());
  EXPECT_THAT(error_in(other), AllOf(HasSubstr("\"layers.0.weight\" and \"layers.2.weight\""),
                                     HasSubstr("its numbers were replaced at one of them")));
  other.layers[0] = other.layers[1] = other.layers[2];
  other.head.weight = other.layers[2].weight;
  EXPECT_EQ(error_in(other), "no error");
}

struct Containers {
  std::optional<nn::Linear> maybe;
  std::map<std::string, nn::Linear> named;
  std::tuple<nn::Linear, int> pair;
  std::vector<std::vector<nn::Linear>> blocks;
  BURN_MODULE(Containers, maybe, named, pair, blocks)
};

TEST_F(Tied, ParametersAreTiedAcrossContainers) {
  const auto layer = linear(device);
  Containers all{
      .maybe = layer, .named = {{"a", layer}, {"b", linear(device)}}, .pair = {layer, 1}, .blocks = {{layer}}};
  for (int i = 0; i < 2; ++i) all.blocks.push_back({layer, layer});
  EXPECT_EQ(all.num_params(), 12);
  const auto moved = all.to_dtype(DType::f64);
  EXPECT_TRUE(is_same(moved.maybe->weight.slot(), moved.named.at("a").weight.slot()));
  EXPECT_TRUE(is_same(moved.maybe->weight.slot(), std::get<0>(moved.pair).weight.slot()));
  EXPECT_TRUE(is_same(moved.maybe->weight.slot(), moved.blocks[2][1].weight.slot()));
  EXPECT_FALSE(is_same(moved.maybe->weight.slot(), moved.named.at("b").weight.slot()));
}

TEST_F(Tied, FreshCopiesAreOfTheirOwn) {
  const auto layer = linear(device);
  const auto copy = nn::fresh(layer);
  EXPECT_NE(copy.weight.id(), layer.weight.id());
  EXPECT_NE(copy.weight.slot().value.tape().get(), layer.weight.slot().value.tape().get());
  EXPECT_TRUE(copy.weight.slot().value.is_tracked());
  EXPECT_EQ(copy.weight.val().to_data(), layer.weight.val().to_data());
  EXPECT_EQ((Net{.layers = {layer, nn::fresh(layer)}, .head = nn::fresh(layer)}.num_params()), 18);
  const auto frozen = nn::fresh(layer.no_grad());
  EXPECT_FALSE(frozen.weight.slot().value.is_tracked());
  const auto weight = nn::fresh(layer.weight);
  EXPECT_NE(weight.id(), layer.weight.id());
}

struct Norms {
  std::vector<nn::BatchNorm> norms;
  Tensor<1> plain{};
  BURN_MODULE(Norms, norms, plain)
};

TEST_F(Tied, RunningStatisticsAreNot) {
  const auto norm = nn::BatchNormConfig{.num_features = 1}.init(device);
  const Norms given{.norms = std::vector<nn::BatchNorm>(2, norm)};
  (void)given.norms[0](Tensor<2>::from_data({{1.0F}, {3.0F}}, device));
  EXPECT_THAT(values(given.norms[0].running_mean.val()), ElementsAre(::testing::DoubleNear(0.2, 1e-6)));
  EXPECT_THAT(values(given.norms[1].running_mean.val()), ElementsAre(0));
  EXPECT_EQ(given.num_params(), 2);
  EXPECT_THAT(given.into_record().names(),
              ElementsAre("norms.0.beta", "norms.0.gamma", "norms.0.running_mean", "norms.0.running_var",
                          "norms.1.running_mean", "norms.1.running_var"));
  const auto moved = given.to_device(Device::new_session("cpu"));
  EXPECT_THAT(values(moved.norms[0].running_mean.val()), ElementsAre(::testing::DoubleNear(0.2, 1e-6)));
  EXPECT_THAT(values(moved.norms[1].running_mean.val()), ElementsAre(0));
}

// --- two modules at once ---------------------------------------------------------------------------------------------

TEST_F(Tied, AWalkOverTwoModulesAveragesThemByHand) {
  const auto now = net(device);
  auto mean = net(device).no_grad();
  const auto before = values(mean.head.weight.val()), other = values(now.head.weight.val());
  std::vector<std::string> met;
  nn::for_each_pair(now, mean, [&](const std::string& path, const auto& a, auto& b) {
    met.push_back(path);
    b = b * 0.75 + a * 0.25;
  });
  EXPECT_THAT(met, ElementsAre("layers.0.weight", "layers.0.bias", "head.bias"));
  EXPECT_TRUE(is_tied(mean));
  EXPECT_FALSE(mean.head.weight.slot().value.is_tracked());
  const auto after = values(mean.head.weight.val());
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(after[i], 0.75 * before[i] + 0.25 * other[i], 1e-6);
  EXPECT_EQ(values(now.head.weight.val()), other);
}

TEST_F(Tied, AWalkOverTwoModulesOfOtherStructureNamesThePath) {
  const auto nothing = [](const std::string&, const auto&, auto&) {};
  const auto tied = net(device);
  auto one_more = tied;
  one_more.layers.push_back(linear(device));
  EXPECT_THAT(error_of([&] { nn::for_each_pair(tied, one_more, nothing); }),
              HasSubstr("the first module has a tensor \"head.weight\" where the second has \"layers.3.weight\""));
  auto without_bias = tied;
  without_bias.head.bias.reset();
  EXPECT_THAT(error_of([&] { nn::for_each_pair(without_bias, one_more = tied, nothing); }),
              HasSubstr("the second module has a tensor \"head.bias\", the first has none"));
  auto wide = tied;
  wide.head = nn::LinearConfig{.d_input = 2, .d_output = 3}.init(device);
  EXPECT_THAT(error_of([&] { nn::for_each_pair(tied, wide, nothing); }),
              HasSubstr("\"head.weight\" is f32[2, 2] in the first module and f32[2, 3] in the second"));
  auto untied = tied;
  untied.head = nn::fresh(untied.head);
  EXPECT_THAT(error_of([&] { nn::for_each_pair(tied, untied, nothing); }),
              HasSubstr("\"head.weight\" is a parameter of its own in one module and tied to another in the other"));
  auto elsewhere = tied.to_device(Device::new_session("cpu"));
  EXPECT_THAT(error_of([&] { nn::for_each_pair(tied, elsewhere, nothing); }), HasSubstr("\"layers.0.weight\" is on"));
  auto same = tied;
  EXPECT_THAT(error_of([&] {
                nn::for_each_pair(tied, same, [](const std::string&, const auto& a, auto& b) {
                  if constexpr (std::decay_t<decltype(a)>::kRank == 2) b = b.sum_dim(0);
                });
              }),
              HasSubstr("\"layers.0.weight\" is f32[2, 2] in the second module, it cannot become f32[1, 2]"));
}

}  // namespace
}  // namespace burn
