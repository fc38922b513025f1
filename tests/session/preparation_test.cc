// Programs that are compiled before their turn. These tests run with BURN_PLAN_THREADS=2.
#include "serving/preparation.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>

#include "proto/codec.h"
#include "tests/session/session_test.h"

namespace burn::session {
namespace {

using serving::Preparation;
using serving::PreparationThreads;
using serving::PreparedProgram;
using testing::ElementsAre;

PreparedProgram some_program() { return {add_program({4}), {}, nullptr}; }

TEST(Preparation, IsTakenOnce) {
  Preparation preparation([] { return some_program(); });
  preparation.perform();
  EXPECT_TRUE(preparation.take());
  EXPECT_FALSE(preparation.take());
}

TEST(Preparation, IsNotBegunOnceItsTurnHasCome) {
  bool is_begun = false;
  Preparation preparation([&] {
    is_begun = true;
    return some_program();
  });
  EXPECT_FALSE(preparation.take());
  preparation.perform();
  EXPECT_FALSE(is_begun);
}

TEST(Preparation, ThatThrowsHasMadeNothing) {
  Preparation preparation([]() -> std::optional<PreparedProgram> { throw std::runtime_error("no"); });
  preparation.perform();
  EXPECT_FALSE(preparation.take());
}

TEST(Preparers, EndWithTheirHolder) {
  PreparationThreads preparers(1);
  Gate gate;
  std::atomic<bool> is_over = false;
  auto holder = preparers.prepare([&] {
    gate.pass();
    is_over = true;
    return some_program();
  });
  gate.await(1);
  bool is_second_begun = false;
  (void)preparers.prepare([&] {  // behind the first, and dropped at once
    is_second_begun = true;
    return some_program();
  });
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.open();
  });
  holder = {};
  EXPECT_TRUE(is_over);
  opener.join();
  EXPECT_FALSE(is_second_begun);
}

TEST(Preparers, WithoutThreadsDoNothing) {
  PreparationThreads none(0);
  EXPECT_FALSE(none.has_threads());
  EXPECT_FALSE(none.prepare([] { return some_program(); }).take());
}

class PreparedSession : public LocalSessionTest {
 protected:
  void SetUp() override { ASSERT_TRUE(PreparationThreads::instance().has_threads()) << "BURN_PLAN_THREADS=2"; }

