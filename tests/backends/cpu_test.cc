// The CPU backend beyond single ops: lifetimes of values, errors, memory, many callers.
#include <cmath>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cpu/cpu_backend.h"
#include "tests/backends/test_device.h"

namespace burn::testing {
namespace {

using ir::DType;
using ir::PointwiseFn;
using ir::Ref;
using ::testing::HasSubstr;

class CpuTest : public ::testing::Test {
 protected:
  Ref add(const ir::Op& op, std::initializer_list<Ref> operands) {
    return *program_.add(op, std::span(operands.begin(), operands.size()), {.file = "/home/me/model.cc", .line = 41});
  }
  Ref add(PointwiseFn fn, std::initializer_list<Ref> operands) { return add(ir::Pointwise{fn}, operands); }

  static reference::Tensor floats(const std::vector<double>& values) {
    reference::Tensor x({DType::f32, {static_cast<std::int64_t>(values.size())}});
    for (std::size_t i = 0; i < values.size(); ++i) x.set(i, values[i]);
    return x;
  }
  static reference::Tensor integers(const std::vector<std::int64_t>& values) {
    reference::Tensor x({DType::i64, {static_cast<std::int64_t>(values.size())}});
    for (std::size_t i = 0; i < values.size(); ++i) x.set(i, values[i]);
    return x;
  }
  std::shared_ptr<backends::Executable> compile(std::vector<Ref> outputs) {
    return *device_.compile(program_.finish(std::move(outputs)));
  }
  std::vector<double> read(const backends::BufferPtr& buffer, std::int64_t n) {
    const auto x = *device_.download(buffer, {DType::f32, {n}});
    std::vector<double> values;
    for (std::size_t i = 0; i < x.size(); ++i) values.push_back(x.get<double>(i));
    return values;
  }

