// What backends/backend.h and backends/stream.h promise, asserted of every kind of device that this program knows.
#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/backends/test_device.h"

namespace burn::testing {
namespace {

using backends::BufferPtr;
using backends::Failure;
using ir::DType;
using ir::PointwiseFn;
using ir::Ref;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ir::TensorType f32(std::int64_t n) { return {DType::f32, {n}}; }

// Programs, one node at a time.
class Writer {
 public:
  Ref input(const ir::TensorType& type, bool donated = false) {
    const auto ref = builder_.add_input(type);
    if (donated) builder_.donate(ref.index());
    return ref;
  }
  Ref scalar() { return builder_.add_scalar(DType::f32); }
  Ref add(const ir::Op& op, std::initializer_list<Ref> operands) {
    return value_or_throw(builder_.add(op, std::span(operands.begin(), operands.size()), {"model.cc", 41}));
  }
  Ref add(PointwiseFn fn, std::initializer_list<Ref> operands) { return add(ir::Pointwise{fn}, operands); }
  ir::Program finish(std::vector<Ref> outputs) { return builder_.finish(std::move(outputs)); }

 private:
  ir::ProgramBuilder builder_;
};

class BackendContract : public ::testing::TestWithParam<backends::BackendKind> {
 protected:
  bool computes() const { return GetParam().computes; }

  Result<BufferPtr> upload(std::vector<float> numbers) {
    return device_.stream().upload(SharedBytes::own(std::move(numbers)));
  }
  std::vector<float> numbers(const BufferPtr& buffer) {
    const auto bytes = value_or_throw(device_.download(buffer, buffer->size()));
    std::vector<float> numbers(bytes.size() / sizeof(float));
    std::ranges::copy(bytes.span(), std::as_writable_bytes(std::span(numbers)).begin());
    return numbers;
  }
  std::shared_ptr<backends::Executable> compile(const ir::Program& program) {
    return value_or_throw(device_.compile(program));
  }
  // Why an output is not there, whenever it was found out; null: it is.
  Failure failure_of(const backends::RunResult& result, std::size_t k) {
    if (!result.failures.empty() && result.failures[k]) return result.failures[k];
    Failure failure;
    (void)device_.download(result.outputs[k], 0, &failure);
    return failure;
  }

  TestDevice device_{GetParam().name};
};

class ComputingContract : public BackendContract {};

std::vector<backends::BackendKind> kinds(bool computing_only) {
  auto kinds = backends::backend_kinds();
  std::erase_if(kinds, [&](const auto& kind) { return computing_only && !kind.computes; });
  return kinds;
}
const auto kKindName = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Backends, BackendContract, ::testing::ValuesIn(kinds(false)), kKindName);
INSTANTIATE_TEST_SUITE_P(Backends, ComputingContract, ::testing::ValuesIn(kinds(true)), kKindName);

// --- the backend -----------------------------------------------------------------------------------------------------

TEST_P(BackendContract, IsNamedAsItIsOpened) {
  const auto again = backends::open_backend(device_.backend().name());
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ((*again)->name(), device_.backend().name());
  EXPECT_GT(device_.backend().limits().max_buffer_bytes, 0u);
  EXPECT_GE(device_.backend().limits().memory_bytes, device_.backend().limits().max_buffer_bytes);
}

TEST_P(BackendContract, AHostBlockHasSoManyBytes) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{5} << 20}) {
    const auto block = value_or_throw(device_.backend().host_block(size));
    ASSERT_EQ(block->bytes().size(), size);
    std::ranges::fill(block->bytes(), std::byte{7});
    EXPECT_GE((*device_.stream().upload(block))->size(), size);
  }
  EXPECT_EQ(device_.backend().host_block(std::size_t{1} << 62).status().code(), StatusCode::resource_exhausted);
}

TEST_P(BackendContract, CountsTheBytesOfLiveBuffers) {
  const auto before = device_.backend().memory().in_use;
  {
    const auto buffer = value_or_throw(upload(std::vector<float>(1000)));
    device_.synchronize();
    EXPECT_GE(device_.backend().memory().in_use, before + 4000);
    EXPECT_GE(device_.backend().memory().reserved, device_.backend().memory().in_use);
  }
  device_.synchronize();
  EXPECT_EQ(device_.backend().memory().in_use, before);
  EXPECT_GE(device_.backend().memory().peak, before + 4000);
}

// --- bytes -----------------------------------------------------------------------------------------------------------

