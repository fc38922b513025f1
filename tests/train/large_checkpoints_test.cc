// Checkpoints of models that are too large to be read at once: they hold tensors on the device.
#include <atomic>
#include <chrono>
#include <thread>

#include "client/record/device_state.h"
#include "tests/train/learner_fixture.h"
#include "train/checkpoint/checkpoint.h"

namespace burn {
namespace {

// With its moments, so large that its checkpoints hold tensors on the device, which are read while training goes on.
struct LargeNet {
  test::TinyNet small;
  Param<2> large;  // 68 MiB, more than an average of it reads at once
  BURN_MODULE(LargeNet, small, large)

  train::ClassificationOutput step(const test::PointBatch& batch) const {
    auto output = small.step(batch);
    return {output.loss + (large.val() * large.val()).mean(), output.output, output.targets};
  }
};

class LargeCheckpoints : public test::LearnerTest {
 protected:
  auto large() {
    device.seed(1);
    const auto numbers = Tensor<2>::ones({2, 9'000'000}, device.autodiff());
    return train::Learner(LargeNet{test::TinyNet::init(device.autodiff()), Param<2>{numbers}}, optim::AdamConfig{},
                          0.01);
  }
};

TEST_F(LargeCheckpoints, AreOfOneMomentThoughTheyAreReadLater) {
  const auto described = [this] {
    return training().max_steps(4).ema({.decay = 0.5}).checkpoints(train::EverySteps{.steps = 2});
  };
  const auto whole = described().launch(large());
  restart();
  (void)described().max_steps(3).launch(large());
  restart();
  const auto resumed = described().resume(train::latest).launch(large());
  for (const auto& [name, data] : whole.model.into_record()) {
    EXPECT_TRUE(resumed.model.into_record().get(name) == data) << name;
  }
  for (const auto& [name, data] : whole.averaged().into_record()) {
    EXPECT_TRUE(resumed.averaged().into_record().get(name) == data) << "average of " << name;
  }
}

// Counts the checkpoints, but writes only the first one, as each is hundreds of MiB.
struct CountsWritten : train::FileCheckpointer {
  using FileCheckpointer::FileCheckpointer;
  std::atomic<std::int64_t> written = 0;
  void save(const std::string& name, const train::Checkpoint& checkpoint) override {
    if (written == 0) FileCheckpointer::save(name, checkpoint);
    ++written;
  }
};

// The step after a snapshot donates no input, hence is a program of its own. The only other new programs are the reads
// of the large tensor's pieces, which its two moments share.
TEST_F(LargeCheckpoints, TheFirstOneLeavesNoStepToPlan) {
  constexpr std::size_t kPieces = 5;  // of 68.7 MiB, 16 MiB each
  const auto files = std::make_shared<CountsWritten>(folder / "run/checkpoint");
  std::vector<std::uint64_t> programs;  // after each step
  callback->on_step = [&](train::Run& run) {
    while (run.step() == 4 && files->written == 0) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    programs.push_back(device.state()->stats().programs_defined);
  };
  const train::EverySteps every{.steps = 3};
  (void)training().max_steps(5).ema({.decay = 0.9}).checkpointer(files).checkpoints(every).launch(large());
  ASSERT_EQ(programs.size(), 5);
  EXPECT_EQ(programs[3], programs[2] + kPieces);
  EXPECT_EQ(programs[4], programs[3]);
}

}  // namespace
}  // namespace burn
