// What a stream promises of runs (backends/stream.h), asserted of every kind of device that this program knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/backends/stream_contract.h"

namespace burn::testing {
namespace {

// --- runs ------------------------------------------------------------------------------------------------------------

TEST_P(BackendContract, RefusesArgumentsThatDoNotFitTheProgram) {
  Writer w;
  const auto executable = compile(w.finish({w.add(PointwiseFn::add, {w.input(f32(10)), w.scalar()})}));
  const auto x = value_or_throw(upload(std::vector<float>(10)));
  const std::uint64_t scalar = 0;
  EXPECT_FALSE(device_.run(executable, {.inputs = {x}}).ok());
  EXPECT_FALSE(device_.run(executable, {.scalars = {&scalar, 1}}).ok());
  EXPECT_TRUE(device_.run(executable, {.inputs = {x}, .scalars = {&scalar, 1}}).ok());
}

TEST_P(BackendContract, MakesBuffersOfTheRightSizes) {
  Writer w;
  const auto x = w.input(f32(10));
  const auto executable = compile(w.finish({w.add(PointwiseFn::exp, {x}), w.add(ir::Cast{DType::i64}, {x})}));
  const auto result = value_or_throw(device_.run(executable, {.inputs = {*upload(std::vector<float>(10))}}));
  EXPECT_GE(result.outputs[0]->size(), 40u);
  EXPECT_GE(result.outputs[1]->size(), 80u);
}

TEST_P(ComputingContract, ReadsScalarsDuringTheCallOnly) {
  Writer w;
  const auto executable = compile(w.finish({w.add(PointwiseFn::mul, {w.input(f32(2)), w.scalar()})}));
  std::vector<BufferPtr> results;
  for (int i = 0; i < 20; ++i) {
    std::vector scalars{std::bit_cast<std::uint64_t>(static_cast<double>(i))};
    results.push_back(
        value_or_throw(device_.run(executable, {.inputs = {*upload({1, 2})}, .scalars = scalars})).outputs[0]);
    scalars[0] = ~std::uint64_t{0};
  }
  for (std::size_t i = 0; i < 20; ++i) {
    const auto x = static_cast<float>(i);
    EXPECT_THAT(numbers(results[i]), ElementsAre(x, 2 * x));
  }
}

TEST_P(ComputingContract, KeepsAnExecutableThatItHasToRun) {
  BufferPtr result;
  {
    Writer w;
    const auto x = w.input(f32(2));
    auto executable = compile(w.finish({w.add(PointwiseFn::add, {x, x})}));
    result = value_or_throw(device_.run(executable, {.inputs = {*upload({1, 2})}})).outputs[0];
  }
  EXPECT_THAT(numbers(result), ElementsAre(2, 4));
}

// A training step as a device sees it: a parameter that is updated in place, a batch that lies elsewhere in every run,
// a loss that is held for a while. Devices that remember where a program's operands were have to notice what moved.
TEST_P(ComputingContract, RunsAProgramAgainAndAgainWithOperandsThatMove) {
  constexpr std::int64_t kSize = 1000;
  Writer w;
  const auto parameter = w.input(f32(kSize), true), batch = w.input(f32(kSize)), index = w.input({DType::i64, {1}});
  const auto rate = w.scalar();
  const auto error = w.add(PointwiseFn::sub, {batch, parameter});
  const auto loss = w.add(ir::Reduce{ir::ReduceFn::sum, {0}}, {w.add(PointwiseFn::mul, {error, error})});
  const auto picked = w.add(ir::Gather{0}, {error, index});
  const auto updated = w.add(PointwiseFn::add, {parameter, w.add(PointwiseFn::mul, {error, rate})});
  const auto executable = compile(w.finish({updated, loss, picked}));

  std::vector<double> expected(kSize, 0.0);  // of the parameter
  auto held = value_or_throw(upload(std::vector<float>(kSize, 0.0F)));
  std::vector<BufferPtr> losses, kept, batches;
  std::vector<double> expected_losses;
  for (std::int64_t run = 0; run < 60; ++run) {
    std::vector<float> numbers(kSize);
    for (std::int64_t i = 0; i < kSize; ++i)
      numbers[static_cast<std::size_t>(i)] = static_cast<float>((i * 7 + 13 * run) % 32);
    const auto at = run * 17 % kSize;
    const double step = run % 3 == 0 ? 0.5 : 0.25;
    const std::uint64_t scalar = std::bit_cast<std::uint64_t>(step);
    batches.push_back(value_or_throw(upload(numbers)));
    const auto where = value_or_throw(device_.stream().upload(SharedBytes::own(std::vector<std::int64_t>{at})));
    const auto shared = run == 30 ? held : nullptr;  // the test holds it as well: it moves
    auto result = value_or_throw(
        device_.run(executable, {.inputs = {std::move(held), batches.back(), where}, .scalars = {&scalar, 1}}));
    held = result.outputs[0];
    result.outputs[0] = nullptr;
    double sum = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double difference = numbers[i] - expected[i];
      sum += difference * difference;
      if (static_cast<std::int64_t>(i) == at) {
        EXPECT_NEAR(this->numbers(result.outputs[2])[0], difference, 1e-3) << "run " << run;
      }
      expected[i] += step * difference;
    }
    losses.push_back(result.outputs[1]);
    expected_losses.push_back(sum);
    if (run % 7 == 3) kept.push_back(result.outputs[2]);
    if (run % 5 == 0) batches.clear();
  }
  const auto last = this->numbers(held);
  for (std::size_t i = 0; i < last.size(); ++i) ASSERT_NEAR(last[i], expected[i], 1e-3) << i;
  for (std::size_t i = 0; i < losses.size(); ++i)
    EXPECT_NEAR(this->numbers(losses[i])[0] / expected_losses[i], 1, 1e-4) << "run " << i;
}

// The same with an index that is outside in one of the runs.
TEST_P(ComputingContract, FindsABadIndexInARunThatWasRepeatedOften) {
  const auto executable = compile(pick_program());
  for (std::int64_t run = 0; run < 40; ++run) {
    const auto index =
        value_or_throw(device_.stream().upload(SharedBytes::own(std::vector<std::int64_t>{run == 25 ? 3 : run % 3})));
    const auto result =
        value_or_throw(device_.run(executable, {.inputs = {value_or_throw(upload({10, 20, 30})), index}}));
    if (run == 25) {
      EXPECT_NE(failure_of(result, 0), nullptr);
      EXPECT_EQ(failure_of(result, 2), nullptr);
    } else {
      EXPECT_THAT(numbers(result.outputs[1]), ElementsAre(20.0F * static_cast<float>(run % 3 + 1)));
    }
    EXPECT_THAT(numbers(result.outputs[2]), ElementsAre(20, 40, 60));
  }
  device_.found();
}

// What programs with few indices to look at find is not what those with many found before them, nor the other way
// round.
TEST_P(ComputingContract, FindsABadIndexInTheRunThatHasIt) {
  constexpr int kMany = 40;
  Writer w;
  const auto x = w.input(f32(3)), index = w.input({DType::i64, {1}}), last = w.input({DType::i64, {1}});
  std::vector<ir::Ref> picked;
  auto from = x;
  for (int i = 0; i < kMany; ++i) {
    from = w.add(PointwiseFn::add, {from, x});
    picked.push_back(w.add(ir::Gather{0}, {from, i + 1 < kMany ? index : last}));
  }
  const auto many = compile(w.finish(picked)), one = compile(pick_program());
  const auto number = [&](std::int64_t i) {
    return value_or_throw(device_.stream().upload(SharedBytes::own(std::vector<std::int64_t>{i})));
  };
  const auto numbers_of_x = value_or_throw(upload({10, 20, 30}));
  for (int run = 0; run < 12; ++run) {
    const bool fails_many = run % 4 == 1, fails_one = run % 4 == 2;
    const auto a = value_or_throw(device_.run(one, {.inputs = {numbers_of_x, number(fails_one ? 5 : 1)}}));
    const auto b = value_or_throw(device_.run(many, {.inputs = {numbers_of_x, number(2), number(fails_many ? 7 : 0)}}));
    EXPECT_EQ(failure_of(a, 0) != nullptr, fails_one) << "run " << run;
    for (std::size_t k = 0; k < kMany; ++k)
      EXPECT_EQ(failure_of(b, k) != nullptr, fails_many && k + 1 == kMany) << "run " << run << ", " << k;
  }
  device_.found();
}

TEST_P(ComputingContract, LeavesInputsThatOthersHoldAsTheyAre) {
  Writer w;
  const auto x = w.input({DType::f32, {2, 2}});
  const auto executable = compile(w.finish({w.add(ir::Reshape{{4}}, {x}), w.add(PointwiseFn::neg, {x})}));
  const auto buffer = value_or_throw(upload({1, 2, 3, 4}));
  auto result = value_or_throw(device_.run(executable, {.inputs = {buffer}}));
  EXPECT_THAT(numbers(buffer), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(numbers(result.outputs[0]), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(numbers(result.outputs[1]), ElementsAre(-1, -2, -3, -4));
}

TEST_P(ComputingContract, SharesAnExecutableBetweenStreams) {
  const std::shared_ptr<backends::Backend> backend = value_or_throw(backends::open_backend(GetParam().name));
  Writer w;
  const auto x = w.input(f32(1000));
  const std::shared_ptr<backends::Executable> executable = value_or_throw(
      backend->compile(std::make_shared<const ir::Program>(w.finish({w.add(PointwiseFn::add, {x, x})}))));
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      TestDevice device{backend};
      reference::Tensor numbers(f32(1000)), expected(f32(1000));
      for (std::size_t i = 0; i < 1000; ++i) numbers.set(i, 1.0 * t), expected.set(i, 2.0 * t);
      for (int i = 0; i < 10; ++i) {
        const auto result = device.run(executable, {.inputs = {*device.upload(numbers)}});
        right += first_difference(*device.download(result->outputs[0], f32(1000)), expected, 0).empty() ? 1 : 0;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 40);
}

}  // namespace
}  // namespace burn::testing
