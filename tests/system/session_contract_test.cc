// What every implementation of a session promises (proto/session.h): in this process and over each transport, on a
// device that is done when a call returns and on one that is not; through a router of one worker; and on a router's
// fleet of three, where a session lives on one of them ("fleet") or, since it has had a batch, on all ("wide").
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <limits>
#include <map>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/registry/registry.h"
#include "net/remote/remote_session.h"
#include "proto/session_registry.h"
#include "router/router.h"
#include "server/server.h"
#include "session/local_session.h"
#include "tests/session/answers.h"
#include "tests/session/expect_fails.h"
#include "tests/session/programs.h"
#include "tests/system/on_every_transport.h"

namespace burn {
namespace {

using proto::HostTensor;
using proto::ProgramId;
using proto::TensorId;
using session::add_program;
using session::f32;
using session::ProgramPtr;
using session::scale_program;
using session::tensor;
using session::values;
using testing::AnyOf;
using testing::HasSubstr;

// Two results: in0[in1], and in0 + in0.
ProgramPtr gather_and_add_program(std::int64_t size, std::int64_t count) {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input(f32({size}));
  const auto index = builder.add_input({ir::DType::i64, ir::Shape{count}});
  const ir::Ref picked[] = {x, index}, both[] = {x, x};
  const auto a = value_or_throw(builder.add(ir::Gather{0}, picked, {"model.cc", 7}));
  const auto b = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::add}, both, {"model.cc", 8}));
  return std::make_shared<const ir::Program>(builder.finish({a, b}));
}

HostTensor index_tensor(std::vector<std::int64_t> numbers) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  return {{ir::DType::i64, ir::Shape{count}}, SharedBytes::own(std::move(numbers))};
}

// A router of these workers.
router::RouterOptions router_of(std::vector<std::string> workers) {
  const auto listens = test::on_every_transport();
  router::RouterOptions options;
  options.service.ws = listens.ws;
  options.service.grpc = listens.grpc;
  options.service.unix_path = listens.unix_path;
  options.service.grpc_unix_path = listens.grpc_unix_path;
  options.workers = std::move(workers);
  return options;
}

// By "scheme", "scheme device", "router scheme", "fleet" or "wide". One server per device for all tests: each test has
// a session of its own.
const std::string& url_of(const std::string& name) {
  static const server::Server cpu(test::on_every_transport()), delayed({.device = "delayed", .ws = "127.0.0.1:0"});
  static const std::array<server::Server, 3> three{server::Server({.ws = "127.0.0.1:0"}),
                                                   server::Server({.ws = "127.0.0.1:0"}),
                                                   server::Server({.ws = "127.0.0.1:0"})};
  static const router::Router router(router_of({cpu.url()})),
      fleet(router_of({three[0].url(), three[1].url(), three[2].url()}));
  static const auto& urls = *new std::map<std::string, std::string>([] {
    std::map<std::string, std::string> all{{"cpu", "cpu"}, {"delayed", "delayed"}, {"ws delayed", delayed.url()}};
    for (const auto& url : cpu.urls()) all[url.substr(0, url.find(':'))] = url;
    all["fleet"] = all["wide"] = fleet.url();
    for (const auto& url : router.urls()) all["router " + url.substr(0, url.find(':'))] = url;
    return all;
  }());
  return urls.at(name);
}

