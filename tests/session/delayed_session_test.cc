// A session on a device that works on its own: nothing waits for it that need not, and what it finds out late is told
// as if it had been known at once.
#include <algorithm>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "session/stream.h"
#include "tests/session/session_test.h"
#include "tests/support/delayed_backend.h"

namespace burn::session {
namespace {

using std::chrono::milliseconds;

class DelayedSession : public testing::TestWithParam<Execution> {
 protected:
  Result<proto::HostTensor> read(proto::TensorId id) { return read_later(id).get(); }
  std::future<Result<proto::HostTensor>> read_later(proto::TensorId id) {
    auto promise = std::make_shared<std::promise<Result<proto::HostTensor>>>();
    session_->read(id, [promise](auto tensor) { promise->set_value(std::move(tensor)); });
    return promise->get_future();
  }
  Status sync() { return sync_later().get(); }
  std::future<Status> sync_later() {
    auto promise = std::make_shared<std::promise<Status>>();
    session_->sync([promise](Status status) { promise->set_value(std::move(status)); });
    return promise->get_future();
  }
  void write(proto::TensorId id, std::vector<float> numbers) {
    const auto size = static_cast<std::int64_t>(numbers.size());
    EXPECT_TRUE(session_->write(id, tensor({size}, std::move(numbers))).ok());
  }
  void write_index(proto::TensorId id, std::int64_t index) {
    const proto::HostTensor tensor{{ir::DType::i64, {1}}, SharedBytes::own(std::vector{index})};
    EXPECT_TRUE(session_->write(id, tensor).ok());
  }
  void define(proto::ProgramId id, const ProgramPtr& program) { EXPECT_TRUE(session_->define(id, program, {}).ok()); }
  void run(Call run) { EXPECT_TRUE(session_->run(std::move(run)).ok()); }
  // in0 gathered at in1.
  static ProgramPtr gather_program() {
    ir::ProgramBuilder builder;
    const ir::Ref inputs[] = {builder.add_input(f32({2})), builder.add_input({ir::DType::i64, {1}})};
    const auto picked = value_or_throw(builder.add(ir::Gather{0}, inputs, {"model.cc", 9}));
    return std::make_shared<const ir::Program>(builder.finish({picked}));
  }
  // Until the executor has done so many calls, or a while has passed: how many it has done.
  std::uint64_t await_executed(std::uint64_t count) {
    for (int i = 0; i < 1000 && executed_ < count; ++i) std::this_thread::sleep_for(milliseconds{1});
    return executed_;
  }

