// Groups over long rows: several rows to a tile, sums in the pass that computes what is summed, values that wait in the
// place of a result.
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/simd/float_loops.h"
#include "backends/cpu/simd/isa.h"
#include "backends/cpu/simd/reduce_table.h"
#include "backends/cpu/simd/row_sums.h"
#include "tests/backends/column_sums.h"
#include "tests/backends/numbers.h"
#include "tests/backends/test_device.h"

namespace burn::testing {
namespace {

using namespace backends::cpu;
using ir::DType;
using ir::PointwiseFn;
using Writer = ColumnSumsWriter;

// Bit by bit what the parts give: rows of any length, with what is left over, over several blocks.
class RowSums : public ::testing::TestWithParam<int> {
 protected:
  static constexpr std::int64_t kRows = 3;

  void check(const Chain& chain, Summed summed, std::int64_t b_stride) {
    const auto loop = row_sum_loop(chain, summed);
    if (!runs_v3()) GTEST_SKIP() << "no wide vectors here";
    ASSERT_NE(loop, nullptr);
    const std::int64_t n = GetParam(), gap = 5;
    const auto a = numbers(kRows * (n + gap), 1), b = numbers(kRows * n, 2);
    std::vector<float> y(static_cast<std::size_t>(kRows * n)), sums(kRows), alone(kRows), expected_sums(kRows);
    RowSumArgs args{.rows = kRows,
                    .n = n,
                    .a = a.data(),
                    .b = b.data(),
                    .b_stride = b_stride,
                    .steps = {(n + gap) * 4, (b_stride == 0 ? 1 : n) * 4},
                    .y = y.data(),
                    .results = sums.data()};
    loop(args);
    args.y = nullptr;
    args.results = alone.data();
    loop(args);

    std::vector<float> expected(static_cast<std::size_t>(kRows * n));
    const auto whole = chain.function ? (chain.before ? vector_loop_after(*chain.before, *chain.function, DType::f32)
                                                      : pointwise_loop(*chain.function, DType::f32))
                                      : pointwise_loop(chain.fns[0], DType::f32);
    for (std::int64_t row = 0; row < kRows; ++row) {
      float* to = expected.data() + row * n;
      const void* operands[] = {a.data() + row * (n + gap), b.data() + row * (b_stride == 0 ? 1 : n)};
      const std::int64_t strides[] = {1, b_stride};
      whole(n, to, operands, strides);
      if (summed == Summed::squares)
        dot_loop()(1, n, to, to, &expected_sums[static_cast<std::size_t>(row)]);
      else
        reduce_loops(ir::ReduceFn::sum, DType::f32).each(1, n, to, &expected_sums[static_cast<std::size_t>(row)]);
    }
    EXPECT_EQ(std::memcmp(y.data(), expected.data(), y.size() * 4), 0);
    EXPECT_EQ(sums, expected_sums);
    EXPECT_EQ(alone, expected_sums);
  }
};

TEST_P(RowSums, AreThoseOfThePartsForFunctions) {
  check({.function = PointwiseFn::exp, .before = PointwiseFn::sub}, Summed::values, 0);
  check({.function = PointwiseFn::exp, .before = PointwiseFn::mul}, Summed::values, 1);
  check({.function = PointwiseFn::tanh, .before = PointwiseFn::add}, Summed::values, 0);
  check({.function = PointwiseFn::exp}, Summed::values, 0);
}

TEST_P(RowSums, AreThoseOfThePartsForSquares) {
  check({.steps = 1, .fns = {PointwiseFn::sub}}, Summed::squares, 0);
  check({.steps = 1, .fns = {PointwiseFn::mul}}, Summed::squares, 1);
}

INSTANTIATE_TEST_SUITE_P(Of, RowSums, ::testing::Values(1, 31, 32, 33, 63, 64, 97, 300, 1024, 4096, 4129, 9000));

class LongRows : public ::testing::TestWithParam<ir::Shape> {
 protected:
  ir::Ref along(Writer& w, ir::ReduceFn fn, ir::Ref x) { return w.expand(w.add(ir::Reduce{fn, {1}}, {x}), GetParam()); }
  void check(const ir::Program& program, double slack) {
    std::vector<reference::Tensor> inputs;
    for (const auto& input : program.inputs) {
      reference::Tensor x(input.type);
      for (std::size_t i = 0; i < static_cast<std::size_t>(input.type.num_elements()); ++i)
        x.set(i, static_cast<double>(static_cast<std::int64_t>((i * 31 + inputs.size()) % 101) - 50) / 16);
      inputs.push_back(std::move(x));
    }
    TestDevice device{"cpu"};
    const auto expected = reference::evaluate(program, inputs);
    const auto actual = run_program(device, program, inputs);
    ASSERT_TRUE(actual.ok()) << actual.status().to_string();
    for (std::size_t k = 0; k < expected.size(); ++k)
      EXPECT_EQ(first_difference((*actual)[k], expected[k], slack), "") << "output " << k << "\n" << to_string(program);
  }
};

TEST_P(LongRows, AreRightOfSoftmax) {
  for (const bool keeps_exps : {false, true}) {
    Writer w;
    const auto x = w.input(DType::f32, GetParam());
    const auto exps = w.add(PointwiseFn::exp, {w.add(PointwiseFn::sub, {x, along(w, ir::ReduceFn::max, x)})});
    const auto y = w.add(PointwiseFn::div, {exps, along(w, ir::ReduceFn::sum, exps)});
    check(w.finish(keeps_exps ? std::vector{y, exps} : std::vector{y}), 400);
  }
}

// Scale and offset are rows that all rows share; the deviation is read twice, and once more where it is a result.
TEST_P(LongRows, AreRightOfNorms) {
  for (const bool keeps_deviation : {false, true}) {
    Writer w;
    const auto& shape = GetParam();
    const auto x = w.input(DType::f32, shape), scale = w.input(DType::f32, {1, shape[1]});
    const auto offset = w.input(DType::f32, {1, shape[1]});
    const auto d = w.add(PointwiseFn::sub, {x, along(w, ir::ReduceFn::max, x)});
    const auto length = w.expand(w.add(PointwiseFn::sqrt, {w.sum(w.add(PointwiseFn::mul, {d, d}), {1})}), shape);
    const auto y = w.add(PointwiseFn::add,
                         {w.add(PointwiseFn::mul, {w.add(PointwiseFn::div, {d, length}), w.expand(scale, shape)}),
                          w.expand(offset, shape)});
    check(w.finish(keeps_deviation ? std::vector{y, d} : std::vector{y}), 400);
  }
}

// The difference is divided for one result, and one of its readers; both of them may compute it again.
TEST_P(LongRows, AreRightOfLayerNorms) {
  for (const bool keeps_mean : {false, true}) {
    Writer w;
    const auto& shape = GetParam();
    const auto x = w.input(DType::f32, shape), scale = w.input(DType::f32, {1, shape[1]});
    const auto offset = w.input(DType::f32, {1, shape[1]}), count = w.input(DType::f32, {});
    const auto mean = w.add(PointwiseFn::div, {w.sum(x, {1}), count});
    const auto d = w.add(PointwiseFn::sub, {x, w.expand(mean, shape)});
    const auto variance = w.add(PointwiseFn::div, {w.sum(w.add(PointwiseFn::mul, {d, d}), {1}), count});
    const auto deviation = w.expand(w.add(PointwiseFn::sqrt, {variance}), shape);
    const auto y = w.add(PointwiseFn::add,
                         {w.add(PointwiseFn::mul, {w.add(PointwiseFn::div, {d, deviation}), w.expand(scale, shape)}),
                          w.expand(offset, shape)});
    check(w.finish(keeps_mean ? std::vector{y, mean} : std::vector{y}), 400);
  }
}

TEST_P(LongRows, AreRightOfTheLogarithmOfASoftmax) {
  Writer w;
  const auto x = w.input(DType::f32, GetParam());
  const auto d = w.add(PointwiseFn::sub, {x, along(w, ir::ReduceFn::max, x)});
  const auto sum = w.sum(w.add(PointwiseFn::exp, {d}), {1});
  check(w.finish({w.add(PointwiseFn::sub, {d, w.expand(w.add(PointwiseFn::log, {sum}), GetParam())})}), 400);
}

// A difference of a difference, both with several readers.
TEST_P(LongRows, AreRightOfDifferencesOfDifferences) {
  Writer w;
  const auto x = w.input(DType::f32, GetParam());
  const auto first = w.add(PointwiseFn::sub, {x, along(w, ir::ReduceFn::max, x)});
  const auto second = w.add(PointwiseFn::sub, {first, along(w, ir::ReduceFn::min, first)});
  const auto root =
      w.expand(w.add(PointwiseFn::sqrt, {w.sum(w.add(PointwiseFn::mul, {second, second}), {1})}), GetParam());
  check(w.finish({w.add(PointwiseFn::exp, {first}), w.add(PointwiseFn::div, {second, root})}), 400);
}

// Rows that are part of longer ones: they do not follow one another.
TEST_P(LongRows, AreRightOfSlices) {
  Writer w;
  const auto& shape = GetParam();
  const auto whole = w.input(DType::f32, {shape[0], shape[1] + 7});
  const auto x = w.add(ir::Slice{{0, 3}, {shape[0], shape[1]}, {1, 1}}, {whole});
  const auto exps = w.add(PointwiseFn::exp, {w.add(PointwiseFn::sub, {x, along(w, ir::ReduceFn::max, x)})});
  check(w.finish({w.add(PointwiseFn::log, {w.sum(exps, {1})}),
                  w.add(PointwiseFn::sub, {x, along(w, ir::ReduceFn::sum, exps)})}),
        400);
}

INSTANTIATE_TEST_SUITE_P(Of, LongRows,
                         ::testing::Values(ir::Shape{37, 256}, ir::Shape{300, 300}, ir::Shape{70, 1000},
                                           ir::Shape{33, 4100}, ir::Shape{200, 1024}, ir::Shape{3, 20011}),
                         [](const auto& info) {
                           return std::to_string(info.param[0]) + "x" + std::to_string(info.param[1]);
                         });

}  // namespace
}  // namespace burn::testing
