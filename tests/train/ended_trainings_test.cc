// Trainings of the guide's model that are ended from outside: by SIGKILL and SIGTERM at random moments and in the
// middle of validation, and by a full disk. Each is a process of its own. A training resumed from its checkpoints ends
// with the numbers of an undisturbed one, bit by bit: with shuffling, dropout, accumulation and averages.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/random.h"
#include "examples/guide/model.h"
#include "tests/support/temp_folder.h"
#include "train/checkpoint/checkpoint.h"

namespace burn {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr const char *kFolder = "BURN_TEST_ENDED_FOLDER", *kNotes = "BURN_TEST_ENDED_NOTES",
                     *kHow = "BURN_TEST_ENDED_HOW";
constexpr int kInterrupted = 3, kFailed = 4;
constexpr auto kInterval = std::chrono::seconds{2};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// How a child is ended: not at all; by its parent, for which its steps are slow; by a signal in its third validation;
// by a disk that it fills up.
enum class Ending { left_alone, slow, killed_in_validation, terminated_in_validation, disk_full };

// Runs in the child: writes notes for the parent, and slows steps down or fills the disk as `Ending` says.
class Child : public train::Callback {
 public:
  Child(Ending how, const std::filesystem::path& folder, const std::filesystem::path& notes)
      : how_(how), filler_(folder / "filler"), notes_(notes, std::ios::app) {}

  std::string name() const override { return "Child"; }
  void start(train::Run& run) override { note("start", run); }
  void step(train::Run& run) override {
    note("step", run);
    if (how_ == Ending::slow) std::this_thread::sleep_for(milliseconds{150});
  }
  void checkpoint(train::Run& run, const train::WrittenCheckpoint&) override {
    note("checkpoint", run);
    // Fills the disk after the third checkpoint, until two writes have failed; fills it for good after one more.
    if (how_ == Ending::disk_full && ++written_ >= 3) fill();
  }
  void on_event(const train::events::Event& event) {
    const auto* message = std::get_if<train::events::Message>(&event.body);
    if (message == nullptr || message->text.find("could not be written") == std::string::npos) return;
    notes_ << "failure " << message->text << std::endl;
    if (message->text.find("the checkpoint") == std::string::npos) return;
    if (++failures_ == 2) std::filesystem::remove(filler_);
  }
  void failed(const std::exception& error) { notes_ << "end " << error.what() << std::endl; }

 private:
  void note(const char* what, const train::Run& run) {
    notes_ << what << ' ' << run.step() << ' ' << std::to_string(now()) << std::endl;
  }
  void fill() {
    std::ofstream file(filler_, std::ios::binary | std::ios::app);
    const std::string page(4096, 'x');
    while (file.write(page.data(), static_cast<std::streamsize>(page.size())).flush()) {
    }
  }

  const Ending how_;
  const std::filesystem::path filler_;
  std::ofstream notes_;
  int written_ = 0, failures_ = 0;
};

// Ends this process in its third validation, after one batch.
struct EndingBatcher {
  guide::MnistBatcher batcher;
  int signal;  // 0: none
  std::shared_ptr<std::atomic<int>> batches = std::make_shared<std::atomic<int>>(0);