class SessionContract : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { session_ = open(); }

  std::unique_ptr<proto::Session> open() const {
    const auto& url = url_of(GetParam());
    if (url == "cpu") return value_or_throw(proto::open_session(url));
    if (url == "delayed") {
      static const auto worker = session::Worker::create(value_or_throw(backends::open_backend(url)));
      return session::make_local_session(worker);
    }
    auto session = value_or_throw(net::connect(url));
    if (std::string_view(GetParam()) == "wide") {
      constexpr TensorId kBatch = TensorId{1} << 40;
      EXPECT_TRUE(session->write(kBatch, tensor({6}, {1, 2, 3, 4, 5, 6}), {.batch_axis = 0}).ok());
      EXPECT_TRUE(session->release({kBatch}).ok());
      EXPECT_TRUE(session::sync(*session).ok());
    }
    return session;
  }

  Result<HostTensor> read(TensorId id) { return session::read(*session_, id); }
  Status sync() { return session::sync(*session_); }
  void define(ProgramId id, ProgramPtr program, std::vector<ProgramId> forget = {}) {
    EXPECT_TRUE(session_->define(id, std::move(program), std::move(forget)).ok());
  }
  void run(proto::Run run) { EXPECT_TRUE(session_->run(std::move(run)).ok()); }
  void write(TensorId id, HostTensor numbers) { EXPECT_TRUE(session_->write(id, std::move(numbers)).ok()); }
  void release(std::vector<TensorId> ids) { EXPECT_TRUE(session_->release(std::move(ids)).ok()); }
  Result<proto::SessionStats> stats() { return session::stats(*session_); }
  std::vector<float> numbers(TensorId id) {
    const auto result = read(id);
    EXPECT_TRUE(result.ok()) << result.status().to_string();
    return result.ok() ? values(*result) : std::vector<float>{};
  }

  std::unique_ptr<proto::Session> session_;
};

INSTANTIATE_TEST_SUITE_P(, SessionContract,
                         testing::Values("cpu", "ws", "grpc", "unix", "grpc+unix", "delayed", "ws delayed", "router ws",
                                         "router grpc", "router unix", "fleet", "wide"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace_if(
                               name, [](char c) { return c == '+' || c == ' '; }, '_');
                           return name;
                         });

TEST_P(SessionContract, InfoSaysWhatThePeerIsAndBears) {
  const auto& info = session_->info();
  EXPECT_THAT(info.server, AnyOf(HasSubstr("burn-server "), HasSubstr("burn-router ")));
  EXPECT_FALSE(info.session.empty());
  EXPECT_FALSE(info.devices.empty());
  EXPECT_GT(info.max_tensor_bytes, 0u);
  EXPECT_GT(info.max_in_flight, 0u);
  EXPECT_GT(info.bulk_credit, 0u);
  EXPECT_GE(info.max_programs, 4096u);
  EXPECT_GT(info.max_program_entries, 0u);
}

TEST_P(SessionContract, TraitsSayWhereItIs) {
  (void)session_->info();
  const auto traits = session_->traits();
  const std::string host = GetParam();
  const bool is_here = host == "cpu" || host == "delayed";
  EXPECT_EQ(traits.is_remote, !is_here);
  EXPECT_FALSE(traits.spares_cores) << "these compute on the host";
  ASSERT_TRUE(traits.round_trip.has_value());
  EXPECT_EQ(traits.round_trip.value_or(std::chrono::nanoseconds{1}).count() == 0, is_here);
  if (is_here) EXPECT_FALSE(traits.shares_memory);
}

TEST_P(SessionContract, ARunNamesItsResultsFromTheFirstOutputOn) {
  define(1, gather_and_add_program(3, 2));
  write(1, tensor({3}, {10, 20, 30}));
  write(2, index_tensor({2, 0}));
  run({.program = 1, .inputs = {1, 2}, .first_output = 7});
  EXPECT_EQ(numbers(7), (std::vector<float>{30, 10}));
  EXPECT_EQ(numbers(8), (std::vector<float>{20, 40, 60}));
  EXPECT_TRUE(sync().ok());
}

// --- ids -----------------------------------------------------------------------------------------------------------

TEST_P(SessionContract, AProgramTakesTheIdOfAnother) {
  write(1, tensor({1}, {3}));
  define(5, add_program({1}));
  run({.program = 5, .inputs = {1, 1}, .first_output = 2});
  define(5, scale_program({1}));
  run({.program = 5, .inputs = {1}, .first_output = 3, .scalars = {std::bit_cast<std::uint64_t>(10.0)}});
  EXPECT_EQ(numbers(2), (std::vector<float>{6}));
  EXPECT_EQ(numbers(3), (std::vector<float>{30}));
  EXPECT_TRUE(sync().ok());
}

