// What every implementation of Links has to do for the collectives that run over it: the numbers.
#include "tests/backends/collective_contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn::testing {
namespace {

// --- what they compute -----------------------------------------------------------------------------------------------

TEST_P(CollectiveContract, AllReduceCombinesEveryDtypeByEveryFunction) {
  auto members = group();
  for (const auto dtype : kAll) {
    for (const auto fn : {ReduceFn::sum, ReduceFn::prod, ReduceFn::max, ReduceFn::min}) {
      if (ir::is_bool(dtype) && (fn == ReduceFn::sum || fn == ReduceFn::prod)) continue;
      SCOPED_TRACE(fmt::format("{} {}", ir::name(dtype), ir::name(fn)));
      expect_reduced(members, fn, {dtype, {3, 5}});
    }
  }
}

TEST_P(CollectiveContract, AllReduceOfAnySizeGoesInPieces) {
  auto members = group({.piece = 256, .small = 16});
  for (const std::int64_t count : {0, 1, 2, 3, 4, 5, 63, 64, 65, 128, 200, 1000}) {
    SCOPED_TRACE(count);
    expect_reduced(members, ReduceFn::sum, {DType::f32, {count}});
    expect_reduced(members, ReduceFn::max, {DType::i16, {count}});
  }
  expect_reduced(members, ReduceFn::sum, {DType::f64, {}});
}

TEST_P(CollectiveContract, SixteenBitFloatsAccumulateInSingle) {
  if (size() < 3) GTEST_SKIP() << "needs three members";
  auto members = group();
  for (const auto& [dtype, large] : {std::pair(DType::bf16, 256.0), std::pair(DType::f16, 2048.0)}) {
    Tensor first({dtype, {1}}), second({dtype, {1}}), third({dtype, {1}}), total({dtype, {1}});
    first.set(0, large), second.set(0, 1.0), third.set(0, 1.0), total.set(0, large + 2);
    const std::vector<Tensor> all{first, second, third};
    expect(
        members, [](int) { return ir::AllReduce{}; }, [&](int rank) { return all[static_cast<std::size_t>(rank)]; },
        [&](int) { return total; });
  }
}

TEST_P(CollectiveContract, WholeNumbersWrap) {
  auto members = group();
  Tensor x({DType::i8, {1}}), total({DType::i8, {1}});
  x.set(0, std::int64_t{100});
  total.set(0, std::int64_t{100} * size());
  expect(
      members, [](int) { return ir::AllReduce{}; }, [&](int) { return x; }, [&](int) { return total; });
}

TEST_P(CollectiveContract, AllMembersGetTheSameBitsOfSumsThatDependOnTheirOrder) {
  auto members = group({.piece = 4096, .small = 64});
  std::vector<std::vector<std::byte>> results(static_cast<std::size_t>(size()));
  const TensorType type{DType::f32, {5000}};
  TestGroup::on_threads(members.ranks(), [&](int rank) {
    Tensor x(type);
    for (std::size_t i = 0; i < x.size(); ++i) x.set(i, 1.0 / (3.0 + static_cast<double>(i * 7919 % 1000) + rank));
    const auto made = perform(members.member(rank), ir::AllReduce{}, x);
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    results[static_cast<std::size_t>(rank)] = reference::to_bytes(*made);
  });
  for (const auto& result : results) EXPECT_EQ(result, results[0]);
}

TEST_P(CollectiveContract, ReduceScatterGivesEachMemberItsPart) {
  for (const auto& limits : {backends::DirectLimits{}, backends::DirectLimits{.piece = 64, .small = 0}}) {
    auto members = group(limits);
    for (const auto& sizes : {even(), uneven()}) {
      for (const int dim : {0, 1, 2}) {
        SCOPED_TRACE(fmt::format("{} along {}", to_string(sizes), dim));
        TensorType type{DType::f16, {2, 3, 4}};
        type.shape[dim] = sum(sizes);
        const auto all = values(type);
        const auto total = combined(ReduceFn::sum, all);
        expect(
            members,
            [&](int rank) {
              return ir::ReduceScatter{ReduceFn::sum, dim, sizes, rank};
            },
            [&](int rank) { return all[static_cast<std::size_t>(rank)]; },
            [&](int rank) { return part(total, dim, begin_of(sizes, rank), sizes[rank]); });
      }
    }
  }
}

TEST_P(CollectiveContract, AllGatherPutsThePartsBehindEachOther) {
  auto members = group();
  for (const auto& sizes : {even(), uneven()}) {
    for (const int dim : {0, 1, 2}) {
      SCOPED_TRACE(fmt::format("{} along {}", to_string(sizes), dim));
      TensorType type{DType::i32, {2, 3, 4}};
      type.shape[dim] = sum(sizes);
      const auto all = numbers(type, 9);
      expect(
          members,
          [&](int rank) {
            return ir::AllGather{dim, sizes, rank};
          },
          [&](int rank) { return part(all, dim, begin_of(sizes, rank), sizes[rank]); },
          [&](int) { return Tensor{all}; });
    }
  }
}

TEST_P(CollectiveContract, AllToAllSplitsAlongAnotherDim) {
  auto members = group();
  for (const auto& [from, to] : {std::pair(0, 1), std::pair(1, 0), std::pair(0, 2), std::pair(2, 1)}) {
    SCOPED_TRACE(fmt::format("from {} to {}", from, to));
    const auto from_sizes = even(), sizes = uneven();
    TensorType type{DType::u8, {2, 3, 4}};
    type.shape[from] = sum(from_sizes);
    type.shape[to] = sum(sizes);
    const auto all = numbers(type, 3);
    expect(
        members,
        [&, from = from, to = to](int rank) {
          return ir::AllToAll{from, from_sizes, to, sizes, rank};
        },
        [&, from = from](int rank) { return part(all, from, begin_of(from_sizes, rank), from_sizes[rank]); },
        [&, to = to](int rank) { return part(all, to, begin_of(sizes, rank), sizes[rank]); });
  }
}

TEST_P(CollectiveContract, AllToAllMovesTheBoundsOfADim) {
  auto members = group();
  const auto before = uneven();
  auto after = Dims::filled(size(), 0);  // all of it to the first member but for an element of the last
  after[0] = sum(before);
  if (size() > 1) after[0] -= 1, after[size() - 1] = 1;
  for (const int dim : {0, 1}) {
    for (const auto& [from, to] : {std::pair(before, after), std::pair(after, before), std::pair(before, before)}) {
      TensorType type{DType::f32, {2, 3}};
      type.shape[dim] = sum(before);
      const auto all = numbers(type, 4);
      expect(
          members,
          [&, &from = from, &to = to](int rank) {
            return ir::AllToAll{dim, from, dim, to, rank};
          },
          [&, &from = from](int rank) { return part(all, dim, begin_of(from, rank), from[rank]); },
          [&, &to = to](int rank) { return part(all, dim, begin_of(to, rank), to[rank]); });
    }
  }
}

TEST_P(CollectiveContract, TwoThousandSmallOnesInARow) {
  auto members = group();
  TestGroup::on_threads(members.ranks(), [&](int rank) {
    for (int i = 0; i < 2000; ++i) {
      Tensor x({DType::i32, {2}});
      x.set(0, std::int64_t{rank}), x.set(1, std::int64_t{i});
      const auto made = perform(members.member(rank), ir::AllReduce{}, x);
      ASSERT_TRUE(made.ok()) << made.status().to_string();
      ASSERT_EQ(made->get<std::int64_t>(0), size() * (size() - 1) / 2);
      ASSERT_EQ(made->get<std::int64_t>(1), std::int64_t{i} * size());
    }
  });
}

TEST_P(CollectiveContract, MegabytesGoThrough) {
  auto members = group();
  if (members.simulated()) GTEST_SKIP() << "byte by byte";
  expect_reduced(members, ReduceFn::sum, {DType::f32, {3'000'001}});
  const Dims sizes = Dims::filled(size(), 500'000);
  const auto all = numbers({DType::f32, {2, sum(sizes)}}, 1);
  expect(
      members,
      [&](int rank) {
        return ir::AllGather{1, sizes, rank};
      },
      [&](int rank) { return part(all, 1, begin_of(sizes, rank), sizes[rank]); }, [&](int) { return Tensor{all}; });
}

INSTANTIATE_TEST_SUITE_P(
    Links, CollectiveContract,
    ::testing::Values(Case{"one_alone", LinkKind::simulated, 1}, Case{"two_simulated", LinkKind::simulated, 2},
                      Case{"three_simulated", LinkKind::simulated, 3}, Case{"one_by_sockets", LinkKind::sockets, 1},
                      Case{"two_by_sockets", LinkKind::sockets, 2}, Case{"three_by_sockets", LinkKind::sockets, 3}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace burn::testing
