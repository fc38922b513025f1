// Collectives that go on while their members compute: the same results as one after the other, and the same failures.
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/registry/registry.h"
#include "session/local_session.h"
#include "tests/session/group_members.h"
#include "tests/session/programs.h"

namespace burn {
namespace {

using ir::DType, ir::PointwiseFn, ir::ReduceFn, ir::Ref;
using proto::HostTensor;
using session::f32;
using session::ProgramPtr;
using session::tensor;
using session::values;
using test::GroupMembers, test::read;
using testing::AllOf;
using testing::HasSubstr;

constexpr int kLayers = 12;
constexpr std::int64_t kWidth = 48;

std::shared_ptr<session::Worker> worker() {
  return session::Worker::create(value_or_throw(backends::open_backend("cpu")));
}

GroupMembers group(std::size_t count) {
  std::vector<std::unique_ptr<proto::Session>> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(session::make_local_session(worker()));
  GroupMembers members(std::move(all));
  EXPECT_EQ(members.form().to_string(), "OK");
  return members;
}

class Overlap : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { ::setenv("BURN_OVERLAP", GetParam(), 1); }  // NOLINT(concurrency-mt-unsafe)
  void TearDown() override { ::unsetenv("BURN_OVERLAP"); }            // NOLINT(concurrency-mt-unsafe)
};

// x = tanh(x w), again and again; of each, or of rows of it, the sum over the members in buckets of three, while the
// next one is computed. The fifth is of rows that an index picks. Outputs: twice each sum, which is read at the end.
ProgramPtr layers_program() {
  ir::ProgramBuilder builder;
  const auto add = [&](const ir::Op& op, std::initializer_list<Ref> operands) {
    return value_or_throw(builder.add(op, std::span(operands.begin(), operands.size()), {"model.cc", 41}));
  };
  auto x = builder.add_input(f32({kWidth, kWidth}));
  const auto weight = builder.add_input(f32({kWidth, kWidth}));
  const auto index = builder.add_input({DType::i64, {kWidth, kWidth}});
  std::vector<Ref> sums;
  for (int layer = 0; layer < kLayers; ++layer) {
    x = add(ir::Pointwise{PointwiseFn::tanh}, {add(ir::MatMul{}, {x, weight})});
    const auto part = layer % 3 == 0 ? x : add(ir::Slice{{0, 0}, {2, kWidth}, {1, 1}}, {x});
    const auto from = layer == 4 ? add(ir::Gather{0}, {x, index}) : part;
    sums.push_back(add(ir::AllReduce{ReduceFn::sum, 0, layer / 3 + 1}, {from}));
  }
  std::vector<Ref> outputs;
  for (const auto sum : sums) outputs.push_back(add(ir::Pointwise{PointwiseFn::add}, {sum, sum}));
  outputs.push_back(x);
  return std::make_shared<const ir::Program>(builder.finish(outputs));
}

HostTensor numbers(int rank) {
  std::vector<float> all(kWidth * kWidth);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<float>((i * 37 + static_cast<std::size_t>(rank) * 11) % 19) / 19 - 0.5F;
  return tensor({kWidth, kWidth}, all);
}

HostTensor rows(std::int64_t last) {
  std::vector<std::int64_t> all(kWidth * kWidth);
  all.back() = last;
  return {{DType::i64, {kWidth, kWidth}}, SharedBytes::own(std::move(all))};
}

// By member and output.
using Outputs = std::vector<std::vector<Result<HostTensor>>>;
Outputs run(GroupMembers& members, const ProgramPtr& program, const std::function<std::int64_t(std::size_t)>& last_row,
            int first = 0) {
  std::vector<std::vector<std::future<Result<HostTensor>>>> asked(members.size());
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    auto& session = members[rank];
    EXPECT_TRUE(session.write(1, numbers(first + static_cast<int>(rank))).ok());
    EXPECT_TRUE(session.write(2, numbers(7)).ok());
    EXPECT_TRUE(session.write(3, rows(last_row(rank))).ok());
    EXPECT_TRUE(session.define(1, program, {}).ok());
    EXPECT_TRUE(session.run({.program = 1, .inputs = {1, 2, 3}, .first_output = 10}).ok());
    std::vector<proto::TensorId> made{1, 2, 3};
    for (std::size_t k = 0; k < program->outputs.size(); ++k) {
      asked[rank].push_back(read(session, 10 + k));
      made.push_back(10 + k);
    }
    EXPECT_TRUE(session.release(made).ok());
  }
  Outputs outputs;
  for (auto& of_member : asked) {
    auto& all = outputs.emplace_back();
    for (auto& answer : of_member) all.push_back(answer.get());
  }
  return outputs;
}