TEST_P(SessionContract, ForgottenProgramsAreNotKnownAnyMore) {
  write(1, tensor({1}, {3}));
  define(5, add_program({1}));
  define(6, scale_program({1}), {5});
  run({.program = 5, .inputs = {1, 1}, .first_output = 2});
  EXPECT_FAILS(sync(), not_found, "program 5 is not known");
  run({.program = 6, .inputs = {1}, .first_output = 3, .scalars = {std::bit_cast<std::uint64_t>(2.0)}});
  EXPECT_EQ(numbers(3), (std::vector<float>{6}));
}

TEST_P(SessionContract, ProgramsPastTheFourThousandAndNinetySixthAreKnownToo) {
  constexpr int kPrograms = 4'200;
  write(1, tensor({1}, {1}));
  const auto program = [](int k) {  // x + k, with k in the program
    ir::ProgramBuilder builder;
    const auto x = builder.add_input(f32({1}));
    const auto number = value_or_throw(builder.add(ir::Iota{ir::DType::i64, k + 1}, {}));
    const auto as_float = value_or_throw(builder.add(ir::Cast{ir::DType::f32}, {&number, 1}));
    const auto largest = value_or_throw(builder.add(ir::Reduce{ir::ReduceFn::max, {0}}, {&as_float, 1}));
    const ir::Ref both[] = {x, largest};
    const auto sum = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::add}, both));
    return std::make_shared<const ir::Program>(builder.finish({sum}));
  };
  for (int k = 0; k < kPrograms; ++k) {
    define(static_cast<ProgramId>(k) + 1, program(k));
    run({.program = static_cast<ProgramId>(k) + 1, .inputs = {1}, .first_output = static_cast<TensorId>(k) + 2});
  }
  EXPECT_TRUE(sync().ok());
  for (const int k : {0, 1, 4'094, 4'095, 4'096, 4'097, kPrograms - 1}) {
    EXPECT_EQ(numbers(static_cast<TensorId>(k) + 2), (std::vector<float>{1.0f + static_cast<float>(k)})) << k;
  }
}

TEST_P(SessionContract, ATensorsIdIsNeverReused) {
  write(1, tensor({1}, {3}));
  write(1, tensor({1}, {4}));
  EXPECT_FAILS(sync(), already_exists, "tensor 1");
  EXPECT_EQ(numbers(1), (std::vector<float>{3}));
}

TEST_P(SessionContract, DonatedInputsAreGoneAndSoIsWhatARunReleases) {
  define(1, add_program({1}, true, false));
  for (TensorId id = 1; id <= 3; ++id) write(id, tensor({1}, {static_cast<float>(id)}));
  run({.program = 1, .inputs = {1, 2}, .first_output = 9, .release = {3}});
  EXPECT_EQ(numbers(9), (std::vector<float>{3}));
  EXPECT_FAILS(read(1).status(), not_found, "tensor 1 is not known");
  EXPECT_EQ(numbers(2), (std::vector<float>{2}));
  EXPECT_FAILS(read(3).status(), not_found, "tensor 3 is not known");
}

// --- order ---------------------------------------------------------------------------------------------------------

TEST_P(SessionContract, CallsTakeEffectInTheOrderTheyAreMade) {
  define(1, add_program({1}, true, false));
  write(1, tensor({1}, {1}));
  write(2, tensor({1}, {0}));
  constexpr TensorId kSteps = 3'000;  // more than may be in flight
  constexpr TensorId kHalf = kSteps / 2;
  std::promise<Result<HostTensor>> middle;
  for (TensorId k = 0; k < kSteps; ++k) {
    if (k == kSteps / 2)
      session_->read(100 + k - 1, [&](Result<HostTensor> result) { middle.set_value(std::move(result)); });
    run({.program = 1, .inputs = {k == 0 ? 2 : 100 + k - 1, 1}, .first_output = 100 + k});
  }
  EXPECT_EQ(numbers(100 + kSteps - 1), (std::vector<float>{kSteps}));
  EXPECT_EQ(values(*middle.get_future().get()), (std::vector<float>{kHalf}));
  EXPECT_TRUE(sync().ok());
}

