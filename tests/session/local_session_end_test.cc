// The order of a session's calls, its progress and its end.
#include <bit>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "session/local_session.h"
#include "tests/session/session_test.h"

namespace burn::session {
namespace {

// --- order, progress and the end -------------------------------------------------------------------------------------

TEST_F(LocalSessionTest, CallersWaitWhileTooMuchIsQueued) {
  reopen({.in_flight = 4});
  Gate gate;
  device_->on_run = [&](const ir::Program&) {
    gate.pass();
    return Status{};
  };
  define(1, add_program({1}));
  write(1, {1}, {1});
  EXPECT_TRUE(sync().ok());
  std::atomic<int> accepted = 0;
  std::thread caller{[&] {
    for (std::uint64_t i = 0; i < 20; ++i) {
      run({.program = 1, .inputs = {1, 1}, .first_output = 10 + i});
      ++accepted;
    }
  }};
  gate.await(1);
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  EXPECT_LE(accepted, 5);  // one runs, four wait
  gate.open();
  caller.join();
  EXPECT_TRUE(read(29).ok());
}

TEST_F(LocalSessionTest, CallersWaitWhileManyBytesAreQueued) {
  reopen({.waiting_bytes = std::uint64_t{64} << 20});
  Gate gate;
  session_->sync([&](Status) { gate.pass(); });
  gate.await(1);
  const std::vector<float> sixteen_mebibytes(std::size_t{4} << 20);
  std::atomic<int> accepted = 0;
  std::thread caller{[&] {
    for (proto::TensorId id = 1; id <= 8; ++id) {
      write(id, {std::int64_t{4} << 20}, sixteen_mebibytes);
      ++accepted;
    }
  }};
  std::this_thread::sleep_for(std::chrono::milliseconds{100});
  EXPECT_LE(accepted, 4);                   // of 64 MiB
  EXPECT_TRUE(session_->release({}).ok());  // what has no bytes does not wait for them
  gate.open();
  caller.join();
  EXPECT_TRUE(read(8).ok());
}

TEST_F(LocalSessionTest, ATensorLargerThanTheQueueWaitsOnlyForItsTurn) {
  reopen({.waiting_bytes = std::uint64_t{64} << 20});
  const std::vector<float> eighty_mebibytes(std::size_t{20} << 20);
  for (proto::TensorId id = 1; id <= 3; ++id) write(id, {std::int64_t{20} << 20}, eighty_mebibytes);
  EXPECT_TRUE(read(3).ok());
}

TEST_F(LocalSessionTest, IsInGoodHealthUntilItIsClosed) {
  EXPECT_TRUE(session_->health().ok());
  session_->begin_close();
  EXPECT_FAILS(session_->health(), cancelled, "closed");
}

TEST_F(LocalSessionTest, CallbacksMayMakeMoreCallsThanThereIsRoomFor) {
  reopen({.in_flight = 2});
  std::promise<void> done;
  session_->sync([&](Status) {
    for (proto::TensorId id = 1; id <= 10; ++id) EXPECT_TRUE(session_->write(id, tensor({1}, {1})).ok());
    session_->sync([&](Status) { done.set_value(); });
  });
  done.get_future().get();
}

TEST_F(LocalSessionTest, ReportsProgressInBatches) {
  std::mutex mutex;
  std::vector<std::uint64_t> reports;
  session_->on_progress([&](std::uint64_t executed) {
    const std::lock_guard lock{mutex};
    reports.push_back(executed);
  });
  Gate gate;
  session_->sync([&](Status) { gate.pass(); });
  gate.await(1);
  for (proto::TensorId id = 1; id <= 99; ++id) write(id, {1}, {1});
  gate.open();
  while (true) {
    const std::lock_guard lock{mutex};
    if (!reports.empty() && reports.back() == 100) break;
  }
  EXPECT_EQ(reports, (std::vector<std::uint64_t>{32, 64, 96, 100}));
}

TEST_F(LocalSessionTest, ClosingCancelsWhatIsLeft) {
  Gate gate;
  device_->on_run = [&](const ir::Program&) {
    gate.pass();
    return Status{};
  };
  define(1, add_program({1}));
  write(1, {1}, {1});
  run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  run({.program = 1, .inputs = {1, 1}, .first_output = 3});
  std::promise<Status> a, b;
  session_->read(2, [&](auto tensor) { a.set_value(tensor.status()); });
  session_->sync([&](Status status) { b.set_value(std::move(status)); });
  gate.await(1);
  session_->begin_close();
  gate.open();
  session_->close();
  session_->close();
  EXPECT_FAILS(a.get_future().get(), cancelled, "closed");
  EXPECT_FAILS(b.get_future().get(), cancelled, "closed");
  EXPECT_EQ(device_->runs, 1);  // the one it was at
  EXPECT_EQ(device_->in_use, 0u);
  EXPECT_FAILS(session_->run({}), cancelled, "closed");
  EXPECT_FAILS(read(2).status(), cancelled, "closed");
  EXPECT_FAILS(sync(), cancelled, "closed");
}

TEST_F(LocalSessionTest, PausesAfterTheCallItIsAtUntilTheSameThreadMakesAnother) {
  Gate gate;
  device_->on_run = [&](const ir::Program&) {
    gate.pass();
    return Status{};
  };
  define(1, add_program({1}));
  write(1, {1}, {1});
  run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  run({.program = 1, .inputs = {1, 1}, .first_output = 3});
  gate.await(1);
  std::thread opening{[&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    gate.open();
  }};
  session_->pause();
  opening.join();
  auto other = std::async(std::launch::async, [&] { return read(2); });
  EXPECT_EQ(other.wait_for(std::chrono::milliseconds{20}), std::future_status::timeout);
  EXPECT_EQ(device_->runs, 1);
  EXPECT_TRUE(read(3).ok());
  EXPECT_EQ(device_->runs, 2);
  EXPECT_TRUE(other.get().ok());
}

TEST_F(LocalSessionTest, PausedItGoesOnForOtherThreadsAfterAWhile) {
  write(1, {1}, {1});
  session_->pause();
  EXPECT_TRUE(std::async(std::launch::async, [&] { return read(1); }).get().ok());
}

TEST_F(LocalSessionTest, StoppedItAnswersOtherThreadsLate) {
  write(1, {1}, {1});
  session_->begin_stop();
  session_->stop();
  EXPECT_FAILS(session_->run({}), cancelled, "closed");
  EXPECT_FAILS(read(1).status(), cancelled, "closed");
  std::promise<Status> promise;
  std::thread{[&] {
    EXPECT_TRUE(session_->health().ok());
    EXPECT_TRUE(session_->run({}).ok());
    session_->sync([&](Status status) { promise.set_value(std::move(status)); });
  }}.join();
  auto answer = promise.get_future();
  EXPECT_EQ(answer.wait_for(std::chrono::milliseconds{50}), std::future_status::timeout);
  session_->close();
  EXPECT_FAILS(answer.get(), cancelled, "closed");
  EXPECT_EQ(device_->in_use, 0u);
}

TEST_F(LocalSessionTest, ClosesAlsoWhenItIsPaused) {
  session_->pause();
  session_ = nullptr;
  EXPECT_EQ(device_->in_use, 0u);
}

TEST_F(LocalSessionTest, ClosingWakesBlockedCallers) {
  reopen({.in_flight = 1});
  Gate gate;
  session_->sync([&](Status) { gate.pass(); });
  gate.await(1);
  write(1, {1}, {1});
  std::thread caller{[&] { EXPECT_FAILS(session_->write(2, tensor({1}, {1})), cancelled, "closed"); }};
  std::this_thread::sleep_for(std::chrono::milliseconds{10});
  session_->begin_close();
  caller.join();
  gate.open();
}

TEST_F(LocalSessionTest, AReadOutlivesTheSession) {
  write(1, {2}, {1, 2});
  const auto kept = read(1);
  session_ = nullptr;
  EXPECT_EQ(values(*kept), (std::vector<float>{1, 2}));
}

TEST_F(LocalSessionTest, PlansAreSharedAndCounted) {
  const auto other = make_local_session(worker_);
  define(1, add_program({2}));
  EXPECT_TRUE(sync().ok());
  EXPECT_TRUE(other->define(7, add_program({2}), {}).ok());
  EXPECT_TRUE(read(*other, 1).status().code() == StatusCode::not_found);  // waits for the definition
  const auto stats = worker_->stats();
  EXPECT_EQ(stats.plans, 1u);
  EXPECT_EQ(stats.plan_hits, 1u);
  EXPECT_EQ(stats.sessions, 2u);
  EXPECT_EQ(device_->compiled, 1);
}

TEST_F(LocalSessionTest, ManySessionsWorkSideBySide) {
  std::vector<std::thread> clients;
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&, c] {
      const auto session = make_local_session(worker_);
      EXPECT_TRUE(session->define(1, scale_program({64}, true), {}).ok());
      EXPECT_TRUE(session->write(1, tensor({64}, std::vector<float>(64, static_cast<float>(c)))).ok());
      for (std::uint64_t i = 1; i <= 200; ++i) {
        EXPECT_TRUE(session
                        ->run({.program = 1,
                               .inputs = {i},
                               .first_output = i + 1,
                               .scalars = {std::bit_cast<std::uint64_t>(1.0)}})
                        .ok());
      }
      EXPECT_EQ(values(*read(*session, 201)), std::vector<float>(64, static_cast<float>(c)));
    });
  }
  for (auto& client : clients) client.join();
  EXPECT_EQ(device_->in_use, 0u);
  EXPECT_EQ(device_->shared_donations, 0);
  EXPECT_EQ(worker_->stats().runs, 1600u);
}

}  // namespace
}  // namespace burn::session
