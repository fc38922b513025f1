// What waits for what in a graph: every order that it allows does what the program's order does. The device is
// simulated: memory in which each byte knows what wrote it.
#include "compile/lower/hazards.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <ranges>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/plan/arena.h"
#include "compile/plan/plan.h"
#include "compile/plan/views.h"
#include "compile/rewrite/simplify.h"
#include "tests/compile/training_step.h"

namespace burn::testing {
namespace {

using compile::critical_path;
using compile::MemoryUse;
using compile::order_commands;
using compile::Predecessors;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Uses = std::vector<std::vector<MemoryUse>>;

MemoryUse reads(std::uint64_t begin, std::uint64_t end) { return {begin, end, false}; }
MemoryUse writes(std::uint64_t begin, std::uint64_t end) { return {begin, end, true}; }

TEST(Ordering, WaitsForWhatWasWritten) {
  const auto order = compile::order_commands(Uses{{writes(0, 8)}, {writes(8, 16)}, {reads(4, 12)}, {reads(0, 4)}});
  EXPECT_THAT(order, ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(1, 0), ElementsAre(0)));
}

TEST(Ordering, WaitsForReadersOfWhatItWritesOver) {
  const auto order = compile::order_commands(Uses{{reads(0, 8)}, {reads(4, 6)}, {writes(5, 9)}, {reads(0, 5)}});
  EXPECT_THAT(order, ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(1, 0), IsEmpty()));
}

TEST(Ordering, WaitsForWritersOfWhatItWritesOver) {
  const auto order = compile::order_commands(Uses{{writes(0, 8)}, {writes(8, 12)}, {writes(7, 9)}});
  EXPECT_THAT(order, ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(1, 0)));
}

TEST(Ordering, WaitsForEachCommandOnce) {
  const auto order = compile::order_commands(
      Uses{{writes(0, 8)}, {reads(0, 8), writes(8, 16)}, {reads(0, 8), reads(8, 16), writes(16, 24)}});
  EXPECT_THAT(order, ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(1)));
}

TEST(Ordering, LooksAtBytesAndAtNoneOfWhatIsEmpty) {
  const auto order = compile::order_commands(Uses{{writes(0, 8), writes(4, 4)}, {reads(4, 4)}, {}, {writes(8, 8)}});
  EXPECT_THAT(order, ElementsAre(IsEmpty(), IsEmpty(), IsEmpty(), IsEmpty()));
}

TEST(Ordering, FindsTheLongestWay) {
  const Predecessors order{{}, {0}, {0}, {2, 1}, {}};
  EXPECT_EQ(compile::critical_path(order, std::vector<double>{1, 5, 2, 1, 3}), 7);
  EXPECT_EQ(compile::critical_path(order, std::vector<double>{1, 1, 1, 1, 30}), 30);
  EXPECT_EQ(compile::critical_path({}, {}), 0);
}

// --- against all that may be seen of an order ------------------------------------------------------------------------

constexpr std::uint64_t kBytes = 40;

Uses random_uses(std::mt19937& random) {
  const auto below = [&](std::uint64_t n) { return random() % n; };
  Uses uses(2 + below(30));
  for (auto& of_command : uses) {
    of_command.resize(below(5));
    for (auto& use : of_command) {
      use.begin = below(kBytes);
      use.end = std::min(kBytes, use.begin + below(7));
      use.is_written = below(3) == 0;
    }
  }
  return uses;
}

// Executes the commands in the order; returns a hash of the memory that each command read, then the final memory.
std::vector<std::uint64_t> execute_in(const Uses& uses, std::span<const std::size_t> order) {
  std::vector<std::uint64_t> memory(kBytes, 1), seen(uses.size());
  for (const auto i : order) {
    std::uint64_t hash = i + 1;
    for (const auto& use : uses[i]) {  // what is written may be read, too
      for (auto at = use.begin; at < use.end; ++at) hash = (hash ^ memory[at]) * 0x9e3779b97f4a7c15;
    }
    for (const auto& use : uses[i]) {
      for (auto at = use.begin; use.is_written && at < use.end; ++at) memory[at] = hash + at;
    }
    seen[i] = hash;
  }
  seen.insert(seen.end(), memory.begin(), memory.end());
  return seen;
}