  guide::MnistBatch batch(const std::vector<data::MnistItem>& items) const {
    if (signal != 0 && ++*batches == 2 * 4 + 2) ::raise(signal);
    return batcher.batch(items);
  }
};

int train_in(Ending how, const std::filesystem::path& folder, const std::filesystem::path& notes) {
  const auto child = std::make_shared<Child>(how, folder.parent_path(), notes);
  const auto device = Device::new_session("cpu");
  const int signal = how == Ending::killed_in_validation       ? SIGKILL
                     : how == Ending::terminated_in_validation ? SIGTERM
                                                               : 0;
  auto training_loaders = data::DataLoaderBuilder(guide::MnistBatcher{device}).batch_size(32).num_workers(2);
  auto loaders = data::DataLoaderBuilder(EndingBatcher{{device}, signal}).batch_size(32);
  device.seed(1);
  auto training = train::SupervisedTraining(folder, training_loaders.shuffle(5).build(data::DigitsDataset(1600, 1)),
                                            loaders.build(data::DigitsDataset(128, 2)))
                      .metrics(metric::Loss{}, metric::Accuracy{})
                      .renderer(std::make_shared<train::SilentRenderer>())
                      .callbacks(child)
                      .observe([child](const train::events::Event& event) { child->on_event(event); })
                      .interrupter(train::Interrupter::on_ctrl_c())
                      .grads_accumulation(3)
                      .clip_norm(1)
                      .ema({.decay = 0.99})
                      .seed(7)
                      .epochs(6);
  if (how == Ending::disk_full)
    training.checkpoints(train::KeepLast{1}, train::EverySteps{2});
  else
    training.checkpoints(train::EveryTime{kInterval});
  if (!train::CheckpointStore{folder}.is_empty()) training.resume(train::latest);  // else killed before the first one
  try {
    const auto result = training.launch(train::Learner(guide::NetConfig{.hidden = 64}.init(device.autodiff()),
                                                       optim::AdamConfig{}, lr::Cosine{.initial = 2e-3, .steps = 120}));
    if (result.interrupted()) return kInterrupted;
    result.model.into_record().save(folder / "model.safetensors");
    result.averaged().into_record().save(folder / "averaged.safetensors");
    train::to_record(result.report.history).save(folder / "history.safetensors");
  } catch (const std::exception& error) {
    child->failed(error);
    return kFailed;
  }
  return 0;
}

class EndedTrainings : public ::testing::Test {
 protected:
  const test::TempFolder folder;

  static pid_t start(Ending how, const std::filesystem::path& training, const std::filesystem::path& notes) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    ::setenv(kFolder, training.c_str(), 1);
    ::setenv(kNotes, notes.c_str(), 1);
    ::setenv(kHow, std::to_string(static_cast<int>(how)).c_str(), 1);
    ::execl("/proc/self/exe", "child", "--gtest_filter=EndedTrainings.DISABLED_Child",
            "--gtest_also_run_disabled_tests", static_cast<char*>(nullptr));
    ::_exit(127);
  }
  // The child's exit status, or minus the signal that ended it.
  static int wait_for(pid_t child) {
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  int run(Ending how, const std::filesystem::path& training, const std::string& notes = "notes") const {
    return wait_for(start(how, training, folder / notes));
  }
  std::string notes(const std::string& name = "notes") const { return test::TempFolder::read(folder / name); }
  static void expect_same(const std::filesystem::path& a, const std::filesystem::path& b) {
    for (const auto* name : {"model.safetensors", "averaged.safetensors", "history.safetensors"})
      EXPECT_EQ(test::TempFolder::read(a / name), test::TempFolder::read(b / name)) << name;
  }
};

TEST_F(EndedTrainings, DISABLED_Child) {
  const char* training = std::getenv(kFolder);
  if (training == nullptr) GTEST_SKIP() << "it is started by the others";
  std::_Exit(train_in(static_cast<Ending>(std::atoi(std::getenv(kHow))), training, std::getenv(kNotes)));
}

// The work in seconds that a child ended at `end` has lost, if the next child resumes from `step`. A child that ended
// before its first checkpoint has lost all of its work.
double lost_seconds(const std::string& notes, double end, std::int64_t step) {
  std::istringstream lines(notes);
  std::string what;
  std::int64_t at = 0;
  double time = 0, kept = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream(line) >> what >> at >> time;
    if (what == "start" || (what == "step" && at == step)) kept = time;
  }
  return std::max(0.0, end - kept);
}

