// The numbers of many short steps are read at once, and are the same as if each step had been read by itself.
#include "train/metric/step_reads.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_of.h"
#include "tests/support/temp_folder.h"
#include "tests/train/fake_session.h"
#include "tests/train/tiny.h"

namespace burn {
namespace {

using namespace std::chrono_literals;
using metric::StepReads;
using ::testing::HasSubstr;

class StepReadsTest : public ::testing::Test {
 protected:
  std::shared_ptr<test::FakeServer> server = std::make_shared<test::FakeServer>();
  Device device = test::fake_device(server);
  StepReads::Clock::time_point now = StepReads::Clock::time_point{} + 1h;
  StepReads reads{[this] { return now; }};

  // The first step of a loop is read at once, as there was none shortly before; this takes that step.
  void SetUp() override { (void)reads.add(numbers()).get(); }

  client::Value numbers(std::int64_t count = 2) const {
    const auto sent = Tensor<1>::full({count}, 0.5, device);
    device.flush();
    return sent.value();
  }
  int reads_since(int before) const { return server->reads - before; }
};

TEST_F(StepReadsTest, ShortStepsAreReadTogether) {
  const int before = server->reads;
  std::vector<StepReads::Read> asked;
  for (std::size_t i = 0; i < 4 * StepReads::kSteps; ++i) {
    asked.push_back(reads.add(numbers()));
    now += 1ms;
  }
  EXPECT_EQ(reads_since(before), 4);
  for (auto& read : asked) {
    EXPECT_TRUE(read.is_ready());
    EXPECT_EQ(read.get().shape(), (ir::Shape{2}));
  }
  EXPECT_EQ(reads_since(before), 4);
}

TEST_F(StepReadsTest, LongStepsAreReadAtOnce) {
  for (int i = 0; i < 40; ++i) {
    now += StepReads::kWait;
    const int before = server->reads;
    EXPECT_TRUE(reads.add(numbers()).is_ready());
    EXPECT_EQ(reads_since(before), 1);
  }
}

TEST_F(StepReadsTest, NoStepWaitsLongerThanSaid) {
  std::vector<StepReads::Read> asked;
  for (int i = 0; i < 4; ++i) {
    now += StepReads::kWait / 4;
    EXPECT_EQ(asked.empty() || asked.front().is_ready(), asked.empty());
    asked.push_back(reads.add(numbers()));
  }
  for (const auto& read : asked) EXPECT_TRUE(read.is_ready());
}

TEST_F(StepReadsTest, WhatIsLeftIsReadWhenNoStepFollows) {
  auto first = reads.add(numbers()), second = reads.add(numbers());
  EXPECT_FALSE(second.is_ready());
  reads.ask();
  EXPECT_TRUE(first.is_ready());
  EXPECT_TRUE(second.is_ready());
}

TEST_F(StepReadsTest, WhatIsWaitedForIsReadWithThoseBesideIt) {
  auto first = reads.add(numbers()), second = reads.add(numbers());
  EXPECT_EQ(first.get().num_elements(), 2);
  EXPECT_TRUE(second.is_ready());
  auto third = reads.add(numbers(2));
  EXPECT_FALSE(third.is_ready());
  EXPECT_EQ(third.get().num_elements(), 2);
}

TEST_F(StepReadsTest, ManyNumbersAreReadAtOnce) {
  EXPECT_TRUE(reads.add(numbers(StepReads::kMaxNumbers + 1)).is_ready());
  EXPECT_FALSE(reads.add(numbers(StepReads::kMaxNumbers)).is_ready());
}

TEST_F(StepReadsTest, StepsWithOtherNumbersOfNumbersAreReadApart) {
  auto two = reads.add(numbers(2)), three = reads.add(numbers(3));
  EXPECT_TRUE(two.is_ready());
  EXPECT_FALSE(three.is_ready());
  EXPECT_EQ(two.get().num_elements(), 2);
  EXPECT_EQ(three.get().num_elements(), 3);
}

TEST_F(StepReadsTest, StepsOfSeveralDevicesAreReadTogetherWithThoseOfTheirDevice) {
  const auto other_server = std::make_shared<test::FakeServer>();
  const Device other = test::fake_device(other_server);
  const int before = server->reads;
  for (std::size_t i = 0; i < StepReads::kSteps; ++i) {
    (void)reads.add(numbers());
    (void)reads.add(Tensor<1>::full({2}, 0.5, other).value());
  }
  EXPECT_EQ(reads_since(before), 1);
  EXPECT_EQ(other_server->reads, 1);
}

TEST_F(StepReadsTest, ATensorOfAStepIsFreedWhenItsNumbersAreTaken) {
  const int before = server->tensors;
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::vector<StepReads::Read> asked;
    for (std::size_t i = 0; i < StepReads::kSteps; ++i) asked.push_back(reads.add(numbers()));
    for (auto& read : asked) (void)read.get();
  }
  (void)numbers();  // releases are sent with the next run
  EXPECT_LE(server->tensors, before + 1);
}

TEST(StepReadsOnADevice, GiveTheNumbersOfEachStepToTheLastBit) {
  const Device device{"cpu"};
  const float inf = std::numeric_limits<float>::infinity();
  StepReads reads;
  reads.ask();
  std::vector<StepReads::Read> asked;
  std::vector<std::vector<float>> sent;
  for (std::size_t i = 0; i < 3 * StepReads::kSteps + 5; ++i) {
    const float third = static_cast<float>(i) / 3;
    sent.push_back({third, i % 5 == 1 ? inf : -third, i % 7 == 2 ? std::nanf("") : -0.0F});
    asked.push_back(reads.add(Tensor<1>::from_data(TensorData(sent.back(), {3}), device).value()));
  }
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto came = asked[i].get().to_vec<float>();
    ASSERT_EQ(came.size(), 3U);
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_EQ(std::bit_cast<std::uint32_t>(came[k]), std::bit_cast<std::uint32_t>(sent[i][k])) << i << ", " << k;
  }
}

