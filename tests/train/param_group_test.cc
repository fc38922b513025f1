// Groups of parameters: which parameters they have, and their use by optimizers, schedules and freezing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nn/nn.h"
#include "tests/support/error_of.h"
#include "train/train.h"

namespace burn {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Net {
  nn::Linear body, head;
  BURN_MODULE(Net, body, head)
  Tensor<2> forward(const Tensor<2>& x) const { return head(body(x)); }
};

Net net() {
  const auto device = Device{"cpu"}.autodiff();
  device.seed(1);
  return {.body = nn::LinearConfig{.d_input = 2, .d_output = 2}.init(device),
          .head = nn::LinearConfig{.d_input = 2, .d_output = 1}.init(device)};
}

std::vector<std::string> names(const ParamGroup& group) {
  std::vector<std::string> found;
  auto module = net();
  module.for_each_slot([&](const std::string& path, Slot& slot) {
    if (group.matches(slot.id, path)) found.push_back(path);
  });
  return found;
}

TEST(ParamGroup, HasWhatItIsMadeOf) {
  EXPECT_THAT(names(ParamGroup::all()), ElementsAre("body.weight", "body.bias", "head.weight", "head.bias"));
  EXPECT_THAT(names(ParamGroup::from_path("head")), ElementsAre("head.weight", "head.bias"));
  EXPECT_THAT(names(ParamGroup::from_path("head.bias")), ElementsAre("head.bias"));
  EXPECT_THAT(names(ParamGroup::from_path("hea")), ElementsAre());
  EXPECT_THAT(names(ParamGroup::from_regex("^.*\\.bias$")), ElementsAre("body.bias", "head.bias"));
  EXPECT_THAT(names(ParamGroup::from_predicate([](std::string_view path) { return path.size() == 9; })),
              ElementsAre("body.bias", "head.bias"));
  const auto head = ParamGroup::from_path("head"), biases = ParamGroup::from_any_regexes({"bias"});
  EXPECT_THAT(names(head.fuse(biases)), ElementsAre("body.bias", "head.weight", "head.bias"));
  EXPECT_THAT(names(head.exclude(biases)), ElementsAre("head.weight"));
  EXPECT_THAT(test::error_of([] { (void)ParamGroup::from_regex("("); }), HasSubstr("\"(\" is no pattern"));
  const auto module = net();
  const auto of_head = ParamGroup::from_module(module.head);
  EXPECT_TRUE(of_head.matches(module.head.weight.id(), "anything"));
  EXPECT_FALSE(of_head.matches(module.body.weight.id(), "head.weight"));
}

TEST(ParamGroup, IsFrozenAndRecordedAlone) {
  const auto frozen = nn::freeze_group(net(), ParamGroup::from_path("body"));
  EXPECT_FALSE(frozen.body.weight.val().is_require_grad());
  EXPECT_TRUE(frozen.head.weight.val().is_require_grad());
  EXPECT_TRUE(nn::unfreeze_group(frozen, ParamGroup::all()).body.bias->val().is_require_grad());
  EXPECT_THAT(nn::into_record_group(frozen, ParamGroup::from_path("head")).names(),
              ElementsAre("head.bias", "head.weight"));
}

TEST(Gradients, AreTakenByTheModulesAndParametersNamed) {
  const auto module = net();
  const auto x = Tensor<2>::ones({1, 2}, Device{"cpu"}.autodiff());
  auto gradients = module.forward(x).sum().backward();
  const auto weight = GradientsParams::from_params(gradients, module, {module.head.weight.id()});
  EXPECT_EQ(weight.size(), 1u);
  EXPECT_TRUE(weight.get(module.head.weight).has_value());
  EXPECT_EQ(GradientsParams::from_module(gradients, module.head).size(), 1u);  // the weight was taken above
  EXPECT_EQ(GradientsParams::from_module(gradients, module.body).size(), 2u);
  EXPECT_EQ(gradients.size(), 0u);
}

// Parameters start at 0 and every gradient is 1, so that a step of plain SGD moves each by -rate of its group.
class Step : public ::testing::Test {
 protected:
  Step() : module(net()) {
    module.for_each_slot([](const std::string&, Slot& slot) {
      slot.value = client::require_grad(Tensor<1>::zeros({1}, Device{"cpu"}.autodiff()).value());
    });
  }
  GradientsParams ones() {
    GradientsParams gradients;
    module.for_each_slot(
        [&](const std::string&, Slot& slot) { gradients.put(slot.id, Tensor<1>::ones({1}, "cpu").value()); });
    return gradients;
  }
  std::vector<double> parameter_values() {
    std::vector<double> numbers;
    module.for_each_slot([&](const std::string&, Slot& slot) { numbers.push_back(Tensor<1>{slot.value}.item()); });
    return numbers;
  }
  Net module;
};

TEST_F(Step, TakesEachGroupsRateFromTheLastGroupItIsIn) {
  optim::Optimizer<Net> sgd{optim::SgdConfig{}.init()};
  lr::ModuleLrScheduler schedule{lr::Constant{.rate = 1}};
  schedule.with_group(ParamGroup::from_path("head"), lr::Exponential{.initial = 2, .gamma = 0.5})
      .with_group(ParamGroup::from_regex("head.bias"), 4.0);
  module = sgd.step(schedule.step(), std::move(module), ones());
  EXPECT_THAT(parameter_values(), ElementsAre(-1, -1, -2, -4));
  const auto record = schedule.to_record();
  module = sgd.step(schedule.step(), std::move(module), ones());
  EXPECT_THAT(parameter_values(), ElementsAre(-2, -2, -3, -8));
  schedule.load_record(record);  // repeats the second step's rates
  module = sgd.step(schedule.step(), std::move(module), ones());
  EXPECT_THAT(parameter_values(), ElementsAre(-3, -3, -4, -12));
  EXPECT_THAT(test::error_of([&] { lr::ModuleLrScheduler{1.0}.load_record(record); }), HasSubstr("has 2 groups"));
}

TEST_F(Step, TakesEachGroupByItsOwnOptimizerAndRemembersIt) {
  const auto make = [] {
    auto optimizer = optim::SgdConfig{}.init<Net>();
    optimizer.with_group(ParamGroup::from_path("head"),
                         optim::SgdConfig{.momentum = optim::MomentumConfig{.momentum = 0.5, .dampening = 0}});
    return optimizer;
  };
  auto optimizer = make();
  module = optimizer.step(1, std::move(module), ones());
  const auto record = optimizer.to_record(module);
  EXPECT_TRUE(record.contains("head.weight/velocity"));
  EXPECT_FALSE(record.contains("body.weight/velocity"));
  auto again = make();
  again.load_record(module, record);
  module = again.step(1, std::move(module), ones());
  EXPECT_THAT(parameter_values(), ElementsAre(-2, -2, -2.5, -2.5));  // momentum: 1, then 1.5
  EXPECT_THAT(test::error_of([&] { again.with_group(ParamGroup::all(), optim::SgdConfig{}); }),
              HasSubstr("has taken a step"));
}

}  // namespace
}  // namespace burn