  TestDevice device_{*backends::open_cpu_backend()};
  ir::ProgramBuilder program_;
};

TEST_F(CpuTest, AnUploadedBlockIsTheBuffer) {
  auto block = *device_.backend().host_block(1000);
  const auto* place = block->bytes().data();
  const auto before = device_.backend().memory().in_use;
  const auto buffer = *device_.stream().upload(std::move(block));
  EXPECT_EQ(device_.download(buffer, 1000)->data(), place);
  EXPECT_EQ(device_.backend().memory().in_use, before);
  EXPECT_EQ(buffer.use_count(), 1);
}

// Ways to compute it differ in the last bits.
TEST_F(CpuTest, AProductWhoseWaysAreTimedIsThatOfLaterRuns) {
  constexpr std::int64_t kSize = 200;
  const auto x = program_.add_input({DType::bf16, {kSize, kSize}});
  const auto executable = compile({add(ir::MatMul{}, {x, x})});
  reference::Tensor numbers({DType::bf16, {kSize, kSize}});
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers.set(i, std::sin(0.37 * static_cast<double>(i % 1013)));
  const auto input = *device_.upload(numbers);
  std::vector<std::vector<std::byte>> results;
  for (int run = 0; run < 3; ++run) {
    const auto result = *device_.run(executable, {.inputs = {input}});
    const auto bytes = *device_.download(result.outputs[0], 2 * kSize * kSize);
    results.emplace_back(bytes.data(), bytes.data() + bytes.size());
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[1], results[2]);
}

TEST_F(CpuTest, WritesOverAnInputThatHasNoOtherOwner) {
  const auto x = program_.add_input({DType::f32, {3}});
  const auto executable = compile({add(PointwiseFn::neg, {add(PointwiseFn::neg, {add(PointwiseFn::neg, {x})})})});
  auto buffer = *device_.upload(floats({1, 2, 3}));
  const auto* before = buffer.get();
  backends::RunArgs args;
  args.inputs.push_back(std::move(buffer));
  const auto outputs = device_.run(executable, std::move(args))->outputs;
  EXPECT_EQ(outputs[0].get(), before);
  EXPECT_THAT(read(outputs[0], 3), ::testing::ElementsAre(-1, -2, -3));
}

TEST_F(CpuTest, NeverWritesOverWhatIsStillNeeded) {
  const auto x = program_.add_input({DType::f32, {3}});
  const auto y = add(PointwiseFn::neg, {x});              // a result and an operand
  const auto view = add(ir::Slice{{2}, {3}, {-1}}, {y});  // of a value that is read again
  const auto z = add(PointwiseFn::add, {view, y});
  const auto square = add(PointwiseFn::mul, {z, z});
  const auto mirrored = add(PointwiseFn::sub, {square, add(ir::Slice{{2}, {3}, {-1}}, {square})});
  const auto executable = compile({y, square, mirrored});
  backends::RunArgs args;
  args.inputs.push_back(*device_.upload(floats({1, 2, 5})));
  const auto outputs = device_.run(executable, std::move(args))->outputs;
  EXPECT_THAT(read(outputs[0], 3), ::testing::ElementsAre(-1, -2, -5));
  EXPECT_THAT(read(outputs[1], 3), ::testing::ElementsAre(36, 16, 36));
  EXPECT_THAT(read(outputs[2], 3), ::testing::ElementsAre(0, 0, 0));
}

TEST_F(CpuTest, LeavesABufferAloneThatIsTwoInputsOrBeingRead) {
  const auto a = program_.add_input({DType::f32, {2}}), b = program_.add_input({DType::f32, {2}});
  const auto executable = compile({add(PointwiseFn::exp, {a}), add(PointwiseFn::neg, {b})});
  auto buffer = *device_.upload(floats({0, 1}));
  const auto reading = *device_.download(buffer, 8);
  backends::RunArgs args;
  args.inputs = {buffer, buffer};
  buffer.reset();
  const auto outputs = device_.run(executable, std::move(args))->outputs;
  EXPECT_THAT(read(outputs[1], 2), ::testing::ElementsAre(0, -1));
  EXPECT_EQ(reinterpret_cast<const float*>(reading.data())[1], 1.0f);
}

TEST_F(CpuTest, ReturnsEveryByteWhenARunIsOver) {
  const auto x = program_.add_input({DType::f32, {1000, 100}});
  auto y = x;
  for (int i = 0; i < 5; ++i) y = add(PointwiseFn::mul, {y, add(PointwiseFn::exp, {x})});
  const auto sum = add(ir::Reduce{ir::ReduceFn::sum, {0, 1}}, {y});
  const auto executable = compile({sum});
  const auto input = *device_.upload(reference::Tensor({DType::f32, {1000, 100}}));
  const auto before = device_.backend().memory().in_use;
  for (int i = 0; i < 3; ++i) {
    const auto outputs = device_.run(executable, {.inputs = {input}})->outputs;
    EXPECT_LE(device_.backend().memory().in_use, before + 64);
  }
  EXPECT_EQ(device_.backend().memory().in_use, before);
  // The input, exp and the product: no more was alive at any time.
  EXPECT_LE(device_.backend().memory().peak, 4 * before);
}

TEST_F(CpuTest, NamesTheOpTheIndexAndTheCallSite) {
  const auto x = program_.add_input({DType::f32, {10}}), index = program_.add_input({DType::i64, {3}});
  const auto executable = compile({add(ir::Gather{0}, {x, index})});
  for (const std::int64_t bad : {std::int64_t{10}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
    const auto result = device_.run(executable, {.inputs = {*device_.upload(reference::Tensor({DType::f32, {10}})),
                                                            *device_.upload(integers({0, bad, 9}))}});
    ASSERT_TRUE(result.ok());
    ASSERT_EQ(result->failures.size(), 1u);
    EXPECT_EQ(result->failures[0]->code(), StatusCode::out_of_range);
    EXPECT_EQ(result->failures[0]->message(),
              "gather: index " + std::to_string(bad) + " is outside 0..9 (at model.cc:41)");
  }
}

TEST_F(CpuTest, AFailedStepFailsOnlyWhatIsComputedFromIt) {
  const auto x = program_.add_input({DType::f32, {10}}), index = program_.add_input({DType::i64, {3}});
  const auto picked = add(ir::Gather{0}, {x, index});
  const auto doubled = add(PointwiseFn::add, {picked, picked}), other = add(PointwiseFn::add, {x, x});
  const auto executable = compile({picked, other, doubled});
  const auto result = device_.run(executable, {.inputs = {*device_.upload(floats({0, 1, 2, 3, 4, 5, 6, 7, 8, 9})),
                                                          *device_.upload(integers({0, 10, 9}))}});
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->failures.size(), 3u);
  EXPECT_THAT(result->failures[0]->message(), HasSubstr("gather: index 10"));
  EXPECT_EQ(result->failures[2], result->failures[0]);  // the same failure, not another one
  EXPECT_EQ(result->failures[1], nullptr);
  EXPECT_THAT(read(result->outputs[1], 10), ::testing::ElementsAre(0, 2, 4, 6, 8, 10, 12, 14, 16, 18));
}

TEST_F(CpuTest, AGroupOfWhichAPartFailsComputesTheOtherPart) {
  const auto logits = program_.add_input({DType::f32, {2, 3}}), target = program_.add_input({DType::i64, {2, 1}});
  const auto shifted = add(PointwiseFn::exp, {logits});
  const auto sum = add(ir::Reduce{ir::ReduceFn::sum, {1}}, {shifted});
  const auto picked = add(ir::Gather{1}, {shifted, target});
  const auto ratio = add(PointwiseFn::div, {picked, sum});
  const auto executable = compile({sum, ratio});
  const auto run = [&](std::int64_t bad) {
    reference::Tensor index({DType::i64, {2, 1}});
    index.set(1, bad);
    return *device_.run(executable,
                        {.inputs = {*device_.upload(reference::Tensor({DType::f32, {2, 3}})), *device_.upload(index)}});
  };
  EXPECT_TRUE(run(2).failures.empty());
  const auto result = run(3);
  ASSERT_EQ(result.failures.size(), 2u);
  EXPECT_THAT(result.failures[1]->message(), HasSubstr("index 3 is outside 0..2"));
  EXPECT_EQ(result.failures[0], nullptr);
  EXPECT_THAT(read(result.outputs[0], 2), ::testing::ElementsAre(3, 3));
}

TEST_F(CpuTest, AFailedInputFailsOnlyWhatIsComputedFromIt) {
  const auto x = program_.add_input({DType::f32, {2}}), y = program_.add_input({DType::f32, {2}});
  const auto sum = add(PointwiseFn::add, {x, y}), twice = add(PointwiseFn::add, {y, y});
  const auto executable = compile({sum, twice});
  const auto why = std::make_shared<const Status>(StatusCode::out_of_range, "gather: index 7");
  const auto result =
      device_.run(executable, {.inputs = {nullptr, *device_.upload(floats({1, 2}))}, .failures = {why, nullptr}});
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->failures.size(), 2u);
  EXPECT_EQ(result->failures[0], why);
  EXPECT_EQ(result->failures[1], nullptr);
  EXPECT_THAT(read(result->outputs[1], 2), ::testing::ElementsAre(2, 4));
}

TEST_F(CpuTest, ChecksTheIndexBeforeItWritesAnything) {
  const auto x = program_.add_input({DType::f32, {4}}), index = program_.add_input({DType::i64, {2}}),
             values = program_.add_input({DType::f32, {2}});
  const auto executable = compile({add(ir::Scatter{0, ir::ScatterFn::add}, {x, index, values})});
  const auto target = *device_.upload(floats({1, 2, 3, 4}));
  const auto result =
      device_.run(executable, {.inputs = {target, *device_.upload(integers({0, 4})), *device_.upload(floats({5, 5}))}});
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->failures.size(), 1u);
  EXPECT_THAT(result->failures[0]->message(), HasSubstr("scatter: index 4 is outside 0..3"));
  EXPECT_THAT(read(target, 4), ::testing::ElementsAre(1, 2, 3, 4));
}

