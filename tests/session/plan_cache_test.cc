#include "session/plan_cache.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/session/fake_backend.h"
#include "tests/session/programs.h"

namespace burn::session {
namespace {

class PlanCacheTest : public testing::Test {
 protected:
  Result<PlanPtr> get(PlanCache& cache, const ProgramPtr& program) {
    return cache.get(program, [&] { return backend_->compile(program); });
  }

  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>();
  std::unique_ptr<backends::Backend> backend_ = make_fake_backend(device_);
};

TEST_F(PlanCacheTest, CompilesEachProgramOnce) {
  PlanCache cache;
  const auto first = get(cache, add_program({2}));
  const auto again = get(cache, add_program({2}));
  const auto other = get(cache, add_program({3}));
  ASSERT_TRUE(first.ok() && again.ok() && other.ok());
  EXPECT_EQ(*first, *again);
  EXPECT_NE(*first, *other);
  EXPECT_EQ(device_->compiled, 2);
  const auto stats = cache.stats();
  EXPECT_EQ(stats.plans, 2u);
  EXPECT_EQ(stats.hits, 1u);
  EXPECT_EQ(stats.misses, 2u);
}

TEST_F(PlanCacheTest, TrimmedKeepsThoseThatWereUsedLast) {
  PlanCache cache;
  const std::vector<ProgramPtr> programs{add_program({1}), add_program({2}), add_program({3})};
  for (const auto& program : programs) ASSERT_TRUE(get(cache, program).ok());
  ASSERT_TRUE(get(cache, programs[0]).ok());
  const auto all = cache.stats().bytes;
  EXPECT_EQ(cache.trim(all), all);
  const auto left = cache.trim(all / 3 + 10);
  EXPECT_GT(left, 0u);
  EXPECT_EQ(cache.stats().bytes, left);
  EXPECT_EQ(cache.stats().plans, 1u);
  device_->compiled = 0;
  ASSERT_TRUE(get(cache, programs[0]).ok());
  EXPECT_EQ(device_->compiled, 0);
  EXPECT_EQ(cache.trim(0), 0u);
  ASSERT_TRUE(get(cache, programs[0]).ok());
  EXPECT_EQ(device_->compiled, 1);
}

TEST_F(PlanCacheTest, NamesTheProgramsWhoseRunsTookTheLongest) {
  using namespace std::chrono_literals;
  PlanCache cache;
  const auto cheap = get(cache, add_program({2})), dear = get(cache, scale_program({3}));
  ASSERT_TRUE(cheap.ok() && dear.ok());
  (*cheap)->count_run(2ms);
  (*dear)->count_run(2ms);
  (*dear)->count_run(3ms);
  const auto uses = cache.costliest(50);
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].first_op, ir::name(scale_program({3})->nodes.front().op));
  EXPECT_EQ(uses[1].first_op, "add");
  EXPECT_EQ(uses[0].hash, ir::to_string(scale_program({3})->hash));
  EXPECT_EQ(uses[0].nodes, scale_program({3})->nodes.size());
  EXPECT_EQ(uses[0].runs, 2u);
  EXPECT_EQ(uses[0].time, 5ms);
  EXPECT_EQ(uses[0].bytes + uses[1].bytes, cache.stats().bytes);
  EXPECT_EQ(cache.costliest(1).size(), 1u);
  cache.trim(0);
  EXPECT_EQ(cache.stats().evictions, 2u);
  EXPECT_TRUE(cache.costliest(50).empty());
}

TEST_F(PlanCacheTest, CompilesOnceForAllThatAskMeanwhile) {
  PlanCache cache;
  Gate gate;
  device_->on_compile = [&](const ir::Program&) {
    gate.pass();
    return Status{};
  };
  const auto program = add_program({2});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { EXPECT_TRUE(get(cache, program).ok()); });
  gate.await(1);
  while (cache.stats().hits < 3) std::this_thread::yield();
  gate.open();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(device_->compiled, 1);
}

TEST_F(PlanCacheTest, ServesOthersWhileItCompiles) {
  PlanCache cache;
  const auto known = add_program({3});
  ASSERT_TRUE(get(cache, known).ok());
  Gate gate;
  device_->on_compile = [&](const ir::Program& program) {
    if (program.inputs[0].type.shape[0] == 2) gate.pass();
    return Status{};
  };
  std::thread slow{[&] { EXPECT_TRUE(get(cache, add_program({2})).ok()); }};
  gate.await(1);
  EXPECT_TRUE(get(cache, known).ok());
  EXPECT_TRUE(get(cache, add_program({4})).ok());
  gate.open();
  slow.join();
}

TEST_F(PlanCacheTest, ForgetsTheLeastRecentlyUsed) {
  PlanCache cache{{.plans = 2}};
  const auto a = add_program({1}), b = add_program({2}), c = add_program({3});
  for (const auto& program : {a, b, a, c, a}) ASSERT_TRUE(get(cache, program).ok());
  EXPECT_EQ(device_->compiled, 3);  // c drove b out
  ASSERT_TRUE(get(cache, b).ok());
  EXPECT_EQ(device_->compiled, 4);
  EXPECT_EQ(cache.stats().plans, 2u);
}

TEST_F(PlanCacheTest, IsBoundedByBytesToo) {
  const auto bytes = 1000 + ir::memory_bytes(*scale_program({1}));  // a fake plan says 1,000
  PlanCache cache{{.plans = 100, .bytes = 3 * bytes}};
  for (int i = 1; i <= 10; ++i) ASSERT_TRUE(get(cache, scale_program({i})).ok());
  EXPECT_EQ(cache.stats().plans, 3u);
  EXPECT_LE(cache.stats().bytes, 3 * bytes);
  PlanCache tiny{{.bytes = 1}};
  ASSERT_TRUE(get(tiny, scale_program({1})).ok());
  EXPECT_EQ(tiny.stats().plans, 1u);  // the newest stays
}

TEST_F(PlanCacheTest, APlanThatIsRunStays) {
  PlanCache cache{{.plans = 2}};
  const auto a = *get(cache, add_program({1}));
  ASSERT_TRUE(get(cache, add_program({2})).ok());
  a->mark_used(Plan::Clock::now());
  ASSERT_TRUE(get(cache, add_program({3})).ok());
  EXPECT_EQ(*get(cache, add_program({1})), a);
}

TEST_F(PlanCacheTest, ForgetsFailures) {
  PlanCache cache;
  device_->on_compile = [](const ir::Program&) { return resource_exhausted("no memory"); };
  EXPECT_EQ(get(cache, add_program({2})).status(), resource_exhausted("no memory"));
  device_->on_compile = nullptr;
  EXPECT_TRUE(get(cache, add_program({2})).ok());
}

TEST_F(PlanCacheTest, TurnsExceptionsIntoFailures) {
  PlanCache cache;
  device_->on_compile = [](const ir::Program&) -> Status { throw std::bad_alloc{}; };
  EXPECT_EQ(get(cache, add_program({2})).status().code(), StatusCode::resource_exhausted);
}

TEST_F(PlanCacheTest, TellsProgramsOfOneHashApart) {
  PlanCache cache;
  auto forged = *add_program({3});
  forged.hash = add_program({2})->hash;
  const auto real = get(cache, add_program({2}));
  const auto other = get(cache, std::make_shared<const ir::Program>(forged));
  ASSERT_TRUE(real.ok() && other.ok());
  EXPECT_NE(*real, *other);
  EXPECT_EQ(*get(cache, add_program({2})), *real);
}

}  // namespace
}  // namespace burn::session
