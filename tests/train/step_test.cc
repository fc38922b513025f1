// The calls that a training makes on its device: one run per step, whatever the step consists of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/record/device_state.h"
#include "tests/support/temp_folder.h"
#include "tests/train/fake_session.h"
#include "tests/train/tiny.h"

namespace burn {
namespace {

class Step : public ::testing::Test {
 protected:
  std::shared_ptr<test::FakeServer> server = std::make_shared<test::FakeServer>();
  Device device = test::fake_device(server);

  client::DeviceStats stats() { return device.state()->stats(); }
  // A loop as users write it, which holds the loss and the batch until the next iteration.
  template <typename Optimizer>
  test::TinyNet train_by_hand(test::TinyNet net, Optimizer& optim, data::DataLoader<test::PointBatch>& loader,
                              int epochs) {
    lr::Cosine schedule{.initial = 1e-2, .steps = 100};
    for (int epoch = 0; epoch < epochs; ++epoch) {
      for (const test::PointBatch& batch : loader) {
        auto loss = net.step(batch).loss;
        net = optim.step(schedule.step(), std::move(net), GradientsParams::from_grads(loss.backward(), net));
      }
    }
    return net;
  }
  test::TinyNet net() {
    auto net = test::TinyNet::init(device.autodiff());
    device.flush();
    return net;
  }
};

TEST_F(Step, OfALoopByHandIsOneRunOfAKnownProgram) {
  for (const std::size_t workers : {0, 2}) {
    auto loader = test::tiny_loaders(device, workers).train;
    auto optim = optim::AdamConfig{.weight_decay = 1e-4}.init<test::TinyNet>();
    auto model = train_by_hand(net(), optim, loader, 1);
    const auto before = stats();
    model = train_by_hand(std::move(model), optim, loader, 3);
    EXPECT_EQ(stats().runs - before.runs, 15u) << workers << " workers";
    EXPECT_EQ(stats().programs_defined, before.programs_defined) << workers << " workers";
  }
}

TEST_F(Step, OfEveryOptimizerIsOneRunOfAKnownProgram) {
  const std::vector<optim::ModuleOptimizer> optimizers{
      optim::SgdConfig{},
      optim::SgdConfig{.weight_decay = 0.1, .momentum = optim::MomentumConfig{}},
      optim::AdamConfig{.amsgrad = true, .grad_clipping = {{.norm = 1}}},
      optim::AdamWConfig{.grad_clipping = {{.value = 1}}},
      optim::NAdamConfig{},
      optim::RAdamConfig{},  // whose rule changes at the fifth step
      optim::AdaDeltaConfig{},
      optim::LionConfig{},
      optim::AdaFactorConfig{}};
  for (const auto& engine : optimizers) {
    auto loader = test::tiny_loaders(device).train;
    optim::Optimizer<test::TinyNet> optim{engine};
    auto model = train_by_hand(net(), optim, loader, 1);
    const auto before = stats();
    model = train_by_hand(std::move(model), optim, loader, 1);
    EXPECT_EQ(stats().runs - before.runs, 5u);
    EXPECT_EQ(stats().programs_defined, before.programs_defined);
  }
}

TEST_F(Step, SharesItsNumbersBetweenAllParameters) {
  auto loader = test::tiny_loaders(device).train;
  auto optim = optim::SgdConfig{}.init<test::TinyNet>();
  const auto model = train_by_hand(net(), optim, loader, 1);
  // Two scalars of the batch, those of the dropout, four of the update rule: not four for each of the four parameters.
  EXPECT_LE(server->runs.back().scalars.size(), 10u);
}

TEST_F(Step, GivesTheOldParametersAndStatesAway) {
  auto loader = test::tiny_loaders(device).train;
  auto optim = optim::AdamConfig{}.init<test::TinyNet>();
  const auto model = train_by_hand(net(), optim, loader, 2);
  const auto& program = *server->programs.at(server->runs.back().program);
  for (const auto& input : program.inputs) {
    // The loop's batch holds the targets; nothing else holds parameters, moments and pixels.
    EXPECT_EQ(input.donated, ir::is_floating(input.type.dtype)) << ir::to_string(input.type);
  }
}

TEST_F(Step, LeavesNothingBehind) {
  auto loader = test::tiny_loaders(device, 2).train;
  auto optim = optim::AdamConfig{}.init<test::TinyNet>();
  auto model = train_by_hand(net(), optim, loader, 2);
  device.flush();
  const int tensors = server->tensors;
  model = train_by_hand(std::move(model), optim, loader, 5);
  device.flush();
  EXPECT_EQ(server->tensors, tensors);
}

TEST_F(Step, KeepsTheOldModuleWholeWhenItIsNotMoved) {
  const auto old_model = net();
  const test::PointBatch batch = test::PointBatcher{device}.batch(test::points(10, 1));
  auto optim = optim::SgdConfig{}.init<test::TinyNet>();
  auto loss = old_model.step(batch).loss;
  const auto updated = optim.step(0.1, old_model, GradientsParams::from_grads(loss.backward(), old_model));
  EXPECT_NE(old_model.hidden.weight.val().value().storage(), updated.hidden.weight.val().value().storage());
  EXPECT_EQ(old_model.hidden.weight.id(), updated.hidden.weight.id());
  EXPECT_TRUE(updated.hidden.weight.val().is_require_grad());
  (void)old_model.hidden.weight.val().to_data();
}

TEST_F(Step, LeavesFrozenParametersAlone) {
  auto model = net();
  model.hidden = model.hidden.no_grad();
  const auto frozen = model.hidden.weight.val().value().storage();
  auto loader = test::tiny_loaders(device).train;
  auto optim = optim::AdamConfig{}.init<test::TinyNet>();
  model = train_by_hand(std::move(model), optim, loader, 1);
  EXPECT_EQ(model.hidden.weight.val().value().storage(), frozen);
  EXPECT_FALSE(optim.to_record(model).contains("hidden.weight/step"));
  EXPECT_TRUE(optim.to_record(model).contains("output.weight/step"));
}

TEST_F(Step, OfTheLearnerIsOneRunAndOneReadWithoutAWait) {
  test::TempFolder folder;
  for (const std::size_t workers : {0, 2}) {
    const auto [train, valid] = test::tiny_loaders(device, workers);
    auto training = train::SupervisedTraining(folder.path(), train, valid)
                        .metrics(metric::Accuracy{}, metric::Loss{})
                        .checkpoints(std::nullopt)
                        .renderer(std::make_shared<train::SilentRenderer>())
                        .epochs(1);
    const train::Learner learner(net(), optim::AdamConfig{}, lr::Cosine{.initial = 1e-3, .steps = 100});
    // Both launches are called from one line, as call sites are part of a program.
    const auto launch = [&](std::size_t epochs) { return training.epochs(epochs).launch(learner); };
    (void)launch(1);  // defines the programs
    const auto before = stats();
    const int reads = server->reads;
    (void)launch(3);
    EXPECT_EQ(stats().runs - before.runs, 3u * (5 + 2)) << workers << " workers";
    EXPECT_EQ(server->reads - reads, 3 * (5 + 2));
    EXPECT_EQ(stats().programs_defined, before.programs_defined);
  }
}

TEST_F(Step, OfAccumulatedGradientsComesOnceForSeveralBatches) {
  test::TempFolder folder;
  const auto [train, valid] = test::tiny_loaders(device);
  auto training = train::SupervisedTraining(folder.path(), train, valid).grads_accumulation(2).epochs(2);
  training.renderer(std::make_shared<train::SilentRenderer>());
  const auto result = training.launch(train::Learner(net(), optim::SgdConfig{}, 0.1));
  EXPECT_EQ(result.report.history.size(), 2u);
}

TEST_F(Step, ErrorsOfTheDeviceEndTheTraining) {
  test::TempFolder folder;
  const auto [train, valid] = test::tiny_loaders(device, 2);
  server->fails = true;
  auto training =
      train::SupervisedTraining(folder.path(), train, valid).renderer(std::make_shared<train::SilentRenderer>());
  EXPECT_THROW((void)training.launch(train::Learner(net(), optim::AdamConfig{}, 1e-3)), Error);
}

TEST_F(Step, AModelThatIsNotOnAnAutodiffDeviceIsAnError) {
  test::TempFolder folder;
  const auto [train, valid] = test::tiny_loaders(device);
  auto training =
      train::SupervisedTraining(folder.path(), train, valid).renderer(std::make_shared<train::SilentRenderer>());
  try {
    (void)training.launch(train::Learner(test::TinyNet::init(device), optim::AdamConfig{}, 1e-3));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("autodiff"));
  }
}

TEST_F(Step, BatchesThatAreNotTakenAreReleased) {
  auto loader = test::tiny_loaders(device, 2).train;
  device.flush();
  const int tensors = server->tensors;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (const auto& batch : loader) {
      (void)batch;
      break;
    }
  }
  device.flush();
  EXPECT_EQ(server->tensors, tensors);
}

}  // namespace
}  // namespace burn