  const std::shared_ptr<test::DelayedControl> control_ = std::make_shared<test::DelayedControl>();
  const std::shared_ptr<Worker> worker_ = Worker::create(test::make_delayed_backend({}, control_));
  std::atomic<std::uint64_t> executed_ = 0;
  std::unique_ptr<LocalSession> session_ = [this] {
    auto session = make_local_session(worker_, {}, GetParam());
    session->on_progress([this](std::uint64_t executed) { executed_ = executed; });
    return session;
  }();
};

INSTANTIATE_TEST_SUITE_P(Executions, DelayedSession,
                         testing::Values(Execution::session_thread, Execution::caller_if_quick), [](const auto& info) {
                           return info.param == Execution::session_thread ? "OnItsThread" : "ByQuickCallers";
                         });

TEST_P(DelayedSession, GoesOnWhileTheDeviceIsBusy) {
  control_->hold();
  define(1, add_program({2}));
  write(1, {1, 2});
  for (proto::TensorId id = 2; id < 12; ++id) run({.program = 1, .inputs = {id - 1, id - 1}, .first_output = id});
  auto answer = read_later(11);
  EXPECT_EQ(await_executed(13), 13u);
  EXPECT_EQ(answer.wait_for(milliseconds{5}), std::future_status::timeout);
  EXPECT_EQ(control_->done, 0u);
  control_->release();
  EXPECT_EQ(values(*answer.get()), (std::vector<float>{1024, 2048}));
}

TEST_P(DelayedSession, IsNotAheadByMoreThanItsBound) {
  control_->hold();
  define(1, add_program({2}));
  write(1, {1, 2});
  for (proto::TensorId id = 2; id < 302; ++id) run({.program = 1, .inputs = {1, 1}, .first_output = id});
  EXPECT_GE(await_executed(SessionStream::kMaxCalls / 2), SessionStream::kMaxCalls / 2);
  std::this_thread::sleep_for(milliseconds{30});
  EXPECT_LE(executed_, 2 + SessionStream::kMaxCalls);
  control_->release();
  EXPECT_TRUE(sync().ok());
  EXPECT_EQ(values(*read(301)), (std::vector<float>{2, 4}));
}

TEST_P(DelayedSession, IsNotAheadByMoreBytesThanItsBound) {
  control_->hold();
  constexpr std::size_t kBytes = std::size_t{8} << 20;
  std::thread client{[&] {
    for (proto::TensorId id = 1; id <= 40; ++id) write(id, std::vector<float>(kBytes / sizeof(float)));
  }};
  const auto taken_in = [&] { return worker_->backend().memory().in_use; };
  for (int i = 0; i < 60'000 && taken_in() < SessionStream::kMaxBytes; ++i)
    std::this_thread::sleep_for(milliseconds{1});
  std::this_thread::sleep_for(milliseconds{30});
  EXPECT_EQ(taken_in(), SessionStream::kMaxBytes);
  control_->release();
  client.join();
  EXPECT_TRUE(sync().ok());
  EXPECT_EQ(taken_in(), 40 * kBytes);
}

TEST_P(DelayedSession, ClosesWhileItWaitsForTheDevice) {
  control_->hold();
  define(1, add_program({2}));
  write(1, {1, 2});
  auto first = read_later(1);
  for (proto::TensorId id = 2; id < 202; ++id) run({.program = 1, .inputs = {1, 1}, .first_output = id});
  auto last = read_later(201);
  auto done = sync_later();
  session_->close();
  EXPECT_FAILS(first.get().status(), cancelled, "closed");
  EXPECT_FAILS(last.get().status(), cancelled, "closed");
  EXPECT_FAILS(done.get(), cancelled, "closed");
  session_.reset();
  EXPECT_EQ(worker_->backend().memory().in_use, 0u);
}

TEST_P(DelayedSession, TellsWhatTheDeviceFindsOutWithOpAndCallSite) {
  define(1, gather_program());
  define(2, add_program({1}));
  write(1, {1, 2});
  write_index(2, 5);
  run({.program = 1, .inputs = {1, 2}, .first_output = 3});
  run({.program = 2, .inputs = {3, 3}, .first_output = 4});
  const auto cause = "program 1: gather: index 5 is outside 0..1 (at model.cc:9)";
  EXPECT_FAILS(read(4).status(), out_of_range, cause);
  EXPECT_EQ(read(4).status().message(), cause);
  EXPECT_FAILS(read(3).status(), out_of_range, cause);
  EXPECT_TRUE(sync().ok());  // the reads have reported it
  write_index(5, 0);
  run({.program = 1, .inputs = {1, 5}, .first_output = 6});
  EXPECT_EQ(values(*read(6)), std::vector<float>{1});
}

TEST_P(DelayedSession, ASyncReportsTheFirstFailureWhicheverThreadFindsIt) {
  define(1, gather_program());
  write(1, {1, 2});
  for (proto::TensorId k = 0; k < 3; ++k) write_index(10 + k, 5 + static_cast<std::int64_t>(k));
  control_->hold();
  run({.program = 1, .inputs = {1, 10}, .first_output = 20});  // the device will find out
  run({.program = 1, .inputs = {1, 99}, .first_output = 21});  // is known at once
  auto first = sync_later();
  run({.program = 1, .inputs = {1, 98}, .first_output = 22});
  run({.program = 1, .inputs = {1, 11}, .first_output = 23});
  auto second = sync_later();
  auto third = sync_later();
  control_->release();
  EXPECT_FAILS(first.get(), out_of_range, "index 5");
  EXPECT_FAILS(second.get(), not_found, "tensor 98");
  EXPECT_TRUE(third.get().ok());
}

TEST_P(DelayedSession, AReadTakesItsFailureOutOfTheNextSync) {
  define(1, gather_program());
  write(1, {1, 2});
  for (proto::TensorId k = 0; k < 2; ++k) write_index(10 + k, 5 + static_cast<std::int64_t>(k));
  control_->hold();
  for (proto::TensorId k = 0; k < 2; ++k) run({.program = 1, .inputs = {1, 10 + k}, .first_output = 20 + k});
  auto early = sync_later();
  auto answer = read_later(20);
  run({.program = 1, .inputs = {1, 10}, .first_output = 30});
  run({.program = 1, .inputs = {1, 11}, .first_output = 31});
  auto of_30 = read_later(30);
  auto late = sync_later();
  control_->release();
  EXPECT_FAILS(early.get(), out_of_range, "index 5");
  EXPECT_FAILS(answer.get().status(), out_of_range, "index 5");  // a read can but fail
  EXPECT_FAILS(of_30.get().status(), out_of_range, "index 5");
  EXPECT_FAILS(late.get(), out_of_range, "index 6");
}

TEST_P(DelayedSession, AnswersInTheOrderOfTheCalls) {
  std::mutex mutex;
  std::vector<int> order;
  const auto came = [&](int k) {
    const std::lock_guard lock{mutex};
    order.push_back(k);
  };
  write(1, {1, 2});
  for (int k = 0; k < 90; k += 3) {
    session_->read(1, [&, k](auto tensor) {
      EXPECT_TRUE(tensor.ok());
      came(k);
    });
    session_->read(77, [&, k](auto tensor) {  // is known to fail at once
      EXPECT_FAILS(tensor.status(), not_found, "tensor 77");
      came(k + 1);
    });
    session_->sync([&, k](Status) { came(k + 2); });
  }
  EXPECT_TRUE(sync().ok());
  EXPECT_TRUE(std::ranges::is_sorted(order));
  EXPECT_EQ(order.size(), 90u);
}

TEST_P(DelayedSession, CallbacksOnTheDevicesThreadMayMakeCalls) {
  define(1, add_program({2}));
  write(1, {1, 2});
  std::promise<Result<proto::HostTensor>> done;
  session_->read(1, [&](auto) {
    EXPECT_TRUE(session_->is_on_own_thread());
    for (proto::TensorId id = 2; id < 2002; ++id) {  // more than may wait, and more than the device may be behind
      EXPECT_TRUE(session_->run({.program = 1, .inputs = {1, 1}, .first_output = id}).ok());
    }
    session_->read(2001, [&](auto tensor) { done.set_value(std::move(tensor)); });
  });
  EXPECT_EQ(values(*done.get_future().get()), (std::vector<float>{2, 4}));
}

TEST_P(DelayedSession, RunsOutOfMemorySoonerOrLater) {
  define(1, add_program({2}));
  write(1, {1, 2});
  EXPECT_TRUE(sync().ok());
  control_->refused_calls = 1;
  run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  EXPECT_FAILS(read(2).status(), resource_exhausted, "program 1: out of memory: refused");
  control_->failing_runs = 1;
  run({.program = 1, .inputs = {1, 1}, .first_output = 3});
  run({.program = 1, .inputs = {3, 2}, .first_output = 4});
  EXPECT_FAILS(sync(), resource_exhausted, "program 1: out of memory on the device");
  EXPECT_FAILS(read(4).status(), resource_exhausted, "program 1: out of memory on the device");
  control_->refused_calls = 1;
  write(5, {1, 2});
  EXPECT_FAILS(read(5).status(), resource_exhausted, "out of memory: refused");
  run({.program = 1, .inputs = {1, 1}, .first_output = 6});
  EXPECT_EQ(values(*read(6)), (std::vector<float>{2, 4}));
  EXPECT_TRUE(sync().ok());
}

TEST_P(DelayedSession, ReceivesUploadsAndGivesThemAway) {
  define(1, scale_program({1 << 16}, true));
  for (proto::TensorId id = 1; id <= 20; ++id) {
    auto upload = session_->begin_upload(id, f32({1 << 16}));
    ASSERT_TRUE(upload.ok());
    const std::vector<float> numbers(1 << 16, static_cast<float>(id));
    EXPECT_TRUE((*upload)->fill(0, std::as_bytes(std::span{numbers})).ok());
    run({.program = 1, .inputs = {id}, .first_output = 100 + id, .scalars = {std::bit_cast<std::uint64_t>(2.0)}});
  }
  for (proto::TensorId id = 1; id <= 20; ++id) {
    EXPECT_EQ(values(*read(100 + id)), std::vector<float>(1 << 16, 2 * static_cast<float>(id)));
  }
}

TEST_P(DelayedSession, ADonatedTensorThatIsBeingReadIsReadAsItWas) {
  define(1, scale_program({2}, true));
  for (proto::TensorId id = 1; id <= 40; id += 2) {
    write(id, {1, 2});
    auto before = read_later(id);
    run({.program = 1, .inputs = {id}, .first_output = id + 1, .scalars = {std::bit_cast<std::uint64_t>(3.0)}});
    auto after = read_later(id + 1);
    EXPECT_EQ(values(*before.get()), (std::vector<float>{1, 2}));
    EXPECT_EQ(values(*after.get()), (std::vector<float>{3, 6}));
  }
}

}  // namespace
}  // namespace burn::session
