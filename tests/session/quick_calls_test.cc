// Calls that are over at once run on the thread that makes them, in order with all others; what may take its time never
// does.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/session/session_test.h"

namespace burn::session {
namespace {

class QuickCalls : public LocalSessionTest {
 protected:
  QuickCalls() { reopen({}, Execution::caller_if_quick); }

  // Whether run after run is at last executed by the caller.
  bool becomes_quick(proto::ProgramId program, proto::TensorId first_output) {
    const auto caller = std::this_thread::get_id();
    for (int i = 0; i < 2000; ++i) {
      ran_on_ = std::thread::id{};
      run({.program = program, .inputs = {1, 1}, .first_output = first_output});
      EXPECT_TRUE(session_->release({first_output}).ok());
      if (!sync().ok()) return false;
      std::this_thread::sleep_for(std::chrono::microseconds{100});  // for the other thread to have nothing left to do
      if (ran_on_ == caller) return true;
    }
    return false;
  }

  std::atomic<std::thread::id> ran_on_;
};

TEST_F(QuickCalls, RunOnTheCallerOnceTheyAreKnownToBeQuick) {
  device_->on_run = [&](const ir::Program&) {
    ran_on_ = std::this_thread::get_id();
    return Status{};
  };
  define(1, add_program({2}));
  write(1, {2}, {1, 2});
  run({.program = 1, .inputs = {1, 1}, .first_output = 5});
  EXPECT_TRUE(sync().ok());
  EXPECT_NE(ran_on_.load(), std::this_thread::get_id()) << "how long it takes was not known yet";
  EXPECT_TRUE(becomes_quick(1, 6));
  EXPECT_EQ(values(*read(5)), (std::vector<float>{2, 4}));
}

TEST_F(QuickCalls, DoNotRunOnTheCallerWhenTheyAreSlow) {
  device_->on_run = [&](const ir::Program&) {
    ran_on_ = std::this_thread::get_id();
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    return Status{};
  };
  define(1, add_program({2}));
  write(1, {2}, {1, 2});
  for (proto::TensorId id = 10; id < 20; ++id) {
    run({.program = 1, .inputs = {1, 1}, .first_output = id});
    EXPECT_TRUE(sync().ok());
    EXPECT_NE(ran_on_.load(), std::this_thread::get_id());
  }
}

// No op has an effect yet; the node is marked as ProgramBuilder::add marks one of an op with kEffect.
TEST_F(QuickCalls, DoNotRunProgramsWithAnEffectOnTheCaller) {
  device_->on_run = [&](const ir::Program&) {
    ran_on_ = std::this_thread::get_id();
    return Status{};
  };
  ir::Program program = *add_program({2});
  program.nodes[0].effect = true;
  program.effect_count = 1;
  define(1, std::make_shared<const ir::Program>(std::move(program)));
  write(1, {2}, {1, 2});
  EXPECT_FALSE(becomes_quick(1, 6));
}

TEST_F(QuickCalls, NeverWaitForAnUploadThatTheCallerHasToFill) {
  device_->on_run = [&](const ir::Program&) {
    ran_on_ = std::this_thread::get_id();
    return Status{};
  };
  define(1, add_program({2}));
  write(1, {2}, {1, 2});
  ASSERT_TRUE(becomes_quick(1, 50));
  auto upload = session_->begin_upload(2, f32({2}));
  ASSERT_TRUE(upload.ok());
  run({.program = 1, .inputs = {1, 2}, .first_output = 3});  // would hang here
  const std::vector<float> numbers = {10, 20};
  EXPECT_TRUE((*upload)->fill(0, std::as_bytes(std::span{numbers})).ok());
  EXPECT_EQ(values(*read(3)), (std::vector<float>{11, 22}));
}

TEST_F(QuickCalls, KeepTheOrderOfSeveralCallers) {
  define(1, add_program({2}));
  std::vector<std::thread> callers;
  for (proto::TensorId k = 0; k < 4; ++k) {
    callers.emplace_back([this, k] {
      const proto::TensorId base = 1000 * (k + 1);
      for (proto::TensorId i = 0; i < 300; ++i) {
        const auto id = base + 3 * (i % 100);
        EXPECT_TRUE(session_->write(id, tensor({2}, {1, static_cast<float>(i)})).ok());
        EXPECT_TRUE(session_->run({.program = 1, .inputs = {id, id}, .first_output = id + 1}).ok());
        const auto sum = read(*session_, id + 1);
        ASSERT_TRUE(sum.ok()) << sum.status().to_string();
        EXPECT_EQ(values(*sum), (std::vector<float>{2, 2 * static_cast<float>(i)}));
        EXPECT_TRUE(session_->release({id, id + 1}).ok());
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_TRUE(sync().ok());
}

}  // namespace
}  // namespace burn::session
