// A worker of little memory, and clients that ask for more than there is, or for what would never end: they are told
// so, the worker and its other sessions live, and what was taken comes back.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <future>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "net/remote/remote_session.h"
#include "tests/server/process.h"
#include "tests/session/expect_fails.h"
#include "tests/session/programs.h"
#include "tests/system/resident.h"

namespace burn {
namespace {

using session::f32;
using session::ProgramPtr;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kReservesAddresses = true;  // more than any limit that this test would set
#else
constexpr bool kReservesAddresses = false;
#endif

// burn-server with an address space of so many bytes; 0: any.
class LimitedWorker {
 public:
  explicit LimitedWorker(std::uint64_t address_space = 0, const std::string& flags = "")
      : process_(
            {"/bin/sh", "-c",
             fmt::format("{} exec {} --device cpu --ws 127.0.0.1:0 --grpc off --log-level warning {}",
                         address_space ? fmt::format("ulimit -v {};", address_space >> 10) : "", BURN_SERVER, flags)}) {
    const std::string line = process_.read_line(), said = "listening ";
    BURN_CHECK(line.starts_with(said), "the worker does not start");
    url_ = line.substr(said.size());
  }

  std::unique_ptr<proto::Session> connect() const { return value_or_throw(net::connect(url_)); }
  server::Process& process() { return process_; }