// A random order that the graph allows.
std::vector<std::size_t> allowed_order(const Predecessors& predecessors, std::mt19937& random) {
  std::vector<std::size_t> order;
  std::vector<bool> is_done(predecessors.size());
  while (order.size() < predecessors.size()) {
    const auto i = random() % predecessors.size();
    const auto may_begin = std::ranges::all_of(
        predecessors[i], [&](std::int32_t other) { return is_done[static_cast<std::size_t>(other)]; });
    if (is_done[i] || !may_begin) continue;
    is_done[i] = true;
    order.push_back(i);
  }
  return order;
}

bool conflict(const std::vector<MemoryUse>& a, const std::vector<MemoryUse>& b) {
  for (const auto& x : a) {
    for (const auto& y : b) {
      const bool meet = std::max(x.begin, y.begin) < std::min(x.end, y.end);
      if (meet && (x.is_written || y.is_written)) return true;
    }
  }
  return false;
}

TEST(Ordering, AllowsNothingThatCanBeToldFromTheProgramsOrder) {
  std::mt19937 random(7);
  std::size_t waits = 0;
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE(round);
    const auto uses = random_uses(random);
    const auto predecessors = compile::order_commands(uses);
    std::vector<std::size_t> in_order(uses.size());
    for (std::size_t i = 0; i < in_order.size(); ++i) in_order[i] = i;
    const auto expected = execute_in(uses, in_order);
    for (int k = 0; k < 8; ++k) ASSERT_EQ(execute_in(uses, allowed_order(predecessors, random)), expected);
    for (const auto& of : predecessors) waits += of.size();
  }
  EXPECT_GT(waits, 1000u);
}

// Neither does anything wait without a reason: of each two, one comes before the other where a way of conflicts says
// so, and an edge is there only where no longer way is.
TEST(Ordering, WaitsForNoMoreThanItHasTo) {
  std::mt19937 random(8);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const auto uses = random_uses(random);
    const auto n = uses.size();
    const auto predecessors = compile::order_commands(uses);
    std::vector<std::vector<bool>> has_to(n, std::vector<bool>(n));  // i after j
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i; j-- > 0;) {
        if (!conflict(uses[i], uses[j])) continue;
        has_to[i][j] = true;
        for (std::size_t k = 0; k < j; ++k) has_to[i][k] = has_to[i][k] || has_to[j][k];
      }
      for (std::size_t j = 0; j < i; ++j) {
        const bool is_through = std::ranges::any_of(std::views::iota(j + 1, i),
                                                    [&](std::size_t k) { return has_to[i][k] && has_to[k][j]; });
        const bool is_edge = std::ranges::find(predecessors[i], static_cast<std::int32_t>(j)) != predecessors[i].end();
        ASSERT_EQ(is_edge, has_to[i][j] && !is_through) << i << " after " << j;
      }
    }
  }
}

// --- how much there is to gain
// ----------------------------------------------------------------------------------------

TEST(Ordering, FindsMoreWhereBlocksAreApart) {
  const compile::Lifetime lifetimes[] = {{512, 0, 1}, {300, 1, 2}, {512, 2, 3}, {0, 3, 3}};
  const auto shared = compile::plan_arena(lifetimes);
  EXPECT_EQ(shared.bytes, 1024u);
  EXPECT_EQ(shared.offsets[0], shared.offsets[2]);
  const auto apart = compile::plan_arena(lifetimes, {.most = 1536});
  EXPECT_EQ(apart.bytes, 1536u);
  EXPECT_THAT(apart.offsets, ElementsAre(0, 512, 1024, 1536));
  EXPECT_EQ(compile::plan_arena(lifetimes, {.most = 1535}).offsets, shared.offsets);
  const auto later = compile::plan_arena(lifetimes, {.most = 1535, .steps = 1, .extra = 512});
  EXPECT_EQ(later.bytes, 1536u);
  EXPECT_NE(later.offsets[0], later.offsets[2]);
  EXPECT_EQ(compile::plan_arena(lifetimes, {.most = 1535, .steps = 1, .extra = 511}).offsets, shared.offsets);
}

