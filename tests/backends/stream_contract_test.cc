// What backends/backend.h and backends/stream.h promise of memory, callbacks and failures, asserted of every kind of
// device that this program knows.
#include "tests/backends/stream_contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn::testing {
namespace {

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
