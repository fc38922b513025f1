// The search for a learning rate and for a batch size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/registry/registry.h"
#include "session/local_session.h"
#include "tests/support/error_of.h"
#include "tests/train/tiny.h"

namespace burn {
namespace {

using ::testing::HasSubstr;

TEST(LrRangeTest, SuggestsTheRateAtWhichTheLossFallsFastest) {
  train::detail::LrRangeTest test{{.first = 1e-4, .last = 1, .steps = 41, .smoothing = 0, .skipped = 5}};
  std::vector<double> rates;
  for (int i = 0; !test.is_over(); ++i) {
    rates.push_back(test.rate());
    test.add(i < 20 ? 10 - 0.01 * i : i < 30 ? 10 - 0.8 * (i - 20) : i < 35 ? 2 : 2 + (i - 34) * 4.0);
  }
  const auto found = test.result();
  EXPECT_NEAR(found.suggestion, 1e-2, 1e-9);  // the rate of step 20, where the loss starts to fall steeply
  EXPECT_TRUE(found.ended_early);
  EXPECT_NEAR(rates.front(), 1e-4, 1e-12);
  EXPECT_EQ(found.rates.size(), 37u);  // stops at 2 + 2 * 4, above 4 times the lowest loss
  EXPECT_EQ(found.losses.back(), 10);
}

TEST(LrRangeTest, RefusesNumbersOutOfRangeAndLossesThatSuggestNothing) {
  const auto said = [](train::FindLrOptions options) {
    return test::error_of([&] { train::detail::LrRangeTest{options}; });
  };
  EXPECT_THAT(said({.first = 1, .last = 0.1}), HasSubstr("must be positive and rise"));
  EXPECT_THAT(said({.steps = 5}), HasSubstr("steps is 5, must be at least 13"));
  EXPECT_THAT(said({.smoothing = 1}), HasSubstr("smoothing is 1"));
  EXPECT_THAT(said({.stop_factor = 1}), HasSubstr("stop_factor is 1"));
  train::detail::LrRangeTest test{{}};
  test.add(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(test.is_over());
  EXPECT_THAT(test::error_of([&] { (void)test.result(); }), HasSubstr("not finite after 0 steps"));
}

TEST(FindLr, LeavesModelAndOptimizerAsTheyWere) {
  const Device device = Device{"cpu"}.autodiff();
  device.seed(3);
  auto net = test::TinyNet::init(device);
  const optim::ModuleOptimizer optimizer = optim::AdamConfig{};
  const auto before = net.into_record();
  const auto found = train::find_lr(net, optimizer, test::tiny_loaders(device).train, {.last = 100, .steps = 60});
  EXPECT_GT(found.suggestion, 1e-7);
  EXPECT_LT(found.suggestion, 100);
  EXPECT_GT(found.rates.size(), 20u);
  const auto after = net.into_record();
  for (const auto& [name, data] : before) EXPECT_EQ(after.get(name).to_vec<float>(), data.to_vec<float>()) << name;
  EXPECT_TRUE(optimizer.to_record(net.walk()).empty());
}

TEST(FindBatchSize, DoublesUntilThereIsNoMemoryAndThenLooksBetween) {
  std::vector<std::int64_t> tried;
  const auto fits = [&](std::int64_t size) {
    tried.push_back(size);
    if (size > 700) throw Error(StatusCode::resource_exhausted, "no memory for " + std::to_string(size));
  };
  auto found = train::detail::find_batch_size({.first = 64, .precision = 0}, fits);
  EXPECT_EQ(found.size, 700);
  EXPECT_EQ(found.too_large, 701);
  EXPECT_THAT(found.why, HasSubstr("no memory for 701"));
  EXPECT_THAT(tried, ::testing::IsSupersetOf({64, 128, 256, 512, 1024}));
  found = train::detail::find_batch_size({.first = 64, .most = 300}, fits);
  EXPECT_EQ(found.size, 300);
  EXPECT_FALSE(found.too_large);
  EXPECT_THAT(test::error_of([&] { (void)train::detail::find_batch_size({.first = 1000}, fits); }),
              HasSubstr("no memory for a batch of 1000: no memory for 1000"));
  EXPECT_THAT(test::error_of([&] { (void)train::detail::find_batch_size({.first = 0}, fits); }),
              HasSubstr("first is 0, must be at least 1"));
  EXPECT_EQ(test::error_of([&] {
              (void)train::detail::find_batch_size({},
                                                   [](std::int64_t) { throw Error(StatusCode::internal, "other"); });
            }),
            "other");
}

// A batch of n points takes at least 16 n bytes, and the quota is 16 MiB.
TEST(FindBatchSize, EndsAtTheQuotaOfASession) {
  const auto worker = session::Worker::create(value_or_throw(backends::open_backend("cpu")));
  const Device device =
      Device::from_session("cpu", session::make_local_session(worker, {.tensor_bytes = 1 << 24})).autodiff();
  const auto net = test::TinyNet::init(device);
  const auto batch = [&](std::int64_t size) {
    return test::PointBatch{Tensor<2>::ones({size, 2}, device), Tensor<1, Int>::zeros({size}, device)};
  };
  const auto found = train::find_batch_size(net, optim::AdamConfig{}, batch, {.first = 1024, .most = 1 << 22});
  ASSERT_TRUE(found.too_large);
  EXPECT_GE(found.size, 1024);
  EXPECT_LT(found.size, *found.too_large);
  EXPECT_LE(*found.too_large - found.size, 1 + found.size / 16);
  EXPECT_LE(*found.too_large, 1 << 20);
  EXPECT_THAT(found.why, HasSubstr("bytes"));
  EXPECT_NO_THROW((void)net.step(batch(64)).loss.item());  // the session is still usable
}

}  // namespace
}  // namespace burn
