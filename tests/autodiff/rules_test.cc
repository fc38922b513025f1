// Every rule of autodiff/ against finite differences.
#include <array>
#include <map>

#include <gtest/gtest.h>

#include "client/ops/ops.h"
#include "ir/catalogue.h"
#include "tests/autodiff/finite_differences.h"

namespace burn {
namespace {

using client::Value;
using Fn = ir::PointwiseFn;
using Red = ir::ReduceFn;
using Values = std::vector<Value>;

const ir::CallSite kSite{};

// An interval where a function is defined and smooth: [-2, 2] unless listed.
std::pair<double, double> domain(Fn fn) {
  static const std::map<Fn, std::pair<double, double>> special = {
      {Fn::log, {0.2, 3}},      {Fn::log1p, {-0.5, 2}},       {Fn::sqrt, {0.2, 3}},    {Fn::rsqrt, {0.2, 3}},
      {Fn::recip, {0.3, 2}},    {Fn::asin, {-0.9, 0.9}},      {Fn::acos, {-0.9, 0.9}}, {Fn::acosh, {1.2, 3}},
      {Fn::atanh, {-0.9, 0.9}}, {Fn::tan, {-1.2, 1.2}},       {Fn::pow, {0.3, 2}},     {Fn::div, {0.3, 2}},
      {Fn::atan2, {0.3, 2}},    {Fn::remainder, {0.7, 0.99}}, {Fn::fmod, {0.7, 0.99}}};
  const auto found = special.find(fn);
  return found == special.end() ? std::pair{-2.0, 2.0} : found->second;
}

class EveryPointwise : public ::testing::TestWithParam<int> {};

TEST_P(EveryPointwise, HasTheGradientThatDifferencesGive) {
  const auto fn = static_cast<Fn>(GetParam());
  const auto& row = ir::row(fn);
  if (!row.differentiable) return;  // marked ZERO: a test below checks that it has no gradient
  const auto [low, high] = domain(fn);
  const ir::Shape shape{2, 3};
  if (row.arity == 1) {
    test::expect_both_orders([&](const Values& x) { return client::pointwise(fn, x[0], kSite); },
                             {test::spread(shape, low, high)});
  } else if (row.arity == 2) {
    test::expect_both_orders([&](const Values& x) { return client::pointwise(fn, x[0], x[1], kSite); },
                             {test::spread(shape, low, high), test::spread(shape, low, high, 1)});
  } else {
    test::expect_both_orders(
        [&](const Values& x) {
          return client::select(client::pointwise(Fn::greater, x[0].inner(), 0.0, kSite), x[0], x[1], kSite);
        },
        {test::spread(shape, low, high), test::spread(shape, low, high, 1)});
  }
}

INSTANTIATE_TEST_SUITE_P(Table, EveryPointwise, ::testing::Range(0, ir::pointwise_count()),
                         [](const auto& info) { return std::string{ir::name(static_cast<Fn>(info.param))}; });

TEST(Rules, AScalarThatStandsForEveryElementGetsTheSum) {
  test::expect_both_orders(
      [](const Values& x) {
        const auto scalar = client::reshape(x[1], {}, kSite);
        return client::pointwise(Fn::mul, x[0], scalar, kSite);
      },
      {test::spread({2, 3}, -1, 1), test::spread({1}, 1, 2)});
}

TEST(Rules, BroadcastOperandsGetTheSumOverTheirRepeats) {
  test::expect_both_orders([](const Values& x) { return client::pointwise(Fn::mul, x[0], x[1], kSite); },
                           {test::spread({2, 1, 3}, -1, 1), test::spread({1, 4, 1}, 1, 2)});
}

TEST(Rules, Reductions) {
  for (const auto fn : {Red::sum, Red::prod, Red::max, Red::min}) {
    for (const auto& axes : {ir::Dims{0}, ir::Dims{1}, ir::Dims{0, 2}, ir::Dims{0, 1, 2}}) {
      test::expect_both_orders([&](const Values& x) { return client::reduce(fn, x[0], axes, kSite); },
                               {test::spread({2, 3, 2}, 0.5, 2)});
    }
  }
}

TEST(Rules, AProductWithAZeroInItHasAGradient) {
  test::expect_both_orders([](const Values& x) { return client::reduce(Red::prod, x[0], {0}, kSite); },
                           {TensorData(std::vector<double>{2, 0, 3}, {3})});
}

TEST(Rules, Scans) {
  for (const auto fn : {Red::sum, Red::prod, Red::max, Red::min}) {
    for (const std::int64_t axis : {0, 1}) {
      test::expect_both_orders([&](const Values& x) { return client::scan(fn, x[0], axis, kSite); },
                               {test::spread({3, 4}, 0.5, 2)});
    }
  }
}

TEST(Rules, GradientsPassThroughAPlace) {
  test::expect_both_orders(
      [](const Values& x) {
        const auto placed = client::batched(x[0], -1, kSite);
        return client::pointwise(Fn::mul, placed, client::pointwise(Fn::sin, placed, kSite), kSite);
      },
      {test::spread({3, 4}, -1, 1)});
}

TEST(Rules, MatrixProducts) {
  test::expect_both_orders([](const Values& x) { return client::matmul(x[0], x[1], kSite); },
                           {test::spread({2, 3}, -1, 1), test::spread({3, 4}, -1, 1, 1)});
  test::expect_both_orders([](const Values& x) { return client::matmul(x[0], x[1], kSite); },
                           {test::spread({2, 1, 2, 3}, -1, 1), test::spread({1, 3, 3, 2}, -1, 1, 1)});
}

TEST(Rules, Attention) {
  const auto q = test::spread({2, 1, 3, 4}, -1, 1), k = test::spread({2, 2, 5, 4}, -1, 1, 1),
             v = test::spread({1, 2, 5, 3}, -1, 1, 2);
  for (const bool is_causal : {false, true}) {
    test::expect_both_orders(
        [&](const Values& x) {
          return client::attention(x[0], x[1], x[2], nullptr, nullptr, {.is_causal = is_causal}, kSite);
        },
        {q, k, v});
  }
  const auto masked = [](const Values& x) {
    const Value numbers = client::arange(client::place_of(x[0]), 0, 15, 1, ir::DType::i64, kSite);
    const Value hidden = client::pointwise(Fn::greater, client::pointwise(Fn::remainder, numbers, 4, kSite), 2, kSite);
    const Value mask = client::reshape(hidden, {1, 1, 3, 5}, kSite);
    return client::attention(x[0], x[1], x[2], &mask, nullptr, {.scale = 0.3}, kSite);
  };
  const auto scores = test::spread({1, 2, 3, 5}, -1, 1, 3);
  test::expect_both_orders(masked, {q, k, v});
  // With a tracked bias or a softcap, the gradient is computed from the scores instead of by the fused op.
  test::expect_both_orders(
      [](const Values& x) { return client::attention(x[0], x[1], x[2], nullptr, &x[3], {.is_causal = true}, kSite); },
      {q, k, v, scores});
  test::expect_both_orders(
      [](const Values& x) { return client::attention(x[0], x[1], x[2], nullptr, &x[3], {.softcap = 1.5}, kSite); },
      {q, k, v, scores});
}

// Each result of attention by itself, and both: gradients of the statistics are computed by by_scores().
TEST(Rules, TheStatisticsOfAttentionHaveAGradient) {
  const auto q = test::spread({2, 3, 4}, -1, 1), k = test::spread({2, 5, 4}, -1, 1, 1),
             v = test::spread({2, 5, 3}, -1, 1, 2);
  for (const std::size_t wanted : {0, 1, 2}) {
    test::expect_both_orders(
        [&](const Values& x) {
          auto results = client::apply_all(ir::Attention{0.4, true}, x, kSite);
          if (wanted < 2) return results[wanted];
          return client::pointwise(Fn::mul, results[0], results[1], kSite);
        },
        {q, k, v});
  }
}

TEST(Rules, Sorts) {
  const auto x = test::spread({3, 4}, -1, 1, 1);
  for (const std::int64_t axis : {0, 1}) {
    for (const bool descending : {false, true}) {
      test::expect_both_orders([&](const Values& v) { return client::sort(v[0], axis, descending, kSite).values; },
                               {x});
    }
  }
}

TEST(Rules, TopK) {
  const auto x = test::spread({3, 4}, -1, 1, 1);
  for (const std::int64_t axis : {0, 1}) {
    for (const bool largest : {false, true}) {
      test::expect_both_orders([&](const Values& v) { return client::top_k(v[0], axis, 2, largest, kSite).values; },
                               {x});
    }
  }
}

TEST(Rules, ResultsThatAreNoFloatsAreNotTracked) {
  test::expect_both_orders(
      [](const Values& v) {
        const auto [values, indices] = client::sort(v[0], 0, false, kSite);
        EXPECT_FALSE(indices.is_tracked());
        EXPECT_EQ(values.is_tracked(), v[0].is_tracked());
        return values;
      },
      {test::spread({4}, -1, 1)});
}

TEST(Rules, TheGradientOfAttentionCanBeDifferentiated) {
  test::expect_gradients(
      [](const Values& x) {
        if (!x[0].is_tracked()) {  // for the differences: the same gradient, untracked
          const Values leaves{client::require_grad(x[0].from_inner()), client::require_grad(x[1].from_inner())};
          const Value y =
              client::attention(leaves[0], leaves[1], leaves[1], nullptr, nullptr, {.is_causal = true}, kSite);
          return client::backward(client::reduce_all(Red::sum, client::pointwise(Fn::mul, y, y, kSite), kSite), {},
                                  kSite)
              .get(leaves[0])
              ->inner();
        }
        const Value y = client::attention(x[0], x[1], x[1], nullptr, nullptr, {.is_causal = true}, kSite);
        return *client::backward(client::reduce_all(Red::sum, client::pointwise(Fn::mul, y, y, kSite), kSite),
                                 {.create_graph = true}, kSite)
                    .get(x[0]);
      },
      {test::spread({1, 3, 4}, -1, 1), test::spread({1, 5, 4}, -1, 1, 1)});
}

TEST(Rules, ConvolutionsOfEveryRankWithStridesPadsDilationsAndGroups) {
  test::expect_both_orders(
      [](const Values& x) {
        return client::conv(x[0], x[1], nullptr, {{2}, {1}, {0}, {2}, 1}, kSite);
      },
      {test::spread({2, 2, 9}, -1, 1), test::spread({3, 2, 3}, -1, 1, 1)});
  test::expect_both_orders(
      [](const Values& x) {
        return client::conv(x[0], x[1], &x[2], {{1, 2}, {1, 0}, {0, 1}, {1, 1}, 2}, kSite);
      },
      {test::spread({2, 4, 4, 5}, -1, 1), test::spread({2, 2, 3, 2}, -1, 1, 1), test::spread({2}, -1, 1, 2)});
  test::expect_both_orders(
      [](const Values& x) {
        return client::conv(x[0], x[1], nullptr, {{1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}, 1}, kSite);
      },
      {test::spread({1, 1, 3, 3, 3}, -1, 1), test::spread({2, 1, 2, 2, 2}, -1, 1, 1)});
}

TEST(Rules, TransposedConvolutions) {
  test::expect_both_orders(
      [](const Values& x) {
        return client::conv_transpose(x[0], x[1], nullptr, {{2, 1}, {1, 0}, {1, 0}, {1, 1}, 1}, {1, 0}, kSite);
      },
      {test::spread({2, 2, 3, 3}, -1, 1), test::spread({2, 3, 3, 2}, -1, 1, 1)});
}

TEST(Rules, Pools) {
  test::expect_both_orders(
      [](const Values& x) {
        return client::avg_pool(x[0], {{2, 3}, {1, 2}, {1, 1}, false, true}, kSite);
      },
      {test::spread({1, 2, 4, 5}, -1, 1)});
  test::expect_both_orders(
      [](const Values& x) {
        return client::adaptive_avg_pool(x[0], {3, 2}, kSite);
      },
      {test::spread({2, 1, 5, 4}, -1, 1)});
  test::expect_both_orders(
      [](const Values& x) {
        return client::max_pool(x[0], {{2, 2}, {2, 1}, {1, 0}, {1, 1}, false}, kSite);
      },
      {test::spread({1, 2, 4, 4}, -1, 1)});
}

TEST(Rules, ShapesAndViews) {
  const auto x = test::spread({2, 3, 4}, -1, 1);
  test::expect_both_orders([](const Values& v) { return client::reshape(v[0], {6, 4}, kSite); }, {x});
  test::expect_both_orders([](const Values& v) { return client::permute(v[0], {2, 0, 1}, kSite); }, {x});
  test::expect_both_orders([](const Values& v) { return client::expand(v[0], {5, 2, 3, 4}, kSite); }, {x});
  test::expect_both_orders(
      [](const Values& v) {
        const std::array ranges{client::Range{1, 2, 1}, client::Range{0, std::nullopt, 2},
                                client::Range{0, std::nullopt, -1}};
        return client::slice(v[0], ranges, kSite);
      },
      {x});
  test::expect_both_orders(
      [](const Values& v) {
        const std::array ranges{client::Range{0, 1, 1}, client::Range{1, 3, 1}};
        return client::slice_assign(v[0], ranges, v[1], kSite);
      },
      {x, test::spread({1, 2, 4}, -1, 1, 1)});
  test::expect_both_orders([](const Values& v) { return client::concat(v, 1, kSite); },
                           {x, test::spread({2, 1, 4}, -1, 1, 1)});
}

TEST(Rules, GatherAndScatter) {
  const auto index = [](const Value& like, std::vector<std::int64_t> numbers, ir::Shape shape) {
    return client::from_data(TensorData(std::move(numbers), shape), {Device{like.device(), like.is_autodiff()}},
                             DType::i64);
  };
  test::expect_both_orders(
      [&](const Values& v) {
        return client::gather(v[0], 1, index(v[0], {0, 2, 2, 1}, {2, 2}), kSite);
      },
      {test::spread({2, 3}, -1, 1)});
  test::expect_both_orders(
      [&](const Values& v) {
        return client::select_rows(v[0], 0, index(v[0], {1, 1, 0}, {3}), kSite);
      },
      {test::spread({2, 3}, -1, 1)});
  for (const auto fn :
       {ir::ScatterFn::add, ir::ScatterFn::assign, ir::ScatterFn::mul, ir::ScatterFn::max, ir::ScatterFn::min}) {
    test::expect_both_orders(
        [&](const Values& v) {
          return client::scatter(v[0], 1, index(v[0], {0, 2, 1, 0}, {2, 2}), v[1], fn, kSite);
        },
        {test::spread({2, 3}, -1, 1), test::spread({2, 2}, -1, 1, 1)});
  }
}

TEST(Rules, CompositesNeedNoRuleOfTheirOwn) {
  const auto x = test::spread({2, 4}, -2, 2);
  test::expect_both_orders([](const Values& v) { return client::softmax(v[0], 1, kSite); }, {x});
  test::expect_both_orders([](const Values& v) { return client::log_softmax(v[0], 0, kSite); }, {x});
  test::expect_both_orders([](const Values& v) { return client::gelu(v[0], kSite); }, {x});
  test::expect_both_orders([](const Values& v) { return client::var(v[0], {1}, 1, kSite); }, {x});
}

}  // namespace
}  // namespace burn
