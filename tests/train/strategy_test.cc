// Every strategy has the losses of a training on one device, whatever its devices are, also if the last batch is
// shorter.
#include "train/strategy/strategy.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples/custom-strategy/host_sum.h"
#include "server/server.h"
#include "tests/support/error_of.h"
#include "tests/support/temp_folder.h"
#include "tests/train/tiny.h"

namespace burn {
namespace {

using ::testing::HasSubstr;

// A model without random numbers, which each replica would draw for itself.
struct PlainNet {
  nn::Linear hidden, output;
  BURN_MODULE(PlainNet, hidden, output)

  static PlainNet init(const Device& device) {
    return {.hidden = nn::LinearConfig{.d_input = 2, .d_output = 16}.init(device),
            .output = nn::LinearConfig{.d_input = 16, .d_output = 2}.init(device)};
  }
  train::ClassificationOutput step(const test::PointBatch& batch) const {
    auto logits = output(hidden(batch.x).tanh());
    return {nn::CrossEntropyLoss{}(logits, batch.targets), logits, batch.targets};
  }
};

// A loss that the metric received, and the number of items that it is the mean of.
struct LossSample {
  float loss;
  std::int64_t items;
};
class EachLoss : public metric::Loss {
 public:
  explicit EachLoss(std::shared_ptr<std::vector<LossSample>> all) : all_(std::move(all)) {}
  bool is_of_batches() const override { return false; }  // otherwise a copy of the metric would get each batch, too
  void add(std::span<const float> measured, std::int64_t items) override {
    all_->push_back({measured[0], items});
    Loss::add(measured, items);
  }