TEST_P(SessionContract, CallsComeFromAnyThreadAndEachThreadsKeepTheirOrder) {
  define(1, add_program({1}));
  write(1, tensor({1}, {1}));
  constexpr int kThreads = 4, kSteps = 300;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      const TensorId first = 1'000 * (static_cast<TensorId>(t) + 1);
      const proto::Burst burst{*session_};
      write(first, tensor({1}, {static_cast<float>(t)}));
      for (TensorId k = 0; k < kSteps; ++k)
        run({.program = 1, .inputs = {first + k, 1}, .first_output = first + k + 1});
    });
  }
  for (auto& thread : threads) thread.join();
  for (int t = 0; t < kThreads; ++t) {
    EXPECT_EQ(numbers(1'000 * (static_cast<TensorId>(t) + 1) + kSteps),
              (std::vector<float>{static_cast<float>(t + kSteps)}));
  }
}

TEST_P(SessionContract, LargeTensorsKeepTheirTurn) {
  constexpr std::int64_t kCount = 3 << 20;  // 12 MiB: chunks and credit, where there are any
  std::vector<float> numbers(kCount);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 1000);
  const auto expected = numbers;
  define(1, add_program({kCount}));
  write(1, tensor({kCount}, std::move(numbers)));
  run({.program = 1, .inputs = {1, 1}, .first_output = 2, .release = {1}});
  const auto sum = read(2);
  ASSERT_TRUE(sum.ok()) << sum.status().to_string();
  const auto got = values(*sum);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], 2 * expected[i]) << i;
}

// --- beside the order ---------------------------------------------------------------------------------------------

TEST_P(SessionContract, StatsSayWhatTheSessionAndItsDeviceUse) {
  constexpr std::uint64_t kBytes = 1000 * sizeof(float);
  const auto before = stats();
  ASSERT_TRUE(before.ok()) << before.status().to_string();
  EXPECT_EQ(before->session.runs, 0u);
  EXPECT_EQ(before->session.memory_in_use, 0u);
  EXPECT_EQ(before->programs, 0u);
  define(1, add_program({1000}));
  write(1, tensor({1000}, std::vector<float>(1000, 1)));
  for (TensorId k = 0; k < 3; ++k) run({.program = 1, .inputs = {1, 1}, .first_output = 10 + k});
  EXPECT_TRUE(sync().ok());
  release({10, 11});
  EXPECT_TRUE(sync().ok());
  const auto after = stats();
  ASSERT_TRUE(after.ok()) << after.status().to_string();
  const auto &session = after->session, &device = after->device;
  EXPECT_EQ(session.memory_in_use, 2 * kBytes);
  EXPECT_GE(session.memory_peak, 4 * kBytes);
  EXPECT_GE(session.memory_reserved, session.memory_in_use);
  EXPECT_GT(session.memory_limit, session.memory_peak);
  EXPECT_EQ(session.runs, 3u);
  EXPECT_GT(session.busy_seconds, 0);
  EXPECT_GE(device.memory_in_use, 2 * kBytes);
  EXPECT_GE(device.memory_peak, device.memory_in_use);
  EXPECT_GE(device.memory_reserved, device.memory_in_use);
  EXPECT_GT(device.memory_limit, 0u);
  EXPECT_EQ(device.runs - before->device.runs, 3u);
  EXPECT_GE(device.busy_seconds, session.busy_seconds);
  EXPECT_EQ(after->programs, 1u);
  EXPECT_EQ(after->queued, 0u);
}

TEST_P(SessionContract, StatsOfAClosedSessionSayThatItIs) {
  session_->close();
  EXPECT_FALSE(stats().ok());
}

// --- failures ------------------------------------------------------------------------------------------------------

TEST_P(SessionContract, AStepThatFailsPoisonsWhatIsComputedFromItAndNothingElse) {
  define(1, gather_and_add_program(3, 1));
  define(2, add_program({1}));
  write(1, tensor({3}, {10, 20, 30}));
  write(2, index_tensor({3}));
  run({.program = 1, .inputs = {1, 2}, .first_output = 3});
  run({.program = 2, .inputs = {3, 3}, .first_output = 5});
  EXPECT_EQ(numbers(4), (std::vector<float>{20, 40, 60}));
  EXPECT_FAILS(read(5).status(), out_of_range, "model.cc:7");  // the first cause, with its call site
  EXPECT_FAILS(read(3).status(), out_of_range, "model.cc:7");
}

