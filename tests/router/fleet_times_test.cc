// What a router counts of sessions on all its workers, and what the workers count of their collectives.
#include "router/fleet_times.h"

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backends/registry/registry.h"
#include "router/fleet_session.h"
#include "session/local_session.h"
#include "tests/session/answers.h"
#include "tests/session/programs.h"

namespace burn::router {
namespace {

using session::f32;
using session::read;
using session::sync;
using session::tensor;
using session::values;

std::uint64_t number_of(const serving::DurationHistogram& times) {
  const auto counts = times.counts().counts;
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

// The sum of each column.
session::ProgramPtr sum_program(std::int64_t rows, std::int64_t columns) {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input(f32({rows, columns}));
  const auto sum = value_or_throw(builder.add(ir::Reduce{ir::ReduceFn::sum, {0}}, {&x, 1}));
  return std::make_shared<const ir::Program>(builder.finish({sum}));
}

TEST(FleetTimes, HaveGroupsAndRewritingsAndWorkersHaveTheirCollectives) {
  constexpr std::int64_t kRows = 6, kColumns = 5;
  const auto worker = session::Worker::create(value_or_throw(backends::open_backend("cpu")));
  FleetOptions options{.mesh = {.data = 2}};
  const auto times = options.times;
  for (int k = 0; k < 2; ++k) {
    options.members.push_back(session::make_local_session(worker));
    options.names.push_back("w" + std::to_string(k));
  }
  const auto session = make_fleet_session(std::move(options));
  const std::vector<float> ones(kRows * kColumns, 1.0f);
  ASSERT_TRUE(session->define(1, sum_program(kRows, kColumns), {}).ok());
  ASSERT_TRUE(session->write(1, tensor({kRows, kColumns}, ones), {.batch_axis = 0}).ok());
  for (proto::TensorId k = 2; k < 5; ++k)
    ASSERT_TRUE(session->run({.program = 1, .inputs = {1}, .first_output = k}).ok());
  EXPECT_EQ(values(value_or_throw(read(*session, 4))), std::vector<float>(kColumns, kRows));
  EXPECT_EQ(sync(*session).message(), "");
  EXPECT_EQ(number_of(times->first_group), 1u);
  EXPECT_EQ(number_of(times->new_group), 0u);
  EXPECT_EQ(number_of(times->rewrite), 1u) << "three runs of one program";
  EXPECT_GT(times->rewrite.counts().sum.count(), 0);

  ASSERT_EQ(session::CollectiveCounters::kOps[0], "all_reduce");
  const auto counts = worker->collectives().counts(0);
  EXPECT_EQ(counts.number, 2u * 3) << "one in each run, on both workers";
  EXPECT_EQ(counts.bytes, counts.number * kColumns * sizeof(float));
  EXPECT_GT(counts.time.count(), 0);
}

}  // namespace
}  // namespace burn::router
