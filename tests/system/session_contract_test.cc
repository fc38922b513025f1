// What every implementation of a session promises (proto/session.h): names, order, and what is beside the order.
#include "tests/system/session_contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn {
namespace {

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

}  // namespace
}  // namespace burn