// in0, donated, is replaced by its sum with in1[in2], if that is there; and the number.
ProgramPtr guarded_program() {
  ir::ProgramBuilder builder;
  const auto state = builder.add_input(f32({1})), x = builder.add_input(f32({3}));
  const auto index = builder.add_input({ir::DType::i64, {1}});
  builder.donate(0);
  const auto add = [&](const ir::Op& op, std::initializer_list<ir::Ref> operands) {
    return value_or_throw(builder.add(op, std::span(operands.begin(), operands.size()), {"model.cc", 7}));
  };
  const auto picked = add(ir::Gather{0}, {x, index}), ok = add(ir::Commit{}, {});
  const auto sum = add(ir::Pointwise{ir::PointwiseFn::add}, {state, picked});
  const auto kept = add(ir::Pointwise{ir::PointwiseFn::select}, {ok, sum, state});
  return std::make_shared<const ir::Program>(builder.finish({kept, picked}));
}

TEST_P(SessionContract, WhatACommitGuardsStaysAndTheNextReadOfAnythingTellsWhyOnce) {
  define(1, guarded_program());
  write(1, tensor({1}, {5}));
  write(2, tensor({3}, {10, 20, 30}));
  write(3, index_tensor({3}));
  write(4, index_tensor({1}));
  run({.program = 1, .inputs = {1, 2, 3}, .first_output = 10});
  EXPECT_FAILS(read(2).status(), out_of_range, "program 1: gather: index 3 is outside 0..2 (at model.cc:7)");
  EXPECT_EQ(numbers(2), (std::vector<float>{10, 20, 30}));
  EXPECT_EQ(numbers(10), (std::vector<float>{5}));
  EXPECT_TRUE(sync().ok());
  EXPECT_FALSE(read(1).ok()) << "it was given to the run";
  run({.program = 1, .inputs = {10, 2, 3}, .first_output = 20});
  EXPECT_FAILS(read(21).status(), out_of_range, "index 3");
  run({.program = 1, .inputs = {20, 2, 4}, .first_output = 30});
  EXPECT_EQ(numbers(30), (std::vector<float>{25})) << "what was told is not told again";
  run({.program = 1, .inputs = {30, 2, 3}, .first_output = 40});
  EXPECT_FAILS(sync(), out_of_range, "index 3");
  EXPECT_EQ(numbers(40), (std::vector<float>{25}));
}

TEST_P(SessionContract, ARefusedRunPoisonsAllOfItsOwn) {
  define(1, add_program({2}));
  define(2, add_program({1}));
  write(1, tensor({1}, {1}));
  run({.program = 1, .inputs = {1, 1}, .first_output = 2});  // another shape
  run({.program = 2, .inputs = {2, 2}, .first_output = 3});
  EXPECT_FAILS(read(3).status(), invalid_argument, "program 1");
  EXPECT_EQ(numbers(1), (std::vector<float>{1}));
}

TEST_P(SessionContract, ARunAfterARefusedProgramNeverRunsTheOneBefore) {
  define(1, add_program({1}));
  write(1, tensor({1}, {1}));
  ir::ProgramBuilder builder;  // 2^40 bytes: no device here has them
  const auto huge = value_or_throw(builder.add(ir::Iota{ir::DType::i64, std::int64_t{1} << 37}, {}));
  define(1, std::make_shared<const ir::Program>(builder.finish({huge})));
  run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  EXPECT_FALSE(read(2).ok());
  run({.program = 1, .first_output = 3});
  EXPECT_FAILS(read(3).status(), resource_exhausted, "");
}