TEST_P(ComputingContract, KeepsTheBytesOfAnUploadUntilTheyAreThere) {
  std::vector<BufferPtr> buffers;
  for (int i = 0; i < 20; ++i) {
    auto owner = std::make_shared<std::vector<float>>(1000, static_cast<float>(i));
    buffers.push_back(value_or_throw(device_.stream().upload(SharedBytes(owner, std::as_bytes(std::span(*owner))))));
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(numbers(buffers[static_cast<std::size_t>(i)]), Each(static_cast<float>(i)));
  }
}

TEST_P(ComputingContract, UploadsABlock) {
  auto block = value_or_throw(device_.backend().host_block(12));
  const std::vector<float> content{1, 2, 3};
  std::ranges::copy(std::as_bytes(std::span(content)), block->bytes().begin());
  EXPECT_THAT(numbers(value_or_throw(device_.stream().upload(std::move(block)))), ElementsAre(1, 2, 3));
}

TEST_P(BackendContract, DownloadsTheFirstBytesAndNoMoreThanThereAre) {
  const auto buffer = value_or_throw(upload({0, 0, 0}));
  EXPECT_EQ(value_or_throw(device_.download(buffer, 4)).size(), 4u);
  EXPECT_EQ(value_or_throw(device_.download(buffer, 0)).size(), 0u);
  EXPECT_EQ(device_.download(buffer, buffer->size() + 1).status().code(), StatusCode::invalid_argument);
}

TEST_P(BackendContract, BytesAndBuffersOutliveTheStream) {
  auto buffer = value_or_throw(upload({0, 0, 0}));
  const auto bytes = value_or_throw(device_.download(buffer, 12));
  device_.close();
  buffer.reset();
  EXPECT_THAT(bytes.span(), Each(std::byte{0}));
}

TEST_P(ComputingContract, ACloneIsAnotherBuffer) {
  const auto double_it = [&] {
    Writer w;
    const auto x = w.input(f32(3), true);
    return compile(w.finish({w.add(PointwiseFn::add, {x, x})}));
  }();
  auto buffer = value_or_throw(upload({1, 2, 3}));
  const auto clone = value_or_throw(device_.stream().clone(buffer));
  backends::RunArgs args;
  args.inputs.push_back(std::move(buffer));
  const auto result = value_or_throw(device_.run(double_it, std::move(args)));
  EXPECT_THAT(numbers(clone), ElementsAre(1, 2, 3));
  EXPECT_THAT(numbers(result.outputs[0]), ElementsAre(2, 4, 6));
}

// --- callbacks -------------------------------------------------------------------------------------------------------