 private:
  std::shared_ptr<std::vector<LossSample>> all_;
};

server::ServerOptions on_any_port() {
  server::ServerOptions options;
  options.ws = "127.0.0.1:0";
  return options;
}

enum class Where { here, remote };

std::vector<Device> open_devices(Where where, std::size_t count) {
  static const std::vector<std::shared_ptr<server::Server>> servers = {std::make_shared<server::Server>(on_any_port()),
                                                                       std::make_shared<server::Server>(on_any_port())};
  std::vector<Device> devices;
  for (std::size_t k = 0; k < count; ++k)
    devices.push_back(Device::new_session(where == Where::here ? "cpu" : servers[k % servers.size()]->url()));
  return devices;
}

struct Options {
  std::size_t items = 53;  // in batches of 10
  std::int64_t epochs = 9, accumulation = 1;
};

struct Trained {
  train::TrainingResult<PlainNet> result;
  std::vector<double> losses;  // of each batch, in training and validation
};

// Combines the losses of parts, in order, into the mean loss of each batch. `passes`: the items of each pass of an
// epoch, in batches of 10 and a shorter last one.
std::vector<double> batch_losses(const std::vector<LossSample>& parts, std::initializer_list<std::size_t> passes,
                                 std::int64_t epochs) {
  std::vector<double> losses;
  std::size_t next = 0;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    for (const auto items : passes) {
      for (std::size_t begin = 0; begin < items; begin += 10) {
        const auto size = static_cast<std::int64_t>(std::min<std::size_t>(items - begin, 10));
        double sum = 0;
        for (std::int64_t seen = 0; seen < size && next < parts.size(); seen += parts[next++].items)
          sum += parts[next].loss * static_cast<double>(parts[next].items);
        losses.push_back(sum / static_cast<double>(size));
      }
    }
  }
  EXPECT_EQ(next, parts.size());
  return losses;
}

Trained train(const train::Strategy& strategy, const Options& options) {
  const test::TempFolder folder;
  const auto device = Device::new_session("cpu");
  device.seed(3);
  auto builder = data::DataLoaderBuilder(test::PointBatcher{device}).batch_size(10);
  const auto valid = builder.build(data::InMemDataset<test::Point>(test::points(13, 2)));
  const auto train = builder.shuffle(5).build(data::InMemDataset<test::Point>(test::points(options.items, 1)));
  const auto all = std::make_shared<std::vector<LossSample>>();
  auto result = train::SupervisedTraining(folder / "run", train, valid)
                    .metrics(EachLoss{all})
                    .renderer(std::make_shared<test::RecordingRenderer>())
                    .seed(7)
                    .epochs(options.epochs)
                    .grads_accumulation(options.accumulation)
                    .strategy(strategy)
                    .launch(train::Learner(PlainNet::init(device.autodiff()), optim::AdamConfig{}, 1e-2));
  return {std::move(result), batch_losses(*all, {options.items, 13}, options.epochs)};
}

void expect_same_losses(const std::vector<double>& losses, const std::vector<double>& alone) {
  ASSERT_EQ(losses.size(), alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(losses[i], alone[i], 1e-4 * alone[i]) << "batch " << i;
}

struct Case {
  const char* name;
  train::Strategy (*make)(std::vector<Device>);
  Where where;
  std::size_t devices;
};

class Strategies : public testing::TestWithParam<Case> {
 protected:
  static train::Strategy strategy() { return GetParam().make(open_devices(GetParam().where, GetParam().devices)); }
};

TEST_P(Strategies, HaveTheLossesOfOneDevice) {  // 54 steps, of which 9 are of 3 items
  const auto alone = train({}, {});
  const auto trained = train(strategy(), {});
  expect_same_losses(trained.losses, alone.losses);
  EXPECT_LT(trained.losses.back(), 0.7 * trained.losses.front()) << "it learns";
}

TEST_P(Strategies, TakeALastBatchOfOneItem) {
  const Options options{.items = 21, .epochs = 4};
  expect_same_losses(train(strategy(), options).losses, train({}, options).losses);
}

TEST_P(Strategies, SumGradientsOfSeveralBatches) {
  const Options options{.epochs = 4, .accumulation = 4};
  expect_same_losses(train(strategy(), options).losses, train({}, options).losses);
}

TEST_P(Strategies, GiveBackTheModelOfTheFirstDevice) {
  const auto made = strategy();
  const auto devices = made->devices();
  auto trained = train(made, {.epochs = 1});
  const auto alone = train({}, {.epochs = 1});
  if (!devices.empty()) {
    trained.result.model.for_each_slot(
        [&](const std::string& path, Slot& slot) { EXPECT_EQ(slot.value.device(), devices.front().state()) << path; });
  }
  const auto expected = alone.result.model.into_record();
  for (const auto& [name, data] : trained.result.model.into_record()) {
    const auto numbers = data.to_vec<float>(), others = expected.get(name).to_vec<float>();
    for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_NEAR(numbers[i], others[i], 1e-4) << name;
  }
}

// By value, as strategies are made. NOLINTNEXTLINE(performance-unnecessary-value-param)
train::Strategy alone(std::vector<Device>) { return train::single(); }

INSTANTIATE_TEST_SUITE_P(
    , Strategies,
    testing::Values(Case{"single", alone, Where::here, 1}, Case{"ddp_on_two", train::ddp, Where::here, 2},
                    Case{"ddp_on_three", train::ddp, Where::here, 3},
                    Case{"ddp_on_two_remote", train::ddp, Where::remote, 2},
                    Case{"multi_device_on_two", train::multi_device, Where::here, 2},
                    Case{"multi_device_on_two_remote", train::multi_device, Where::remote, 2},
                    Case{"of_the_user_on_two", custom_strategy::host_sum, Where::here, 2},
                    Case{"of_the_user_on_three_remote", custom_strategy::host_sum, Where::remote, 3}),
    [](const auto& of) { return std::string{of.param.name}; });

TEST(Strategy, TakesOneDeviceForAMistake) {
  EXPECT_THAT(test::error_of([] { train(train::ddp(open_devices(Where::here, 1)), {}); }),
              HasSubstr("group: it has 2 to 8 devices, not 1"));
}

// Counts the losses that it receives.
class CountedLoss : public metric::Loss {
 public:
  explicit CountedLoss(std::shared_ptr<std::atomic<int>> count) : count_(std::move(count)) {}
  void add(std::span<const float> measured, std::int64_t items) override {
    ++*count_;
    Loss::add(measured, items);
  }

 private:
  std::shared_ptr<std::atomic<int>> count_;
};

TEST(Strategy, EndsWithTheNameOfADeviceThatIsLost) {
  const server::Server stays(on_any_port());
  auto at_once = on_any_port();
  at_once.drain_seconds = 0;  // a worker that drains announces its end, and the training would stop in order
  auto lost = std::make_unique<server::Server>(at_once);
  const auto url = lost->url();
  const auto count = std::make_shared<std::atomic<int>>(0);
  std::thread ends_a_worker([&] {
    while (*count < 20) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    lost.reset();
  });
  const test::TempFolder folder;
  const auto device = Device::new_session("cpu");
  const auto loader = data::DataLoaderBuilder(test::PointBatcher{device})
                          .batch_size(10)
                          .build(data::InMemDataset<test::Point>(test::points(53, 1)));
  const auto why = test::error_of([&] {
    train::SupervisedTraining(folder / "run", loader, loader)
        .metrics(CountedLoss{count})
        .renderer(std::make_shared<test::RecordingRenderer>())
        .epochs(100'000)
        .strategy(train::ddp({Device::new_session(stays.url()), Device::new_session(url)}))
        .launch(train::Learner(PlainNet::init(device.autodiff()), optim::AdamConfig{}, 1e-2));
  });
  *count = 20;
  ends_a_worker.join();
  EXPECT_THAT(why, HasSubstr(url));
}

TEST(Strategy, NeedsABatcherThatCanBeOnEachDevice) {
  const data::DataLoader<test::PointBatch> loader([](std::span<const std::size_t>) { return test::PointBatch{}; }, 10,
                                                  {.batch_size = 2});
  EXPECT_THAT(test::error_of([&] { loader.parts_on(open_devices(Where::here, 2)); }),
              HasSubstr("give it a member `device`"));
}

}  // namespace
}  // namespace burn
