// The fixture of the tests of collectives: groups of several sizes over each implementation of Links, and operands for
// their members.
#pragma once

#include <chrono>
#include <numeric>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/interrupt.h"
#include "base/error.h"
#include "ir/enums.h"
#include "tests/backends/collective_group.h"

namespace burn::testing {

using ir::Dims, ir::DType, ir::ReduceFn, ir::Shape, ir::TensorType;
using reference::Tensor;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr DType kAll[] = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32,  DType::i16,
                          DType::i8,  DType::u64, DType::u32, DType::u16,  DType::u8,  DType::bool_};

// Small whole numbers, which every dtype has and adds exactly; another sequence for each seed.
inline Tensor numbers(const TensorType& type, std::uint64_t seed) {
  Tensor x(type);
  reference::visit_kind(type.dtype, [&]<typename T>() {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto number = (i * 7 + seed * 5 + i * seed) % 4;
      if constexpr (std::is_same_v<T, bool>)
        x.set<T>(i, number == 0);
      else
        x.set<T>(i, static_cast<T>(number));
    }
  });
  return x;
}

// The elements [begin, begin + size) along a dim.
inline Tensor part(const Tensor& x, int dim, std::int64_t begin, std::int64_t size) {
  auto type = x.type;
  type.shape[dim] = size;
  Tensor y(type);
  reference::for_each_index(type.shape, [&](const Dims& index) {
    auto from = index;
    from[dim] += begin;
    y.bits[reference::position(type.shape, index)] = x.bits[reference::position(x.type.shape, from)];
  });
  return y;
}

inline std::int64_t begin_of(const Dims& sizes, int rank) {
  std::int64_t begin = 0;
  for (int i = 0; i < rank; ++i) begin += sizes[i];
  return begin;
}

// Reduces the members' values elementwise.
inline Tensor combined(ReduceFn fn, const std::vector<Tensor>& values) {
  auto total = values[0];
  reference::visit_kind(total.type.dtype, [&]<typename T>() {
    for (std::size_t m = 1; m < values.size(); ++m) {
      for (std::size_t i = 0; i < total.size(); ++i) {
        const T a = total.get<T>(i), b = values[m].get<T>(i);
        if (fn == ReduceFn::sum) total.set<T>(i, static_cast<T>(a + b));
        if (fn == ReduceFn::prod) total.set<T>(i, static_cast<T>(a * b));
        if (fn == ReduceFn::max) total.set<T>(i, reference::larger(a, b));
        if (fn == ReduceFn::min) total.set<T>(i, reference::smaller(a, b));
      }
    }
  });
  return total;
}

struct Case {
  std::string name;
  LinkKind kind;
  int size;
};

class CollectiveContract : public ::testing::TestWithParam<Case> {
 protected:
  int size() const { return GetParam().size; }
  TestGroup group(const backends::DirectLimits& limits = {}) const { return {GetParam().kind, size(), limits}; }

  // One operand for each member, all different.
  std::vector<Tensor> values(const TensorType& type) const {
    std::vector<Tensor> all;
    all.reserve(static_cast<std::size_t>(size()));
    for (int rank = 0; rank < size(); ++rank) all.push_back(numbers(type, static_cast<std::uint64_t>(rank) + 1));
    return all;
  }
  // Parts of 0, 2, 4, ... elements.
  Dims uneven() const {
    Dims sizes;
    for (int rank = 0; rank < size(); ++rank) sizes.push_back(std::int64_t{2} * rank);
    return sizes;
  }
  Dims even() const { return Dims::filled(size(), 3); }
  static std::int64_t sum(const Dims& sizes) { return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}); }

  // Each member performs op_of(rank) on operand_of(rank); its result must equal expected_of(rank).
  template <typename OpOf, typename OperandOf, typename ExpectedOf>
  void expect(TestGroup& group, const OpOf& op_of, const OperandOf& operand_of, const ExpectedOf& expected_of) {
    TestGroup::on_threads(group.ranks(), [&](int rank) {
      const auto made = perform(group.member(rank), op_of(rank), operand_of(rank));
      ASSERT_TRUE(made.ok()) << made.status().to_string();
      const Tensor expected = expected_of(rank);
      ASSERT_EQ(made->type, expected.type);
      EXPECT_EQ(reference::to_bytes(*made), reference::to_bytes(expected)) << "rank " << rank;
    });
  }

  void expect_reduced(TestGroup& group, ReduceFn fn, const TensorType& type) {
    const auto all = values(type);
    auto total = combined(fn, all);
    const auto operand = [&](int rank) { return all[static_cast<std::size_t>(rank)]; };
    expect(
        group, [&](int) { return ir::AllReduce{fn}; }, operand, [&](int) { return total; });
  }
};

}  // namespace burn::testing