TEST(Arena, NoLifetimeLiesInTwoPages) {
  constexpr std::uint64_t kPage = 2048;
  std::mt19937 random(5);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<compile::Lifetime> lives;
    for (int k = 0; k < 40; ++k) {
      const auto first = static_cast<std::int32_t>(random() % 20);
      lives.push_back({random() % (kPage + 1), first, first + static_cast<std::int32_t>(random() % 8)});
    }
    for (const std::uint64_t most : {std::uint64_t{0}, std::uint64_t{1} << 20}) {
      const auto plan = compile::plan_arena(lives, {.most = most, .steps = 1, .extra = 4096}, kPage);
      for (std::size_t i = 0; i < lives.size(); ++i) {
        if (lives[i].bytes == 0) continue;
        const auto begin = static_cast<std::uint64_t>(plan.offsets[i]), end = begin + lives[i].bytes;
        ASSERT_EQ(begin / kPage, (end - 1) / kPage) << begin << " to " << end;
        ASSERT_LE(end, plan.bytes);
        for (std::size_t j = 0; j < i; ++j) {
          const auto other = static_cast<std::uint64_t>(plan.offsets[j]);
          const bool at_once = lives[j].first <= lives[i].last && lives[i].first <= lives[j].last;
          if (at_once && lives[j].bytes > 0) {
            ASSERT_TRUE(other + lives[j].bytes <= begin || end <= other);
          }
        }
      }
    }
  }
  // What is larger than a page begins one.
  const compile::Lifetime large[] = {{100, 0, 1}, {5000, 0, 1}};
  EXPECT_EQ(compile::plan_arena(large, kPage).offsets[1] % kPage, 0);
}

// A training step, values in the order of the plan, each where `offsets` says or in bytes of its own; what is updated
// takes its old self's place. A product takes 7 us and anything else 2.5, about what an H200 takes for small ones.
struct Times {
  double one_after_the_other = 0, shared = 0, later = 0, apart = 0;
};

Times times_of(const ir::Program& program) {
  const auto plan = compile::make_plan(program, {.epilogues = true});
  const auto views = compile::find_views(program);
  std::vector<compile::Lifetime> lives(program.values.size());
  std::vector<double> costs;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const auto& step = plan.steps[s];
    const bool multiplies =
        step.product >= 0 ||
        (step.group < 0 && ir::name(program.nodes[static_cast<std::size_t>(step.node)].op) == "matmul");
    costs.push_back(multiplies ? 7 : 2.5);
    for (const auto ref : step.results) {
      const auto v = static_cast<std::size_t>(ref.index());
      if (views[v].base != ref) continue;
      const auto last = plan.value_last_use[v];
      const auto end = static_cast<std::int32_t>(plan.steps.size());
      lives[v] = {program.type_of(ref).num_bytes(), static_cast<std::int32_t>(s), std::min(last < 0 ? end : last, end)};
    }
  }
  constexpr std::uint64_t kInput = std::uint64_t{1} << 40;  // from one input to the next
  const auto time = [&](const compile::ArenaPlan& arena) {
    Uses uses;
    const auto use = [&](ir::Ref ref, bool is_written) -> MemoryUse {
      const auto base = ref.is_input() ? ref : views[static_cast<std::size_t>(ref.index())].base;
      const auto index = static_cast<std::size_t>(base.index());
      auto begin = base.is_input() ? kInput * (1 + index) : static_cast<std::uint64_t>(arena.offsets[index]);
      const auto output = std::ranges::find(program.outputs, base) - program.outputs.begin();
      const auto count = static_cast<std::ptrdiff_t>(program.outputs.size());
      if (!base.is_input() && output > 0 && output < count) begin = kInput * static_cast<std::uint64_t>(2 + output);
      return {begin, begin + program.type_of(base).num_bytes(), is_written};
    };
    for (const auto& step : plan.steps) {
      auto& here = uses.emplace_back();
      for (const auto ref : step.reads) here.push_back(use(ref, false));
      for (const auto ref : step.results) here.push_back(use(ref, true));
    }
    return compile::critical_path(compile::order_commands(uses), costs);
  };
  return {std::accumulate(costs.begin(), costs.end(), 0.0), time(compile::plan_arena(lives)),
          time(compile::plan_arena(lives, {.steps = 4, .extra = kInput})),
          time(compile::plan_arena(lives, {.most = kInput}))};
}

TEST(Ordering, OfATrainingStepLeavesMuchToDoAtTheSameTime) {
  const auto program = TrainingStep({.batch = 64, .sizes = {784, 512, 512, 10}}).program();
  const auto times = times_of(compile::simplify(program, true));
  EXPECT_LT(times.apart, 0.75 * times.one_after_the_other);
  EXPECT_LE(times.apart, times.later);
  EXPECT_LT(times.later, times.shared);
  EXPECT_LE(times.shared, times.one_after_the_other);
  RecordProperty("one_after_the_other", std::to_string(times.one_after_the_other));
  RecordProperty("shared", std::to_string(times.shared));
  RecordProperty("later", std::to_string(times.later));
  RecordProperty("apart", std::to_string(times.apart));
}

}  // namespace
}  // namespace burn::testing