TEST_P(Overlap, SumsAreThoseOfAllMembers) {
  for (const std::size_t count : {2, 3, 4}) {
    SCOPED_TRACE(count);
    auto members = group(count);
    const auto program = layers_program();
    const auto outputs = run(members, program, [](std::size_t) { return 3; });
    auto one = group(1);
    std::vector<std::vector<float>> sums(program->outputs.size() - 1);
    for (std::size_t rank = 0; rank < count; ++rank) {
      const auto own = run(
          one, program, [](std::size_t) { return 3; }, static_cast<int>(rank));
      for (std::size_t k = 0; k < sums.size(); ++k) {
        ASSERT_TRUE(own[0][k].ok()) << own[0][k].status().to_string();
        const auto part = values(*own[0][k]);
        sums[k].resize(part.size());
        for (std::size_t i = 0; i < part.size(); ++i) sums[k][i] += part[i];
      }
    }
    for (std::size_t k = 0; k < sums.size(); ++k) {
      SCOPED_TRACE(fmt::format("sum {}", k));
      for (std::size_t rank = 0; rank < count; ++rank) {
        ASSERT_TRUE(outputs[rank][k].ok()) << outputs[rank][k].status().to_string();
        EXPECT_THAT(values(*outputs[rank][k]), testing::Pointwise(testing::FloatNear(1e-4F), sums[k]));
        EXPECT_EQ(values(*outputs[rank][k]), values(*outputs[0][k]));
      }
    }
  }
}

TEST_P(Overlap, AnIndexThatIsOutsideOnOneMemberFailsItsSumAloneOnAll) {
  auto members = group(3);
  const auto program = layers_program();
  const auto outputs = run(members, program, [](std::size_t rank) { return rank == 1 ? 4711 : 3; });
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    for (std::size_t k = 0; k < program->outputs.size(); ++k) {
      SCOPED_TRACE(fmt::format("member {}, output {}", rank, k));
      if (k != 4) {
        EXPECT_TRUE(outputs[rank][k].ok()) << outputs[rank][k].status().to_string();
        continue;
      }
      EXPECT_THAT(outputs[rank][k].status().to_string(),
                  AllOf(HasSubstr("OUT_OF_RANGE"), HasSubstr("index 4711 is outside 0..47")));
    }
  }
  const auto again = run(members, program, [](std::size_t) { return 3; });  // the group goes on
  EXPECT_TRUE(again[0][4].ok()) << again[0][4].status().to_string();
}

TEST_P(Overlap, AMemberThatLeavesIsOneErrorOnTheOthers) {
  auto members = group(3);
  const auto program = layers_program();
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::future<Result<HostTensor>>> asked;
  for (const std::size_t rank : {0, 1}) {
    auto& session = members[rank];
    ASSERT_TRUE(session.write(1, numbers(0)).ok());
    ASSERT_TRUE(session.write(3, rows(3)).ok());
    ASSERT_TRUE(session.define(1, program, {}).ok());
    ASSERT_TRUE(session.run({.program = 1, .inputs = {1, 1, 3}, .first_output = 10}).ok());
    asked.push_back(read(session, 12));
  }
  members[2].close();
  for (auto& answer : asked) EXPECT_EQ(answer.get().status().code(), StatusCode::unavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{2});
}

INSTANTIATE_TEST_SUITE_P(Settings, Overlap, testing::Values("on", "off"));

}  // namespace
}  // namespace burn