TEST_P(BackendContract, CallsBackInTheOrderOfTheCalls) {
  std::vector<int> order;
  for (int i = 0; i < 60; i += 2) {
    const auto buffer = value_or_throw(upload({1}));
    device_.stream().download(buffer, 4, [&order, i](const SharedBytes&, const Failure& why) {
      EXPECT_EQ(why, nullptr);
      order.push_back(i);
    });
    device_.stream().synchronize([&order, i](const Status& status) {
      EXPECT_TRUE(status.ok());
      order.push_back(i + 1);
    });
  }
  device_.synchronize();
  std::vector<int> expected(60);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_P(BackendContract, CallsBackExactlyOnceAlsoAtTheEnd) {
  std::vector<std::atomic<int>> calls(100);
  const auto buffer = value_or_throw(upload({1}));
  for (std::size_t i = 0; i < calls.size(); i += 2) {
    device_.stream().download(buffer, 4, [&, i](const SharedBytes&, const Failure& why) {
      ++calls[i];
      EXPECT_TRUE(!why || why->code() == StatusCode::cancelled);
    });
    device_.stream().synchronize([&, i](const Status& status) {
      ++calls[i + 1];
      EXPECT_TRUE(status.ok() || status.code() == StatusCode::cancelled);
    });
  }
  device_.close();
  for (const auto& count : calls) EXPECT_EQ(count, 1);
}

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
  const auto executable = compile(w.finish({w.add(PointwiseFn::exp, {x}), w.add(ir::Cast{DType::f64}, {x})}));
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

// Outputs: x gathered at an index, twice that, and x + x, which needs no index.
ir::Program pick_program() {
  Writer w;
  const auto x = w.input(f32(3)), index = w.input({DType::i64, {1}});
  const auto picked = w.add(ir::Gather{0}, {x, index});
  return w.finish({picked, w.add(PointwiseFn::add, {picked, picked}), w.add(PointwiseFn::add, {x, x})});
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

// --- failures --------------------------------------------------------------------------------------------------------

TEST_P(ComputingContract, ABadIndexFailsWhatIsComputedFromItAndNoMore) {
  const auto executable = compile(pick_program());
  const auto index = value_or_throw(device_.stream().upload(SharedBytes::own(std::vector<std::int64_t>{3})));
  const auto result =
      value_or_throw(device_.run(executable, {.inputs = {*upload({1, 2, 3}), index}, .program = 7, .serial = 41}));
  EXPECT_THAT(numbers(result.outputs[2]), ElementsAre(2, 4, 6));
  const auto why = failure_of(result, 0);
  ASSERT_NE(why, nullptr);
  EXPECT_EQ(why->code(), StatusCode::out_of_range);
  EXPECT_EQ(why->message(), "program 7: gather: index 3 is outside 0..2 (at model.cc:41)");
  EXPECT_EQ(failure_of(result, 1), why);
  const auto found = device_.found();
  const bool known_at_once = !result.failures.empty();
  ASSERT_EQ(found.size(), known_at_once ? 0u : 1u);
  if (!known_at_once) {
    EXPECT_EQ(found[0].serial, 41u);
    EXPECT_EQ(found[0].why, why);
  }
}

TEST_P(ComputingContract, AFailureStaysTheSameHoweverFarItSpreads) {
  const auto pick = compile(pick_program());
  Writer w;
  const auto a = w.input(f32(1)), b = w.input(f32(3));
  const auto both = compile(w.finish({w.add(PointwiseFn::neg, {a}), w.add(PointwiseFn::neg, {b})}));
  const auto index = value_or_throw(device_.stream().upload(SharedBytes::own(std::vector<std::int64_t>{-1})));
  const auto first = value_or_throw(device_.run(pick, {.inputs = {*upload({1, 2, 3}), index}, .serial = 1}));
  const auto why = failure_of(first, 0);
  backends::RunArgs args{.inputs = {first.outputs[0], first.outputs[2]}, .serial = 2};
  if (!first.failures.empty()) args.failures = {first.failures[0], nullptr};
  const auto second = value_or_throw(device_.run(both, std::move(args)));
  EXPECT_EQ(failure_of(second, 0), why);
  EXPECT_THAT(numbers(second.outputs[1]), ElementsAre(-2, -4, -6));
  if (first.outputs[0]) {
    const auto clone = value_or_throw(device_.stream().clone(first.outputs[0]));
    Failure of_clone;
    EXPECT_FALSE(device_.download(clone, 4, &of_clone).ok());
    EXPECT_EQ(of_clone, why);
  }
  for (const auto& found : device_.found()) EXPECT_EQ(found.serial, 1u) << "told twice";
}

// A parameter that is replaced by its sum with a picked number, if nothing fails. Outputs: the parameter, the number,
// and a sum that has nothing to do with either.
ir::Program guarded_program() {
  Writer w;
  const auto parameter = w.input(f32(3), true), x = w.input(f32(3)), index = w.input({DType::i64, {1}});
  const auto beside = w.input(f32(3));
  const auto picked = w.add(ir::Gather{0}, {x, index});
  const auto sum = w.add(PointwiseFn::add, {parameter, w.add(ir::Expand{{3}}, {picked})});
  const auto other = w.add(PointwiseFn::add, {beside, beside});
  const auto ok = w.add(ir::Commit{}, {});
  return w.finish({w.add(PointwiseFn::select, {ok, sum, parameter}), picked, other});
}

TEST_P(ComputingContract, ACommitKeepsWhatItGuardsWhereACheckFails) {
  const auto executable = compile(guarded_program());
  auto parameter = value_or_throw(upload({1, 2, 3}));
  std::vector<float> expected{1, 2, 3};
  for (std::int64_t run = 0; run < 30; ++run) {
    const bool is_bad = run % 7 == 3;
    const auto index =
        value_or_throw(device_.stream().upload(SharedBytes::own(std::vector<std::int64_t>{is_bad ? 3 : run % 3})));
    backends::RunArgs args{.inputs = {std::move(parameter), *upload({10, 20, 30}), index, *upload({1, 1, 1})},
                           .program = 7,
                           .serial = static_cast<std::uint64_t>(run)};
    const auto result = value_or_throw(device_.run(executable, std::move(args)));
    if (!is_bad) {
      for (auto& number : expected) number += 10.0F * static_cast<float>(run % 3 + 1);
    }
    EXPECT_THAT(numbers(result.outputs[0]), ::testing::ElementsAreArray(expected)) << run;
    EXPECT_EQ(failure_of(result, 0), nullptr);
    const auto why = failure_of(result, 1);
    EXPECT_EQ(why != nullptr, is_bad) << run;
    EXPECT_THAT(numbers(result.outputs[2]), ElementsAre(2, 2, 2));
    const auto found = device_.found();
    if (is_bad && !result.refused) {
      ASSERT_EQ(found.size(), 1u) << "nothing else says that the parameter was kept";
      EXPECT_EQ(found[0].why, why);
    } else {
      EXPECT_EQ(result.refused, why);
    }
    parameter = result.outputs[0];
  }
}

TEST_P(ComputingContract, ACommitCoversTheInputsOfWhatItGuardsAndNoOthers) {
  const auto executable = compile(guarded_program());
  const auto why = std::make_shared<const Status>(data_loss("half of it"));
  const auto index = value_or_throw(device_.stream().upload(SharedBytes::own(std::vector<std::int64_t>{1})));
  const auto kept =
      value_or_throw(device_.run(executable, {.inputs = {*upload({1, 2, 3}), nullptr, index, *upload({0, 0, 0})},
                                              .failures = {nullptr, why, nullptr, nullptr}}));
  EXPECT_THAT(numbers(kept.outputs[0]), ElementsAre(1, 2, 3));
  EXPECT_EQ(failure_of(kept, 1), why);
  const auto taken =
      value_or_throw(device_.run(executable, {.inputs = {*upload({1, 2, 3}), *upload({10, 20, 30}), index, nullptr},
                                              .failures = {nullptr, nullptr, nullptr, why}}));
  EXPECT_THAT(numbers(taken.outputs[0]), ElementsAre(21, 22, 23));
  EXPECT_EQ(failure_of(taken, 2), why);
  const auto lost =
      value_or_throw(device_.run(executable, {.inputs = {nullptr, *upload({10, 20, 30}), index, *upload({0, 0, 0})},
                                              .failures = {why, nullptr, nullptr, nullptr}}));
  EXPECT_EQ(failure_of(lost, 0), why) << "there is no old value";
}

TEST_P(BackendContract, AFailedInputFailsItsOutputs) {
  Writer w;
  const auto a = w.input(f32(1)), b = w.input(f32(1));
  const auto executable = compile(w.finish({w.add(PointwiseFn::neg, {a}), w.add(PointwiseFn::neg, {b})}));
  const auto why = std::make_shared<const Status>(data_loss("half of it"));
  const auto result = value_or_throw(
      device_.run(executable, {.inputs = {nullptr, *upload({0})}, .failures = {why, nullptr}, .program = 9}));
  EXPECT_EQ(failure_of(result, 0), why);
  EXPECT_EQ(failure_of(result, 1), nullptr);
  EXPECT_TRUE(device_.found().empty()) << "it was known before";
}

TEST_P(ComputingContract, TheSinkHearsOfAFailureBeforeItsResultIsRead) {
  const auto executable = compile(pick_program());
  const auto index = value_or_throw(device_.stream().upload(SharedBytes::own(std::vector<std::int64_t>{9})));
  const auto result = value_or_throw(device_.run(executable, {.inputs = {*upload({1, 2, 3}), index}, .serial = 5}));
  const auto why = failure_of(result, 1);  // has waited for no more than that
  if (result.failures.empty()) {
    EXPECT_THAT(device_.found(), ::testing::Contains(::testing::Field(&TestDevice::Found::why, why)));
  }
}

TEST_P(ComputingContract, ARunThatNeedsMoreMemoryThanThereIsFailsAndTheStreamGoesOn) {
  Writer w;
  const auto x = w.input(f32(1));
  const auto big = w.add(ir::Expand{{std::int64_t{1} << 45}}, {w.add(ir::Reshape{{1}}, {x})});
  const auto executable = compile(w.finish({w.add(PointwiseFn::exp, {big}), w.add(PointwiseFn::neg, {x})}));
  const auto result = value_or_throw(device_.run(executable, {.inputs = {*upload({1})}, .program = 3}));
  const auto why = failure_of(result, 0);
  ASSERT_NE(why, nullptr);
  EXPECT_EQ(why->code(), StatusCode::resource_exhausted);
  EXPECT_THAT(why->message(), HasSubstr("program 3: exp: out of memory"));
  EXPECT_THAT(numbers(result.outputs[1]), ElementsAre(-1));
}

}  // namespace
}  // namespace burn::testing