TEST(StepReadsOnADevice, AStepThatFailsIsTheOnlyOneWithoutNumbers) {
  const Device device{"cpu"};
  StepReads reads;
  reads.ask();
  std::vector<StepReads::Read> asked;
  constexpr std::size_t kBad = 6;
  for (std::size_t i = 0; i < 2 * StepReads::kSteps; ++i) {
    const auto index =
        Tensor<1, Int>::from_data(TensorData(std::vector<std::int64_t>{i == kBad ? 99 : 1}, {1}), device);
    const auto table = Tensor<1>::from_data(TensorData(std::vector<float>{0, static_cast<float>(i)}, {2}), device);
    const auto numbers = table.select(0, index);
    device.flush();
    asked.push_back(reads.add(numbers.value()));
  }
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (i == kBad)
      EXPECT_THAT(test::error_of([&] { (void)asked[i].get(); }), HasSubstr("index 99 is outside 0..1"));
    else
      EXPECT_EQ(asked[i].get().to_vec<float>(), std::vector<float>{static_cast<float>(i)});
  }
  EXPECT_NO_THROW(device.sync());  // the failure has been reported
}

TEST(StepReadsOfALearner, AreFarFewerThanItsSteps) {
  test::TempFolder folder;
  const auto server = std::make_shared<test::FakeServer>();
  const Device device = test::fake_device(server);
  constexpr std::size_t kBatches = 400;
  auto loader = data::DataLoaderBuilder(test::PointBatcher{device})
                    .batch_size(1)
                    .build(data::InMemDataset<test::Point>(test::points(kBatches, 1)));
  auto net = test::TinyNet::init(device.autodiff());
  device.flush();
  const auto runs = server->runs.size();
  const auto result = train::SupervisedTraining(folder / "run", loader)
                          .metrics(metric::Loss{}, metric::Accuracy{})
                          .renderer(std::make_shared<train::SilentRenderer>())
                          .checkpoints(std::nullopt)
                          .launch(train::Learner(net, optim::AdamConfig{}, 1e-3));
  EXPECT_EQ(result.report.steps, static_cast<std::int64_t>(kBatches));
  EXPECT_LT(server->reads, static_cast<int>(kBatches / 2));
  EXPECT_LT(server->runs.size() - runs, kBatches + kBatches / 8);  // one extra run for each read of several steps
}

}  // namespace
}  // namespace burn