TEST_F(CpuTest, FindsAnIndexOutsideInTheMiddleOfLongRows) {
  const ir::Shape shape{40, 3000};
  const auto x = program_.add_input({DType::f32, shape}), index = program_.add_input({DType::i64, shape});
  const auto executable =
      compile({add(ir::Gather{1}, {x, index}), add(ir::Scatter{1, ir::ScatterFn::add}, {x, index, x})});
  const auto data = *device_.upload(reference::Tensor({DType::f32, shape}));
  for (const std::int64_t bad : {std::int64_t{3000}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(),
                                 std::numeric_limits<std::int64_t>::max()}) {
    reference::Tensor places({DType::i64, shape});
    places.set(std::size_t{37} * 3000 + 2900, bad);
    const auto result = device_.run(executable, {.inputs = {data, *device_.upload(places)}});
    ASSERT_TRUE(result.ok());
    ASSERT_EQ(result->failures.size(), 2u);
    const auto message = "index " + std::to_string(bad) + " is outside 0..2999";
    EXPECT_THAT(result->failures[0]->message(), HasSubstr("gather: " + message));
    EXPECT_THAT(result->failures[1]->message(), HasSubstr("scatter: " + message));
  }
}

TEST_F(CpuTest, AnyIndexIsOutsideRowsOfNothing) {
  const ir::Shape empty{40, 0}, shape{40, 3};
  const auto x = program_.add_input({DType::f32, empty}), index = program_.add_input({DType::i64, shape}),
             values = program_.add_input({DType::f32, shape});
  const auto executable =
      compile({add(ir::Gather{1}, {x, index}), add(ir::Scatter{1, ir::ScatterFn::add}, {x, index, values})});
  const auto result = device_.run(executable, {.inputs = {*device_.upload(reference::Tensor({DType::f32, empty})),
                                                          *device_.upload(reference::Tensor({DType::i64, shape})),
                                                          *device_.upload(reference::Tensor({DType::f32, shape}))}});
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->failures.size(), 2u);
  for (const auto& failure : result->failures) EXPECT_EQ(failure->code(), StatusCode::out_of_range);
}

