// Which way of a run stays, on a driver without a GPU whose works take the time that they are told.
#include "backends/cuda/graphs/graph_race.h"

#include <initializer_list>

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/backends/cuda/simulated_driver/simulation.h"

namespace burn::testing {
namespace {

using backends::cuda::driver;
using backends::cuda::GraphRace;

class GraphRaces : public ::testing::Test {
 protected:
  static constexpr int kEnough = 200;  // runs after which the race is over
  static constexpr float kWithout = 2;

  void SetUp() override {
    value_or_throw(backends::cuda::load_driver());
    driver().cuStreamCreateWithPriority(&stream_, CU_STREAM_NON_BLOCKING, 0);
  }
  void TearDown() override {
    driver().cuStreamSynchronize(stream_);
    driver().cuStreamDestroy(stream_);
  }

  static CUgraphExec graph(float ms) { return simulated<CUgraphExec(float)>("burn_make_graph")(ms); }
  static std::size_t graphs() { return simulated<std::size_t()>("burn_simulated_graphs")(); }

  // Runs once; returns the graph that was launched, null if none was.
  CUgraphExec run(GraphRace& race) {
    CUgraphExec used = nullptr;
    int runs = 0;
    const auto status = race.enqueue(stream_, [&](CUgraphExec graph) -> Status {
      used = graph;
      ++runs;
      if (graph) return backends::cuda::check(driver().cuGraphLaunch(graph, stream_), "cuGraphLaunch");
      simulated<void(CUstream, float)>("burn_spend")(stream_, kWithout);
      return {};
    });
    EXPECT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(runs, 1);
    return used;
  }
  // And no other graph; null: that none stays.
  void expect_to_stay(CUgraphExec fastest, std::initializer_list<CUgraphExec> ways) {
    GraphRace race;
    for (auto* const way : ways) race.add(way);
    for (int i = 0; i < kEnough; ++i) {
      run(race);
      if (i % 7 == 0) driver().cuStreamSynchronize(stream_);
    }
    EXPECT_EQ(run(race), fastest);
    EXPECT_EQ(graphs(), fastest ? 1 : 0);
    EXPECT_EQ(race.needs_no_graph(), fastest == nullptr);
  }

  CUstream stream_ = nullptr;
};

TEST_F(GraphRaces, KeepTheFastestGraph) {
  auto* const fastest = graph(1);
  expect_to_stay(fastest, {graph(3), fastest, nullptr});
}

TEST_F(GraphRaces, KeepNoGraphWhereARunIsFasterWithout) { expect_to_stay(nullptr, {graph(3), graph(2.5F), nullptr}); }

TEST_F(GraphRaces, RunEachWayInTurnUntilThen) {
  GraphRace race;
  CUgraphExec ways[] = {graph(3), graph(1), nullptr};
  for (auto* const way : ways) race.add(way);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(run(race), ways[i % 3]);
  EXPECT_EQ(graphs(), 2);
}

TEST_F(GraphRaces, OfOneAreNone) {
  GraphRace race;
  auto* const only = graph(1);
  race.add(only);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(race), only);
}

TEST_F(GraphRaces, LeaveNoGraphBehind) {
  {
    GraphRace race;
    race.add(graph(1));
    race.add(graph(2));
    run(race);
  }
  EXPECT_EQ(graphs(), 0);
}

}  // namespace
}  // namespace burn::testing