  // Holds the executor in a run of program 1 until the gate opens.
  void hold() {
    device_->on_run = [this](const ir::Program& program) -> Status {
      if (program.inputs[0].type.shape == ir::Shape{1}) gate_.pass();
      return {};
    };
    define(1, scale_program({1}));
    write(1, {1}, {1});
    run({.program = 1, .inputs = {1}, .first_output = 2, .scalars = {0}});
    gate_.await(1);
  }
  void await_compiled(int count) const {
    while (device_->compiled < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // Programs 2 and 3, which add 2 and 3 numbers, once the gate opens.
  void run_both() {
    write(10, {2}, {1, 2});
    write(11, {3}, {1, 2, 3});
    run({.program = 2, .inputs = {10, 10}, .first_output = 12});
    run({.program = 3, .inputs = {11, 11}, .first_output = 13});
    gate_.open();
    EXPECT_THAT(values(value_or_throw(read(12))), ElementsAre(2, 4));
    EXPECT_THAT(values(value_or_throw(read(13))), ElementsAre(2, 4, 6));
  }
  static SharedBytes encoded(const ProgramPtr& program) {
    const auto frame = proto::encode({1, proto::DefineProgram{1, program}, {}});
    const auto text = frame.header;
    const auto bytes = SharedBytes::own(std::vector<char>(text.begin(), text.end()));
    return std::get<proto::DefineProgram>(proto::decode(bytes, proto::Programs::later)->body).encoded;
  }

  Gate gate_;
};

TEST_F(PreparedSession, ProgramsThatWaitAreCompiledMeanwhile) {
  hold();
  define(2, add_program({2}));
  EXPECT_TRUE(session_->define_encoded(3, encoded(add_program({3})), {}).ok());
  await_compiled(3);  // although the executor is held
  run_both();
  EXPECT_EQ(device_->compiled, 3);  // each once
  EXPECT_TRUE(sync().ok());
}

TEST_F(PreparedSession, WhatIsWrongIsSaidInItsTurn) {
  device_->on_compile = [](const ir::Program& program) -> Status {
    return program.inputs[0].type.shape == ir::Shape{7} ? unimplemented("no sevens") : Status{};
  };
  hold();
  define(2, add_program({7}));
  EXPECT_TRUE(session_->define_encoded(3, SharedBytes::own(std::vector<char>(20, 7)), {}).ok());
  write(10, {7}, std::vector<float>(7));
  run({.program = 2, .inputs = {10, 10}, .first_output = 12});
  run({.program = 3, .inputs = {10}, .first_output = 13});
  gate_.open();
  EXPECT_FAILS(read(12).status(), unimplemented, "program 2: no sevens");
  EXPECT_FALSE(sync().ok());
  EXPECT_TRUE(sync().ok());
}

TEST_F(PreparedSession, ANameDefinedAgainWhileItWaitsStandsForTheLast) {
  hold();
  for (std::int64_t size = 2; size < 40; ++size) define(2, add_program({size}));
  define(2, add_program({2}));
  write(10, {2}, {1, 2});
  run({.program = 2, .inputs = {10, 10}, .first_output = 12});
  gate_.open();
  EXPECT_THAT(values(value_or_throw(read(12))), ElementsAre(2, 4));
}

TEST_F(PreparedSession, EndsWhileProgramsAreCompiled) {
  std::atomic<int> begun = 0;
  device_->on_compile = [&](const ir::Program&) -> Status {
    ++begun;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return {};
  };
  hold();
  for (std::int64_t k = 2; k < 50; ++k) define(static_cast<proto::ProgramId>(k), add_program({k}));
  gate_.open();
  session_->close();
  session_.reset();
  const int at_end = begun;
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(begun, at_end);
}

// A text of many tokens has a program for each length: written again, its plans may have left the cache, one after the
// other. While one runs, those of the next are compiled.
TEST_F(PreparedSession, PlansThatAreGoneAreCompiledBeforeTheirRuns) {
  worker_ = Worker::create(make_fake_backend(device_), {}, {.plans = 1});
  session_ = make_local_session(worker_);
  std::atomic<std::thread::id> compiler, runner;
  device_->on_compile = [&](const ir::Program& program) -> Status {
    if (program.inputs[0].type.shape == ir::Shape{3}) compiler = std::this_thread::get_id();
    return {};
  };
  define(2, add_program({2}));
  define(3, add_program({3}));
  ASSERT_TRUE(sync().ok());
  hold();  // with the only plan that is kept
  int before = 0;
  device_->on_run = [&](const ir::Program& program) -> Status {
    if (program.inputs[0].type.shape != ir::Shape{2}) return {};
    runner = std::this_thread::get_id();
    for (int i = 0; i < 5000 && device_->compiled <= before + 1; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return {};
  };
  before = device_->compiled;
  run_both();
  EXPECT_EQ(device_->compiled, before + 2);  // each once
  EXPECT_NE(compiler.load(), runner.load());
  EXPECT_TRUE(sync().ok());
}

TEST_F(PreparedSession, WhatPreparationsTakeIsCountedOnce) {
  define(1, add_program({1}));
  ASSERT_TRUE(sync().ok());
  const auto of_one = session_->stats().session.host_bytes;
  session_.reset();
  session_ = make_local_session(worker_);
  hold();
  EXPECT_TRUE(session_->release({2}).ok());
  for (proto::ProgramId k = 2; k < 12; ++k) define(k, add_program({static_cast<std::int64_t>(k)}));
  gate_.open();
  ASSERT_TRUE(sync().ok());
  EXPECT_LE(session_->stats().session.host_bytes, 13 * of_one + 65536);
  std::vector<proto::ProgramId> all(12);
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = k + 1;
  define(100, add_program({1}), all);
  ASSERT_TRUE(sync().ok());
  EXPECT_LE(session_->stats().session.host_bytes, 3 * of_one + 65536);
}

}  // namespace
}  // namespace burn::session
