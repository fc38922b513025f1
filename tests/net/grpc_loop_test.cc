#include "net/transport/grpc_loop.h"

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>
#include <gtest/gtest.h>

#include "net/transport/grpc_bytes.h"
#include "net/transport/pump_lock.h"

namespace burn::net {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<GrpcLoop> make_loop() {
  EXPECT_TRUE(keep_grpc_running().ok());
  return std::make_unique<GrpcLoop>(std::make_unique<grpc::CompletionQueue>());
}

// Says where its reaction ran.
struct Operation {
  explicit Operation(GrpcTag::Where where) : op(this, &Operation::react, where) {}
  void end_at_once(GrpcLoop& loop) { alarm.Set(loop.queue(), std::chrono::system_clock::time_point{}, op.hand_over()); }
  void react(bool /*ok*/) { ran_on.set_value(std::this_thread::get_id()); }
  void ended() {}

  std::promise<std::thread::id> ran_on;
  GrpcOp<Operation> op;
  grpc::Alarm alarm;
};

TEST(GrpcLoop, ReactsOnItsThread) {
  const auto loop = make_loop();
  Operation operation(GrpcTag::Where::anywhere);
  operation.end_at_once(*loop);
  EXPECT_NE(operation.ran_on.get_future().get(), std::this_thread::get_id());
}

TEST(GrpcLoop, ReactsWhereItWasStartedToWhatEndsAtOnceAndMayRunAnywhere) {
  const auto loop = make_loop();
  Operation operation(GrpcTag::Where::anywhere);
  loop->start([&] {
    loop->start([&] { operation.end_at_once(*loop); });  // the outer one is in charge
  });
  EXPECT_EQ(operation.ran_on.get_future().get(), std::this_thread::get_id());
}

TEST(GrpcLoop, KeepsOtherReactionsOnItsThread) {
  const auto loop = make_loop();
  Operation operation(GrpcTag::Where::on_loop);
  loop->start([&] { operation.end_at_once(*loop); });
  EXPECT_NE(operation.ran_on.get_future().get(), std::this_thread::get_id());
}

TEST(GrpcLoop, LeavesWhatOthersStartedToItsThread) {
  const auto loop = make_loop();
  for (int i = 0; i < 100; ++i) {
    Operation operation(GrpcTag::Where::anywhere);
    operation.end_at_once(*loop);
    loop->start([] {});
    EXPECT_NE(operation.ran_on.get_future().get(), std::this_thread::get_id());
  }
}

TEST(GrpcLoop, HandsOnWhatIsThrownWhereItStarts) {
  const auto loop = make_loop();
  Operation first(GrpcTag::Where::anywhere), second(GrpcTag::Where::anywhere);
  const auto fail = [&] {
    first.end_at_once(*loop);
    throw std::bad_alloc{};
  };
  EXPECT_THROW(loop->start(fail), std::bad_alloc);
  EXPECT_EQ(first.ran_on.get_future().get(), std::this_thread::get_id());
  loop->start([&] { second.end_at_once(*loop); });
  EXPECT_EQ(second.ran_on.get_future().get(), std::this_thread::get_id());
}

TEST(GrpcLoop, WaitsForItsUsersAndForWhatTheyStarted) {
  const auto loop = make_loop();
  auto use = std::make_unique<GrpcLoop::Use>(*loop);
  auto stopped = std::async(std::launch::async, [&] { loop->stop(); });
  EXPECT_EQ(stopped.wait_for(50ms), std::future_status::timeout);
  Operation operation(GrpcTag::Where::on_loop);
  operation.alarm.Set(loop->queue(), std::chrono::system_clock::now() + 1h, operation.op.hand_over());
  use.reset();
  EXPECT_EQ(stopped.wait_for(50ms), std::future_status::timeout);
  operation.alarm.Cancel();
  operation.ran_on.get_future().wait();
  stopped.wait();
}

TEST(PumpLock, PumpsAtOnceWhenTheLockIsFree) {
  int pumped = 0;
  PumpLock lock([&] { ++pumped; });
  lock.pump();
  EXPECT_EQ(pumped, 1);
}

TEST(PumpLock, LetsItsHolderPumpForThreadsThatCameMeanwhile) {
  std::optional<std::thread::id> pumped_on;
  PumpLock lock([&] { pumped_on = std::this_thread::get_id(); });
  lock.lock();
  std::thread([&] { lock.pump(); }).join();
  EXPECT_FALSE(pumped_on);
  lock.unlock();
  EXPECT_EQ(pumped_on, std::this_thread::get_id());
}

TEST(PumpLock, LosesNoPumpAmongManyThreads) {
  int asked = 0, seen = 0;
  std::mutex mutex;  // over `asked`
  PumpLock lock([&] {
    const std::lock_guard guard(mutex);
    seen = asked;
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        {
          const std::lock_guard guard(mutex);
          ++asked;
        }
        lock.pump();
        if (i % 3 == 0) const std::lock_guard guard(lock);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(seen, asked);
}

}  // namespace
}  // namespace burn::net