 private:
  server::Process process_;
  std::string url_;
};

Status sync(proto::Session& session) {
  std::promise<Status> done;
  session.sync([&](Status status) { done.set_value(std::move(status)); });
  return done.get_future().get();
}
Result<proto::HostTensor> read(proto::Session& session, proto::TensorId id) {
  std::promise<Result<proto::HostTensor>> done;
  session.read(id, [&](auto tensor) { done.set_value(std::move(tensor)); });
  return done.get_future().get();
}
void expect_works(proto::Session& session, proto::TensorId id = 1'000'000) {
  EXPECT_TRUE(session.define(1000, session::add_program({2}), {}).ok());
  EXPECT_TRUE(session.write(id, session::tensor({2}, {1, 2})).ok());
  EXPECT_TRUE(session.run({.program = 1000, .inputs = {id, id}, .first_output = id + 1}).ok());
  const auto sum = read(session, id + 1);
  ASSERT_TRUE(sum.ok()) << sum.status().to_string();
  EXPECT_EQ(session::values(*sum), (std::vector<float>{2, 4}));
}

// The sum of 2^44 numbers, which are 4096.
ProgramPtr endless() {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input(f32({1, 4096}));
  const auto wide = value_or_throw(builder.add(ir::Expand{{std::int64_t{1} << 32, 4096}}, {&x, 1}));
  const auto sum = value_or_throw(builder.add(ir::Reduce{ir::ReduceFn::sum, {0, 1}}, {&wide, 1}));
  return std::make_shared<const ir::Program>(builder.finish({sum}));
}
void start_endless(proto::Session& session) {
  EXPECT_TRUE(session.define(1, endless(), {}).ok());
  EXPECT_TRUE(session.write(1, session::tensor({1, 4096}, std::vector<float>(4096, 1))).ok());
  EXPECT_TRUE(session.run({.program = 1, .inputs = {1}, .first_output = 2}).ok());
}

// Processor time of a process so far.
double processor_seconds(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string word;
  double user = 0, system = 0;
  for (int i = 1; i <= 13; ++i) file >> word;
  file >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

TEST(LimitedMemory, UploadsBeyondItAreRefusedAndTheWorkerLives) {
  if (kReservesAddresses) GTEST_SKIP() << "sanitizers want an address space of their own";
  LimitedWorker worker(2048 * kMiB);  // half of it may be used, and tensors may use three quarters of that half
  auto other = worker.connect();
  expect_works(*other);
  const double before = test::resident_mib(worker.process().id());
  {
    const auto greedy = worker.connect();
    constexpr std::int64_t kCount = 16 << 20;  // 64 MiB
    const std::vector<float> numbers(kCount, 1);
    const auto bytes = SharedBytes::own(numbers);
    for (proto::TensorId id = 1; id <= 24; ++id) EXPECT_TRUE(greedy->write(id, {f32({kCount}), bytes}).ok());
    EXPECT_FAILS(sync(*greedy), resource_exhausted, "");
    EXPECT_TRUE(read(*greedy, 1).ok());
    EXPECT_FAILS(read(*greedy, 24).status(), resource_exhausted, "");
    expect_works(*other, 2'000'000);  // little is left, and little is wanted
    EXPECT_TRUE(greedy->release({1, 2, 3, 4}).ok());
    (void)sync(*greedy);
    EXPECT_TRUE(greedy->write(100, {f32({kCount}), bytes}).ok());
    EXPECT_TRUE(read(*greedy, 100).ok());
    // Results that exceed the memory limit are refused like uploads.
    EXPECT_TRUE(greedy->define(1, session::add_program({kCount}), {}).ok());
    for (proto::TensorId id = 200; id < 220; ++id)
      EXPECT_TRUE(greedy->run({.program = 1, .inputs = {100, 100}, .first_output = id}).ok());
    EXPECT_FAILS(read(*greedy, 219).status(), resource_exhausted, "");
  }
  expect_works(*other, 3'000'000);
  other.reset();
  const auto until = Clock::now() + seconds{20};
  while (test::resident_mib(worker.process().id()) > before + 200 && Clock::now() < until)
    std::this_thread::sleep_for(milliseconds{100});
  EXPECT_LT(test::resident_mib(worker.process().id()), before + 200);
}

// The sum of products of a column and a row of so many numbers, all of which are there at a time.
ProgramPtr wide(std::int64_t side) {
  ir::ProgramBuilder builder;
  const ir::Ref operands[] = {builder.add_input(f32({side, 1})), builder.add_input(f32({1, side}))};
  const auto products = value_or_throw(builder.add(ir::MatMul{}, operands));
  const auto sum = value_or_throw(builder.add(ir::Reduce{ir::ReduceFn::sum, {0, 1}}, {&products, 1}));
  return std::make_shared<const ir::Program>(builder.finish({sum}));
}

TEST(LimitedMemory, WhatARunTakesIsItsSessionsAndNoOtherSessionIsRefusedForIt) {
  if (kReservesAddresses) GTEST_SKIP() << "sanitizers want an address space of their own";
  LimitedWorker worker(2048 * kMiB, "--session-memory 256M");
  const auto greedy = worker.connect(), other = worker.connect();
  constexpr std::int64_t kSide = 12'288, kSmallSide = 4096;  // 576 MiB, 64 MiB
  std::atomic<bool> is_over = false;
  std::thread asks([&] {
    EXPECT_TRUE(greedy->define(1, wide(kSide), {}).ok());
    EXPECT_TRUE(greedy->write(1, session::tensor({kSide, 1}, std::vector<float>(kSide, 1))).ok());
    EXPECT_TRUE(greedy->write(2, session::tensor({1, kSide}, std::vector<float>(kSide, 1))).ok());
    for (proto::TensorId id = 3; !is_over; ++id) {
      EXPECT_TRUE(greedy->run({.program = 1, .inputs = {1, 2}, .first_output = id}).ok());
      const auto sum = read(*greedy, id).status();
      EXPECT_FAILS(sum, resource_exhausted, "a run of 2 ops takes 603979780 bytes beside its inputs");
      EXPECT_FAILS(sum, resource_exhausted, "exceed what a session may hold, 268");
      EXPECT_TRUE(greedy->release({id}).ok());
    }
  });
  // Each time 200 MiB of the 256 that this session may have.
  constexpr std::int64_t kCount = 34 << 20;
  const auto bytes = SharedBytes::own(std::vector<float>(kCount, 1));
  EXPECT_TRUE(other->define(1, wide(kSmallSide), {}).ok());
  EXPECT_TRUE(other->write(1, session::tensor({kSmallSide, 1}, std::vector<float>(kSmallSide, 1))).ok());
  EXPECT_TRUE(other->write(2, session::tensor({1, kSmallSide}, std::vector<float>(kSmallSide, 1))).ok());
  for (proto::TensorId id = 100; id < 120; id += 2) {
    EXPECT_TRUE(other->write(id, {f32({kCount}), bytes}).ok());
    EXPECT_TRUE(other->run({.program = 1, .inputs = {1, 2}, .first_output = id + 1}).ok());
    const auto sum = read(*other, id + 1);
    ASSERT_TRUE(sum.ok()) << sum.status().to_string();
    EXPECT_TRUE(other->release({id, id + 1}).ok());
  }
  is_over = true;
  asks.join();
}

// 200 programs of ever new shapes, each with large products, a convolution and a few dozen plain ops.
void change_shapes(proto::Session& session) {
  for (std::int64_t k = 0; k < 200; ++k) {
    const std::int64_t side = 256 + 4 * k, height = 16 + k % 64;
    ir::ProgramBuilder builder;
    const auto add = [&](const ir::Op& op, std::initializer_list<ir::Ref> operands) {
      return value_or_throw(builder.add(op, std::span(operands.begin(), operands.size())));
    };
    const auto x = builder.add_input(f32({1, side}));
    const auto image = builder.add_input(f32({1, 1, height, 40}));
    auto y = add(ir::Expand{{side, side}}, {x});
    for (int i = 0; i < 3; ++i) y = add(ir::MatMul{}, {add(ir::Pointwise{ir::PointwiseFn::exp}, {y}), y});
    auto z = add(ir::Expand{{4, 8, height, 40}}, {image});
    const auto weight = add(ir::Expand{{8, 8, 3, 3}}, {add(ir::Reduce{ir::ReduceFn::sum, {0, 1, 2, 3}}, {image})});
    const ir::Conv conv{.stride = {1, 1}, .pad_begin = {1, 1}, .pad_end = {1, 1}, .dilation = {1, 1}, .groups = 1};
    for (int i = 0; i < 3; ++i) z = add(conv, {z, weight});
    const auto sum = add(ir::Reduce{ir::ReduceFn::sum, {0, 1}}, {y});
    const auto sums = add(ir::Reduce{ir::ReduceFn::sum, {0, 1, 2, 3}}, {z});
    const auto id = static_cast<proto::TensorId>(10 * k + 1);
    const auto program = std::make_shared<const ir::Program>(builder.finish({sum, sums, y}));
    EXPECT_TRUE(session.define(id, program, {}).ok());
    EXPECT_TRUE(
        session.write(id, session::tensor({1, side}, std::vector<float>(static_cast<std::size_t>(side), 0))).ok());
    const auto pixels = static_cast<std::size_t>(height * 40);
    EXPECT_TRUE(session.write(id + 1, session::tensor({1, 1, height, 40}, std::vector<float>(pixels, 0))).ok());
    EXPECT_TRUE(session.run({.program = id, .inputs = {id, id + 1}, .first_output = id + 2}).ok());
    ASSERT_TRUE(read(session, id + 2).ok());
  }
}

TEST(IdleMemory, GoesBackAfterShapesThatChanged) {
  if (kReservesAddresses) GTEST_SKIP() << "sanitizers keep what is freed";
  constexpr double kIdleMiB = 64, kSlackMiB = 40;  // what may be kept; libraries' own memory, threads
  LimitedWorker worker(0, "--idle-memory 64M");
  const double at_first = test::resident_mib(worker.process().id());
  {
    const auto session = worker.connect();
    change_shapes(*session);
    EXPECT_TRUE(sync(*session).ok());
  }
  const double busy = test::resident_mib(worker.process().id());
  const double allowed = at_first + kIdleMiB + kSlackMiB;
  const auto until = Clock::now() + seconds{20};
  double now = busy;
  while (now > allowed && Clock::now() < until) {
    std::this_thread::sleep_for(milliseconds{100});
    now = test::resident_mib(worker.process().id());
  }
  std::printf("at first %.0f MiB, after work %.0f, idle %.0f\n", at_first, busy, now);
  EXPECT_GT(busy, allowed) << "or there is nothing to see";
  EXPECT_LT(now, allowed);
}

TEST(EndlessRun, ItsClientLeavesAndTheWorkerIsIdle) {
  LimitedWorker worker;
  const auto other = worker.connect();
  {
    const auto hog = worker.connect();
    start_endless(*hog);
    std::this_thread::sleep_for(milliseconds{300});
    expect_works(*other);
  }
  // The work ends within seconds, however busy this machine is: then no more processor time is used.
  const auto until = Clock::now() + seconds{30};
  double used = 1;
  while (used > 0.1 && Clock::now() < until) {
    const double before = processor_seconds(worker.process().id());
    std::this_thread::sleep_for(milliseconds{500});
    used = processor_seconds(worker.process().id()) - before;
  }
  EXPECT_LT(used, 0.1);
  expect_works(*other, 2'000'000);
}

TEST(EndlessRun, TheWorkerEndsOnASignalAllTheSame) {
  LimitedWorker worker;
  const auto hog = worker.connect();
  start_endless(*hog);
  std::this_thread::sleep_for(milliseconds{300});
  const auto begin = Clock::now();
  worker.process().send(SIGTERM);
  EXPECT_EQ(worker.process().wait(), 0);
  EXPECT_LT(Clock::now() - begin, seconds{40});  // the time to drain, and some
}

TEST(EndlessRun, OfAbsurdSizeIsRefusedAtOnce) {
  LimitedWorker worker;
  const auto session = worker.connect();
  ir::ProgramBuilder builder;
  const auto x = builder.add_input(f32({1}));
  const auto wide = value_or_throw(builder.add(ir::Expand{{std::int64_t{1} << 50}}, {&x, 1}));
  const auto sum = value_or_throw(builder.add(ir::Reduce{ir::ReduceFn::sum, {0}}, {&wide, 1}));
  EXPECT_TRUE(session->define(1, std::make_shared<const ir::Program>(builder.finish({sum})), {}).ok());
  EXPECT_TRUE(session->write(1, session::tensor({1}, {1})).ok());
  EXPECT_TRUE(session->run({.program = 1, .inputs = {1}, .first_output = 2}).ok());
  EXPECT_FAILS(read(*session, 2).status(), resource_exhausted, "a run would compute about 1.1e+15 numbers");
}

}  // namespace
}  // namespace burn
