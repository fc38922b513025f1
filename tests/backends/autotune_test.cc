#include "backends/autotune.h"

#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <new>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/interrupt.h"

namespace burn::backends {
namespace {

constexpr std::array<std::string_view, 3> kNames{"slow", "fast", "broken"};

class Tuning : public ::testing::Test {
 protected:
  Tuning() : folder_(std::filesystem::path(::testing::TempDir()) / ("autotune" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Status run(int i) {
    ++runs_;
    if (i == 2) return internal_error("no kernel");
    if (i == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return {};
  }
  int choose(Autotune& tuner, std::string_view key = "key") {
    return tuner.choose(key, kNames, [this](int i) { return run(i); });
  }

  std::filesystem::path folder_;
  std::atomic<int> runs_ = 0;
};

TEST_F(Tuning, TakesTheFastestThatWorksAndTimesItOnce) {
  Autotune tuner({});
  EXPECT_EQ(choose(tuner), 1);
  const int runs = runs_;
  EXPECT_GT(runs, 3);
  EXPECT_EQ(choose(tuner), 1);
  EXPECT_EQ(runs_, runs);
}

TEST_F(Tuning, AFirstRunThatPaysForMemoryDoesNotDecide) {
  Autotune tuner({});
  constexpr std::string_view kTwo[] = {"steady", "cold at first"};
  int cold_runs = 0;
  EXPECT_EQ(tuner.choose_timed("key", kTwo,
                               [&](int i) -> Result<double> {
                                 if (i == 0) return 1e-3;
                                 return ++cold_runs == 1 ? 3e-3 : 0.5e-3;
                               }),
            1);
}

// By others on the same machine, for as long as four short runs of it take.
TEST_F(Tuning, ShortRunsAreRepeatedUntilOneIsNotDisturbed) {
  constexpr std::string_view kTwo[] = {"steady", "disturbed"};
  for (const double seconds : {1e-4, 1e-2}) {
    Autotune tuner({});
    int runs = 0;
    const auto chosen = tuner.choose_timed("key", kTwo, [&](int i) -> Result<double> {
      if (i == 0) return seconds;
      return seconds * (++runs <= 4 ? 1.2 : 0.8);
    });
    EXPECT_EQ(chosen, seconds < 1e-3 ? 1 : 0);
  }
}

TEST_F(Tuning, SwitchedOffTakesTheFirstWithoutRunningAnything) {
  Autotune tuner({}, false);
  EXPECT_EQ(choose(tuner), 0);
  EXPECT_EQ(runs_, 0);
}

TEST_F(Tuning, TakesTheFirstWhereNothingWorks) {
  Autotune tuner({});
  EXPECT_EQ(tuner.choose("key", kNames, [](int) { return internal_error("no"); }), 0);
}

TEST_F(Tuning, RemembersOnDisk) {
  const auto file = folder_ / "deeper" / "choices.txt";
  {
    Autotune first(file), second(file);
    choose(first, "a");
    choose(second, "b");
  }
  runs_ = 0;
  Autotune again(file);
  EXPECT_EQ(choose(again, "a"), 1);
  EXPECT_EQ(choose(again, "b"), 1);
  EXPECT_EQ(runs_, 0);
  for (const auto& entry : std::filesystem::directory_iterator(file.parent_path())) EXPECT_EQ(entry.path(), file);
}

TEST_F(Tuning, PassesOverDamage) {
  std::filesystem::create_directories(folder_);
  const auto file = folder_ / "choices.txt";
  for (const std::string text :
       {"", "something else\nkey\tslow\n", "burn autotune 1\nkey\tunknown\n\t\nkey\n\x01\xff"}) {
    std::ofstream(file) << text;
    Autotune tuner(file);
    EXPECT_EQ(choose(tuner), 1) << text;
  }
  std::ofstream(file) << "burn autotune 1\n" << std::string(100000, 'x') << "\n\nkey\tslow\nbroken li";
  Autotune tuner(file);
  EXPECT_EQ(choose(tuner), 0);  // what is whole counts
}

TEST_F(Tuning, AFolderThatCannotBeWrittenToIsNoError) {
  Autotune tuner("/proc/no/such/place/choices.txt");
  EXPECT_EQ(choose(tuner), 1);
  EXPECT_EQ(choose(tuner), 1);
}

TEST_F(Tuning, ForgetsBeforeItGrowsWithoutBound) {
  Autotune tuner({});
  for (std::size_t i = 0; i < Autotune::kMaxKeys + 10; ++i) {
    tuner.choose(std::to_string(i), std::span(kNames).first(2), [](int) { return Status{}; });
  }
}

TEST_F(Tuning, OneKeyIsTimedByOneThread) {
  Autotune tuner({});
  std::vector<std::thread> threads;
  threads.reserve(4);
  std::atomic<int> timing = 0, most = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      tuner.choose("key", std::span(kNames).first(2), [&](int) {
        most = std::max(most.load(), ++timing);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        --timing;
        return Status{};
      });
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
}

TEST_F(Tuning, ACandidateThatThrowsLeavesTheKeyToTheNextWaiter) {
  Autotune tuner({});
  std::atomic<bool> is_timed = false;
  std::thread waits([&] {
    while (!is_timed) std::this_thread::yield();
    EXPECT_EQ(choose(tuner), 1);  // waits for the first to be done with the key, then tries itself
  });
  const auto fails = [&] {
    tuner.choose("key", kNames, [&](int) -> Status {
      is_timed = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      throw std::bad_alloc();
    });
  };
  EXPECT_THROW(fails(), std::bad_alloc);
  waits.join();
  runs_ = 0;
  EXPECT_EQ(choose(tuner), 1);
  EXPECT_EQ(runs_, 0);  // it is known
}

// What ends a run (backends/interrupt.h) is no std::exception.
TEST_F(Tuning, ARunThatEndsWhileItTimesLeavesTheKeyToOthers) {
  Autotune tuner({});
  const auto ends = [&] { tuner.choose("key", kNames, [](int) -> Status { throw Interrupted{}; }); };
  EXPECT_THROW(ends(), Interrupted);
  EXPECT_EQ(choose(tuner), 1);
}

TEST(AutotuneFile, IsNamedByDeviceAndVersionInPlainLetters) {
  const auto file = autotune_file("cpu A/B (c)");
  EXPECT_EQ(file.filename().string().find("autotune-cpu_A_B__c_-"), 0u) << file;
  EXPECT_EQ(file.parent_path().filename(), "burn");
}

}  // namespace
}  // namespace burn::backends
