// The learner goes on after steps that fail, and counts them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_of.h"
#include "tests/support/temp_folder.h"
#include "tests/train/tiny.h"

namespace burn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SkippedSteps : public ::testing::Test {
 protected:
  test::TempFolder folder;
  Device device = Device::new_session("cpu");
  std::shared_ptr<test::RecordingRenderer> renderer = std::make_shared<test::RecordingRenderer>();

  // Trains with 6 batches of 10, of which the first `bad` have a label outside the model's classes.
  train::TrainingResult<test::TinyNet> train(std::size_t bad, std::int64_t most = 10) {
    auto items = test::points(60, 1);
    for (std::size_t i = 0; i < bad; ++i) items[10 * i + 3].label = 7;
    auto builder = data::DataLoaderBuilder(test::PointBatcher{device}).batch_size(10);
    const auto train = builder.build(data::InMemDataset<test::Point>(items));
    const auto valid = builder.build(data::InMemDataset<test::Point>(test::points(20, 2)));
    device.seed(1);
    return train::SupervisedTraining(folder / "run", train, valid)
        .metrics(metric::Accuracy{}, metric::Loss{})
        .renderer(std::make_shared<train::SilentRenderer>())
        .observe(test::synchronous_observer(renderer))
        .seed(7)
        .epochs(2)
        .max_failures_in_a_row(most)
        .launch(train::Learner<test::TinyNet>{test::TinyNet::init(device.autodiff()), optim::AdamConfig{}, 0.01});
  }
};

TEST_F(SkippedSteps, AreCountedAndSaid) {
  const auto result = train(2);
  EXPECT_EQ(result.report.reason, train::StopReason::completed);
  EXPECT_EQ(result.report.skipped, 4);
  ASSERT_EQ(renderer->epochs.size(), 2U);
  EXPECT_EQ(renderer->epochs[0].skipped, 2);
  EXPECT_EQ(renderer->steps.front().epoch, 1);
  EXPECT_THAT(renderer->messages, ::testing::Contains(AllOf(HasSubstr("step skipped: "), HasSubstr("outside 0..1"))));
  std::int64_t items = 0, skipped = 0;
  for (const auto& step : renderer->steps) {
    if (step.epoch != 1 || step.split != Split::train) continue;
    items = step.items;
    skipped = step.skipped;
  }
  EXPECT_EQ(items, 60);
  EXPECT_EQ(skipped, 2);
  for (const auto& [name, data] : result.model.into_record()) EXPECT_GT(data.num_elements(), 0) << name;
}

TEST_F(SkippedSteps, InARowEndATraining) {
  EXPECT_THAT(test::error_of([&] { (void)train(4, 3); }), HasSubstr("outside 0..1"));
  EXPECT_THAT(test::error_of([&] { (void)train(1, 0); }), HasSubstr("outside 0..1"));
  EXPECT_EQ(test::error_of([&] { (void)train(3, 3); }), "no error");
}

}  // namespace
}  // namespace burn