TEST_P(SessionContract, SyncReportsTheFirstFailureThatNoReadHasReportedAndOnlyOnce) {
  define(1, gather_and_add_program(3, 1));
  write(1, tensor({3}, {1, 2, 3}));
  write(2, index_tensor({7}));
  write(3, index_tensor({8}));
  run({.program = 1, .inputs = {1, 2}, .first_output = 10});
  run({.program = 1, .inputs = {1, 3}, .first_output = 12});
  EXPECT_FAILS(read(10).status(), out_of_range, "index 7");
  EXPECT_FAILS(sync(), out_of_range, "index 8");
  EXPECT_TRUE(sync().ok());
  EXPECT_FAILS(read(10).status(), out_of_range, "index 7");  // the tensor stays what it is
  EXPECT_TRUE(sync().ok());
}

TEST_P(SessionContract, AReadOfSomethingUnknownIsItsOwnFailureAlone) {
  EXPECT_FAILS(read(77).status(), not_found, "tensor 77");
  EXPECT_TRUE(sync().ok());
  release({78});
  EXPECT_FAILS(sync(), not_found, "tensor 78");
}

// --- callbacks and the end -----------------------------------------------------------------------------------------

TEST_P(SessionContract, ACallbackMayMakeNewCalls) {
  define(1, add_program({1}));
  write(1, tensor({1}, {1}));
  std::promise<float> result;
  std::atomic<bool> was_own = false;
  session_->read(1, [&](const Result<HostTensor>& first) {
    ASSERT_TRUE(first.ok());
    was_own = session_->is_on_own_thread();
    EXPECT_TRUE(session_->run({.program = 1, .inputs = {1, 1}, .first_output = 2}).ok());
    session_->read(2, [&](Result<HostTensor> second) { result.set_value(second.ok() ? values(*second)[0] : -1); });
  });
  EXPECT_EQ(result.get_future().get(), 2.0f);
  EXPECT_FALSE(session_->is_on_own_thread());
}

TEST_P(SessionContract, CloseIsTheEndAndMayBeRepeated) {
  write(1, tensor({1}, {1}));
  EXPECT_TRUE(sync().ok());
  EXPECT_TRUE(session_->health().ok());
  session_->close();
  session_->close();
  EXPECT_FALSE(session_->health().ok());
  EXPECT_FALSE(session_->write(2, tensor({1}, {1})).ok());
  EXPECT_FALSE(session_->run({.program = 1, .inputs = {1}, .first_output = 3}).ok());
  EXPECT_FALSE(read(1).ok());
  EXPECT_FALSE(sync().ok());
}

TEST_P(SessionContract, EveryCallbackIsCalledExactlyOnceAlsoWhenClosingUnderLoad) {
  constexpr int kRounds = 20, kThreads = 3;
  for (int round = 0; round < kRounds; ++round) {
    auto session = open();
    EXPECT_TRUE(session->define(1, add_program({64}), {}).ok());
    EXPECT_TRUE(session->write(1, tensor({64}, std::vector<float>(64, 1))).ok());
    std::atomic<int> asked = 0, answered = 0;
    std::atomic<TensorId> next = 2;
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        while (true) {
          const auto output = next.fetch_add(1);
          const bool is_open = session->run({.program = 1, .inputs = {1, 1}, .first_output = output}).ok();
          ++asked;
          session->read(output, [&](const Result<HostTensor>&) { ++answered; });
          ++asked;
          session->sync([&](const Status&) { ++answered; });
          if (!is_open) return;
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(round % 7));
    session->close();
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(answered, asked) << round;
  }
}

TEST_P(SessionContract, SessionsDoNotSeeEachOther) {
  write(1, tensor({1}, {1}));
  EXPECT_TRUE(sync().ok());
  const auto mine = std::exchange(session_, open());
  EXPECT_FAILS(read(1).status(), not_found, "tensor 1");
}

TEST_P(SessionContract, TheDestructorClosesIt) {
  std::atomic<int> answered = 0;
  define(1, add_program({1}));
  write(1, tensor({1}, {1}));
  for (TensorId id = 2; id < 102; ++id) {
    run({.program = 1, .inputs = {1, 1}, .first_output = id});
    session_->read(id, [&](const Result<HostTensor>&) { ++answered; });
  }
  session_.reset();
  EXPECT_EQ(answered, 100);
}

}  // namespace
}  // namespace burn
