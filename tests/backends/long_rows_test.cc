// Groups over long rows: several rows to a tile, sums in the pass that computes what is summed, values that wait in the
// place of a result.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/isa/isa.h"
#include "backends/cpu/ops/reduce_loops.h"
#include "backends/cpu/vector/centred_sums.h"
#include "backends/cpu/vector/float_loops.h"
#include "backends/cpu/vector/row_sums.h"
#include "tests/backends/column_sums.h"
#include "tests/backends/test_device.h"

namespace burn::testing {
namespace {

using namespace backends::cpu;
using ir::DType;
using ir::PointwiseFn;
using Writer = ColumnSumsWriter;

std::vector<float> numbers(std::int64_t n, int salt) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] =
        static_cast<float>(static_cast<int>((i * 7919 + static_cast<std::size_t>(salt) * 104729) % 2003) - 1001) / 250;
  return x;
}

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

// Bit by bit what the parts give, NaN for NaN, whatever is in a row and wherever it is.
class CentredSums : public ::testing::TestWithParam<int> {
 protected:
  static constexpr std::int64_t kRows = 5, kGap = 3;

  void check(Centre centre, const std::vector<float>& a) {
    const bool is_exp = centre == Centre::largest;
    const Chain chain = is_exp ? Chain{.function = PointwiseFn::exp, .before = PointwiseFn::sub}
                               : Chain{.steps = 1, .fns = {PointwiseFn::sub}};
    const auto loop = centred_sum_loop(chain, centre);
    ASSERT_NE(loop, nullptr);
    const std::int64_t n = GetParam();
    const float divisor = is_exp ? 1 : static_cast<float>(n);
    const auto whole = is_exp ? vector_loop_after(PointwiseFn::sub, PointwiseFn::exp, DType::f32)
                              : pointwise_loop(PointwiseFn::sub, DType::f32);
    const auto combine = reduce_loops(is_exp ? ir::ReduceFn::max : ir::ReduceFn::sum, DType::f32);
    const auto total = reduce_loops(ir::ReduceFn::sum, DType::f32);
    std::vector<float> y(static_cast<std::size_t>(kRows * n)), centres(kRows), sums(kRows);
    for (std::int64_t row = 0; row < kRows; ++row) {
      const auto at = static_cast<std::size_t>(row);
      combine.each(1, n, a.data() + row * (n + kGap), &centres[at]);
      if (!is_exp) centres[at] /= divisor;
      const void* operands[] = {a.data() + row * (n + kGap), &centres[at]};
      const std::int64_t strides[] = {1, 0};
      whole(n, y.data() + row * n, operands, strides);
      is_exp ? total.each(1, n, y.data() + row * n, &sums[at])
             : dot_loop()(1, n, y.data() + row * n, y.data() + row * n, &sums[at]);
    }

    for (const bool stores : {false, true}) {
      std::vector<float> actual(y.size()), actual_centres(kRows), actual_sums(kRows);
      loop({.rows = kRows,
            .n = n,
            .a = a.data(),
            .step = (n + kGap) * 4,
            .divisor = divisor,
            .y = stores ? actual.data() : nullptr,
            .centres = actual_centres.data(),
            .results = actual_sums.data()});
      expect_same(actual_centres, centres, "centres");
      expect_same(actual_sums, sums, "sums");
      if (stores) expect_same(actual, y, "values");
    }
  }

  static void expect_same(const std::vector<float>& actual, const std::vector<float>& expected, const char* what) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const bool is_same = std::bit_cast<std::uint32_t>(actual[i]) == std::bit_cast<std::uint32_t>(expected[i]);
      ASSERT_TRUE(is_same || (std::isnan(actual[i]) && std::isnan(expected[i])))
          << what << " at " << i << ": " << actual[i] << " instead of " << expected[i];
    }
  }

  void SetUp() override {
    if (!runs_v3()) GTEST_SKIP() << "no wide vectors here";
  }
};

TEST_P(CentredSums, AreThoseOfTheParts) {
  const auto a = numbers(kRows * (GetParam() + kGap), 1);
  check(Centre::largest, a);
  check(Centre::mean, a);
}

TEST_P(CentredSums, AreThoseOfThePartsForNumbersFarApart) {
  auto a = numbers(kRows * (GetParam() + kGap), 2);
  for (auto& x : a) x *= 40;  // some exps are subnormal, some 0
  check(Centre::largest, a);
  for (auto& x : a) x *= 1e17f;
  check(Centre::largest, a);
  check(Centre::mean, a);
}

// Each in another row, at its beginning, its end, and in between.
TEST_P(CentredSums, AreThoseOfThePartsForWhatIsNoOrdinaryNumber) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  const std::int64_t n = GetParam();
  for (const float special : {kNan, kInfinity, -kInfinity, -0.0f}) {
    for (const std::int64_t at : {std::int64_t{0}, n / 2, n - 1}) {
      for (std::int64_t row = 0; row < kRows; ++row) {
        auto a = numbers(kRows * (n + kGap), 3);
        a[static_cast<std::size_t>(row * (n + kGap) + at)] = special;
        check(Centre::largest, a);
        check(Centre::mean, a);
      }
    }
  }
}

TEST_P(CentredSums, AreThoseOfThePartsForRowsOfOneNumber) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  const auto n = static_cast<std::size_t>(GetParam());
  for (const float number : {kNan, kInfinity, -kInfinity, 0.0f, -0.0f, 3.0f}) {
    std::vector<float> a(kRows * (n + kGap), number);
    check(Centre::largest, a);
    for (std::size_t i = 0; i < a.size(); i += 3) a[i] = -number;
    check(Centre::largest, a);
    check(Centre::mean, a);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, CentredSums, ::testing::Values(1, 31, 32, 33, 63, 64, 97, 300, 1024, 4096, 4129, 9000));

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
