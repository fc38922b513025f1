// A training loop does not wait for the device, but runs at most a bounded number of steps ahead of it.
#include <chrono>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "client/record/device_state.h"
#include "client/record/pacer.h"
#include "client/tensor/pending_reads.h"
#include "tests/support/temp_folder.h"
#include "tests/train/fake_session.h"
#include "tests/train/tiny.h"

namespace burn {
namespace {

using namespace std::chrono_literals;

// Runs `body` on a thread of its own. A body that has not ended after a minute fails the test instead of hanging it.
template <typename Body>
bool ends(Body&& body) {
  auto done = std::async(std::launch::async, std::forward<Body>(body));
  if (done.wait_for(60s) == std::future_status::ready) return done.get(), true;
  ADD_FAILURE() << "still waiting";
  std::abort();  // the future's destructor would block
}

TEST(RunningAhead, TheLearnerSendsAnEpochWithItsValidationBeforeItsFirstReadIsAnswered) {
  test::TempFolder folder;
  const auto server = std::make_shared<test::FakeServer>();
  const Device device = test::fake_device(server);
  const auto [train_loader, valid_loader] = test::tiny_loaders(device);
  auto net = test::TinyNet::init(device.autodiff());
  device.flush();
  {
    const std::lock_guard lock(server->mutex);
    server->answers_after = server->runs.size() + train_loader.size() + valid_loader.size();
  }
  EXPECT_TRUE(ends([&] {
    train::SupervisedTraining(folder / "run", train_loader, valid_loader)
        .renderer(std::make_shared<test::RecordingRenderer>())
        .checkpoints(std::nullopt)
        .launch(train::Learner(net, optim::AdamConfig{}, 1e-3));
  }));
}

TEST(RunningAhead, ALoopThatPrintsEveryFewStepsShowsTheNumbersWhenTheyCome) {
  const auto server = std::make_shared<test::FakeServer>();
  const Device device = test::fake_device(server);
  constexpr std::size_t kSteps = 200;
  server->answers_after = kSteps;
  std::vector<std::size_t> shown;
  EXPECT_TRUE(ends([&] {
    PendingReads reads;
    auto x = Tensor<1>::zeros({1}, device);
    for (std::size_t step = 0; step < kSteps; ++step) {
      x = x + 1;
      device.flush();
      if (step % 50 == 0) reads.add(x, [&shown, step](const TensorData&) { shown.push_back(step); });
      reads.poll();
      EXPECT_EQ(shown.size(), step + 1 < kSteps ? 0u : 4u);
    }
    reads.finish();
  }));
  EXPECT_EQ(shown, (std::vector<std::size_t>{0, 50, 100, 150}));
}

TEST(RunningAhead, AHandWrittenLoopOverALoaderStaysAFewStepsAheadOfTheDevice) {
  for (const std::size_t workers : {0, 2}) {
    const auto server = std::make_shared<test::FakeServer>();
    const Device device = test::fake_device(server);
    server->answers_after = 1 << 20;  // the device never finishes a run
    constexpr std::size_t kSteps = 40;
    auto loader = data::DataLoaderBuilder(test::PointBatcher{device})
                      .batch_size(1)
                      .num_workers(workers)
                      .build(data::InMemDataset<test::Point>(test::points(kSteps, 1)));
    std::atomic<std::size_t> steps = 0;
    auto loop = std::async(std::launch::async, [&] {
      auto sum = Tensor<2>::zeros({1, 2}, device);
      device.flush();
      for (const auto& batch : loader) {
        sum = sum + batch.x;
        device.flush();
        steps += 1;
      }
    });
    EXPECT_EQ(loop.wait_for(200ms), std::future_status::timeout);
    EXPECT_GE(steps, 4u);
    EXPECT_LE(steps, client::Pacer::kMaxAhead + 1);
    {
      const std::lock_guard lock(server->mutex);
      server->answers_after = 0;
      EXPECT_LE(server->tensors, static_cast<int>(2 * (client::Pacer::kMaxAhead + 1 + 2 * workers + workers) + 2));
    }
    server->answer_held();
    loop.get();
    EXPECT_EQ(steps, kSteps);
  }
}

TEST(RunningAhead, AFailureThatThePacerHearsIsToldByTheNextSync) {
  struct FailingSession : test::FakeSession {
    using FakeSession::FakeSession;
    void sync(SyncCallback done) override { done(syncs++ == 0 ? data_loss("a run failed") : ok_status()); }
    int syncs = 0;
  };
  const auto server = std::make_shared<test::FakeServer>();
  const Device device = Device::from_session("fake", std::make_unique<FailingSession>(server));
  for (std::uint64_t i = 0; i <= client::Pacer::kMaxAhead; ++i) device.state()->pace();
  EXPECT_THROW(device.sync(), Error);
  EXPECT_NO_THROW(device.sync());
}

}  // namespace
}  // namespace burn