TEST_F(CpuTest, RefusesArgumentsThatDoNotFitTheProgram) {
  const auto x = program_.add_input({DType::f32, {10}});
  const auto executable = compile({add(PointwiseFn::add, {x, program_.add_scalar(DType::f32)})});
  const auto right = *device_.buffer(40), small = *device_.buffer(36);
  const std::uint64_t scalar = 0;
  EXPECT_EQ(device_.run(executable, {.inputs = {right}}).status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(device_.run(executable, {.scalars = {&scalar, 1}}).status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(device_.run(executable, {.inputs = {small}, .scalars = {&scalar, 1}}).status().code(),
            StatusCode::invalid_argument);
  EXPECT_EQ(device_.run(executable, {.inputs = {nullptr}, .scalars = {&scalar, 1}}).status().code(),
            StatusCode::invalid_argument);
  EXPECT_TRUE(device_.run(executable, {.inputs = {right}, .scalars = {&scalar, 1}}).ok());
  EXPECT_EQ(device_.download(small, 37).status().code(), StatusCode::invalid_argument);
}

TEST_F(CpuTest, FailsARunThatNeedsMoreMemoryThanThereIsAndGoesOn) {
  device_ = TestDevice{*backends::open_cpu_backend({.limit = 1 << 20, .idle_limit = 0})};
  const auto x = program_.add_input({DType::f32, {}});
  const auto big = add(ir::Expand{{1 << 30}}, {x});
  const auto executable = compile({add(PointwiseFn::exp, {big})});
  const auto result = device_.run(executable, {.inputs = {*device_.buffer(4)}});
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->failures.size(), 1u);
  EXPECT_EQ(result->failures[0]->code(), StatusCode::resource_exhausted);
  EXPECT_THAT(result->failures[0]->message(), HasSubstr("exp: out of memory"));
  EXPECT_THAT(result->failures[0]->message(), HasSubstr("(at model.cc:41)"));
  EXPECT_EQ(device_.backend().memory().in_use, 0u);
  EXPECT_TRUE(device_.buffer(1 << 18).ok());
}

TEST_F(CpuTest, AViewReturnedAsAResultIsRowMajorAndHoldsNoMoreThanItself) {
  const auto x = program_.add_input({DType::f32, {100, 100}});
  const auto corner = add(ir::Slice{{0, 0}, {2, 1}, {1, 1}}, {x}), turned = add(ir::Permute{{1, 0}}, {corner});
  const auto executable = compile({corner, turned});
  reference::Tensor input({DType::f32, {100, 100}});
  for (std::size_t i = 0; i < input.size(); ++i) input.set(i, static_cast<double>(i));
  const auto outputs = device_.run(executable, {.inputs = {*device_.upload(input)}})->outputs;
  EXPECT_EQ(outputs[0]->size(), 8u);
  EXPECT_THAT(read(outputs[0], 2), ::testing::ElementsAre(0, 100));
  EXPECT_THAT(read(outputs[1], 2), ::testing::ElementsAre(0, 100));
}

TEST_F(CpuTest, SharesAnExecutableBetweenThreads) {
  const std::shared_ptr<backends::Backend> backend = *backends::open_cpu_backend();
  device_ = TestDevice{backend};
  const auto x = program_.add_input({DType::f32, {64, 128}}), w = program_.add_input({DType::f32, {128, 128}});
  auto y = add(ir::MatMul{}, {x, w});
  y = add(PointwiseFn::relu, {y});
  const auto image = add(ir::Reshape{{2, 4, 32, 32}}, {y});
  const auto kernel = add(ir::Reshape{{128, 4, 4, 8}}, {add(ir::Slice{{0, 0}, {128, 128}, {1, 1}}, {w})});
  const auto conv = add(ir::Conv{{1, 1}, {0, 0}, {0, 0}, {1, 1}, 1}, {image, kernel});
  const auto executable = compile({y, add(ir::Reduce{ir::ReduceFn::sum, {0, 1, 2, 3}}, {conv})});
  reference::Tensor a({DType::f32, {64, 128}}), b({DType::f32, {128, 128}});
  for (std::size_t i = 0; i < a.size(); ++i) a.set(i, std::sin(static_cast<double>(i)));
  for (std::size_t i = 0; i < b.size(); ++i) b.set(i, std::cos(static_cast<double>(i)));
  const std::vector inputs = {*device_.upload(a), *device_.upload(b)};
  const auto expected = device_.run(executable, {.inputs = inputs})->outputs;

  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  threads.reserve(10);
  for (int t = 0; t < 10; ++t) {
    threads.emplace_back([&] {
      TestDevice device{backend};
      for (int i = 0; i < 5; ++i) {
        const auto outputs = device.run(executable, {.inputs = inputs});
        for (std::size_t k = 0; k < 2; ++k) {
          const auto size = expected[k]->size();
          const auto got = device.download(outputs->outputs[k], size), want = device.download(expected[k], size);
          if (!std::ranges::equal(got->span(), want->span())) ++wrong;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(CpuTest, ScalarsAndSeedsAreThoseOfTheRun) {
  const auto learning_rate = program_.add_scalar(DType::f32);
  const auto noise = *program_.add_random({.shape = {8}});
  const auto executable = compile({add(PointwiseFn::mul, {noise, learning_rate})});
  const auto run = [&](double scalar, std::uint64_t seed, std::uint64_t offset) {
    const auto bits = std::bit_cast<std::uint64_t>(scalar);
    return read(device_.run(executable, {.scalars = {&bits, 1}, .seed = seed, .random_offset = offset})->outputs[0], 8);
  };
  const auto one = run(1, 7, 0), two = run(2, 7, 0);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(two[i], 2 * one[i]);
  EXPECT_NE(run(1, 8, 0), one);
  EXPECT_EQ(run(1, 7, 1)[0], one[4]);  // one block further
}

}  // namespace
}  // namespace burn::testing