TEST_F(EndedTrainings, ByKillAtTenMomentsLoseAtMostTheInterval) {
  ASSERT_EQ(run(Ending::left_alone, folder / "whole", "whole.notes"), 0);
  data::Rng rng{static_cast<std::uint64_t>(now() * 1e9)};
  constexpr double kSlack = 1;  // seconds: the write itself, and one step on a busy machine
  int killed = 0;
  for (; killed < 10; ++killed) {
    const auto child = start(Ending::slow, folder / "killed", folder / "notes");
    std::this_thread::sleep_for(milliseconds{700 + rng.below(3500)});
    const auto before = notes();
    const double end = now();
    ::kill(child, SIGKILL);
    const int status = wait_for(child);
    if (status == 0) break;  // the training had finished
    ASSERT_EQ(status, -SIGKILL);
    if (train::CheckpointStore{folder / "killed"}.is_empty()) continue;
    const auto step = train::CheckpointStore{folder / "killed"}.load(std::nullopt).state.steps;
    EXPECT_LE(lost_seconds(before, end, step), std::chrono::duration<double>(kInterval).count() + kSlack)
        << "it goes on from step " << step << "\n"
        << before;
  }
  EXPECT_GE(killed, 5);
  ASSERT_EQ(run(Ending::left_alone, folder / "killed"), 0);
  expect_same(folder / "whole", folder / "killed");
}

TEST_F(EndedTrainings, BySigtermAtRandomMomentsGoOn) {
  ASSERT_EQ(run(Ending::left_alone, folder / "whole", "whole.notes"), 0);
  data::Rng rng{static_cast<std::uint64_t>(now() * 1e9)};
  int interrupted = 0;
  for (int i = 0; i < 3; ++i) {
    const auto child = start(Ending::slow, folder / "run", folder / "notes");
    std::this_thread::sleep_for(milliseconds{1000 + rng.below(2000)});
    ::kill(child, SIGTERM);
    const int status = wait_for(child);
    if (status == 0) break;
    if (status == -SIGTERM) continue;  // ended before its signal handler was installed
    ASSERT_EQ(status, kInterrupted);
    ++interrupted;
    EXPECT_TRUE(std::filesystem::exists(folder / "run/checkpoint/interrupted"));
  }
  EXPECT_GT(interrupted, 0);
  ASSERT_EQ(run(Ending::left_alone, folder / "run"), 0);
  expect_same(folder / "whole", folder / "run");
}

TEST_F(EndedTrainings, InTheMiddleOfAValidationGoOn) {
  ASSERT_EQ(run(Ending::left_alone, folder / "whole", "whole.notes"), 0);
  EXPECT_EQ(run(Ending::killed_in_validation, folder / "killed"), -SIGKILL);
  EXPECT_EQ(run(Ending::terminated_in_validation, folder / "terminated"), kInterrupted);
  for (const auto* name : {"killed", "terminated"}) {
    ASSERT_EQ(run(Ending::left_alone, folder / name), 0);
    expect_same(folder / "whole", folder / name);
  }
}

// Mounts a file system of eight megabytes, visible only to this process and its children.
bool mount_small(const std::filesystem::path& at) {
  const auto user = ::getuid(), group = ::getgid();
  if (::unshare(user == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) return false;
  if (user != 0) {
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
    std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";
  }
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", at.c_str(), "tmpfs", 0, "size=8m") == 0;
}

TEST_F(EndedTrainings, ByAFullDiskSayWhyAndGoOn) {
  const auto disk = folder / "disk";
  std::filesystem::create_directories(disk);
  if (!mount_small(disk)) GTEST_SKIP() << "this process may mount no file system";
  ASSERT_EQ(run(Ending::left_alone, folder / "whole", "whole.notes"), 0);
  EXPECT_EQ(run(Ending::disk_full, disk / "run"), kFailed);
  EXPECT_THAT(notes(), HasSubstr("No space left on device; training goes on, and the next one is tried"));
  EXPECT_THAT(notes(), HasSubstr("end the training ends, as 3 checkpoints in a row could not be written; the last, "));
  std::filesystem::remove(disk / "filler");
  ASSERT_EQ(run(Ending::left_alone, disk / "run"), 0);
  expect_same(folder / "whole", disk / "run");
  ::umount2(disk.c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace burn
