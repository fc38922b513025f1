// A training in a child process that is killed and resumed many times ends with the numbers of an undisturbed one.
#include <chrono>
#include <cstdlib>
#include <thread>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/random.h"
#include "tests/train/learner_fixture.h"
#include "train/checkpoint/checkpoint.h"

namespace burn {
namespace {

constexpr const char* kFolder = "BURN_TEST_KILLED_TRAINING";  // environment variable: the child's folder
constexpr int kInterrupted = 3;

// Runs in the child: starts or resumes the training, and saves the model at the end.
int train_in(const std::filesystem::path& folder) {
  struct Slow : train::Callback {
    std::string name() const override { return "Slow"; }
    void step(train::Run&) override { std::this_thread::sleep_for(std::chrono::milliseconds{3}); }
  };
  const auto device = Device::new_session("cpu");
  const auto [train, valid] = test::tiny_loaders(device, 2);
  device.seed(1);
  auto training = train::SupervisedTraining(folder, train, valid)
                      .metrics(metric::Accuracy{}, metric::Loss{})
                      .renderer(std::make_shared<train::SilentRenderer>())
                      .checkpoints(train::EveryTime{std::chrono::milliseconds{20}})
                      .callbacks(std::make_shared<Slow>())
                      .interrupter(train::Interrupter::on_ctrl_c())
                      .grads_accumulation(2)
                      .ema({.decay = 0.9})
                      .seed(7)
                      .epochs(40);
  if (!train::CheckpointStore{folder}.is_empty()) training.resume(train::latest);  // else killed before the first one
  const auto result = training.launch(train::Learner(test::TinyNet::init(device.autodiff()), optim::AdamConfig{},
                                                     lr::Cosine{.initial = 0.05, .steps = 120}));
  if (result.interrupted()) return kInterrupted;
  result.model.into_record().save(folder / "model.safetensors");
  result.averaged().into_record().save(folder / "averaged.safetensors");
  train::to_record(result.report.history).save(folder / "history.safetensors");
  return 0;
}

pid_t start_child(const std::filesystem::path& folder) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::setenv(kFolder, folder.c_str(), 1);
  ::execl("/proc/self/exe", "child", "--gtest_filter=KilledTraining.DISABLED_Child", "--gtest_also_run_disabled_tests",
          static_cast<char*>(nullptr));
  ::_exit(127);
}

// The child's exit status, or minus the signal that ended it.
int wait_for(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(KilledTraining, DISABLED_Child) {
  const char* folder = std::getenv(kFolder);
  if (folder == nullptr) GTEST_SKIP() << "it is started by the others";
  std::exit(train_in(folder));
}

TEST(KilledTraining, EndsWithTheNumbersOfOneThatWasNot) {
  const test::TempFolder folder;
  ASSERT_EQ(wait_for(start_child(folder / "whole")), 0);
  data::Rng rng{static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count())};
  int killed = 0, terminated = 0;
  for (int i = 0; i < 10; ++i) {
    const auto child = start_child(folder / "killed");
    std::this_thread::sleep_for(std::chrono::milliseconds{60 + rng.below(200)});
    const int signal = i % 3 == 2 ? SIGTERM : SIGKILL;
    ::kill(child, signal);
    const int end = wait_for(child);
    if (end == -signal || end == kInterrupted) (signal == SIGKILL ? killed : terminated) += 1;
    if (end == 0) break;  // the training had finished
  }
  EXPECT_GT(killed + terminated, 0);
  ASSERT_EQ(wait_for(start_child(folder / "killed")), 0);
  for (const auto* name : {"model.safetensors", "averaged.safetensors", "history.safetensors"}) {
    EXPECT_EQ(test::TempFolder::read(folder.path() / "whole" / name),
              test::TempFolder::read(folder.path() / "killed" / name))
        << name;
  }
}

}  // namespace
}  // namespace burn
