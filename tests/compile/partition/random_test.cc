#include <cstdlib>
#include <map>

#include <gtest/gtest.h>

#include "tests/compile/partition/lockstep.h"
#include "tests/compile/partition/random_program.h"
#include "tests/ops/samples.h"

namespace burn::testing {
namespace {

// BURN_SEEDS=N for more.
std::uint32_t seeds() {
  const char* text = std::getenv("BURN_SEEDS");
  return text ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)) : 1000;
}

template <typename Lie>
std::string text_of(const ir::Program& program, const std::vector<Lie>& layouts,
                    const compile::partition::Partitioned& partitioned) {
  std::string text = to_string(program);
  for (std::size_t i = 0; i < layouts.size(); ++i)
    text += "in" + std::to_string(i) + " " + to_string(layouts[i]) + "\n";
  return text + to_string(partitioned);
}

TEST(RandomPrograms, GiveTheSameOnMembersAsOnOneDevice) {
  std::map<std::string, int> conversions;
  for (std::uint32_t seed = 0; seed < seeds(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto made = random_partition(seed);
    const reference::Bindings bindings{{}, seed, 0};
    const auto partitioned = compile::partition::partition(made.program, made.layouts, made.members, made.wanted);
    ASSERT_TRUE(partitioned.ok()) << partitioned.status().message() << "\n" << to_string(made.program);
    const auto expected = reference::evaluate(made.program, made.inputs, bindings);
    std::vector<reference::Tensor> actual;
    ASSERT_NO_THROW(actual = run_partitioned(made.program, *partitioned, made.layouts, made.inputs, bindings))
        << text_of(made.program, made.layouts, *partitioned);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      ASSERT_EQ(first_difference(actual[k], expected[k], 0), "") << "output " << k << "\n"
                                                                 << text_of(made.program, made.layouts, *partitioned);
      if (made.wanted[k]) {
        ASSERT_EQ(partitioned->outputs[k], *made.wanted[k]);
      }
    }
    for (const auto& conversion : partitioned->conversions) ++conversions[conversion.kind];
  }
  for (const auto* kind : {"all_reduce", "all_gather", "all_to_all", "reduce_scatter"})
    EXPECT_GE(conversions[kind], 20) << kind << ": these programs need too few of them to tell";
}

TEST(RandomPrograms, GiveTheSameOnAMeshOfTwoAxes) {
  std::map<std::pair<ir::MeshAxis, std::string>, int> conversions;
  for (std::uint32_t seed = 0; seed < seeds(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto made = random_partition(seed);
    const reference::Bindings bindings{{}, seed, 0};
    const auto partitioned =
        compile::partition::partition(made.program, made.mesh_layouts, made.mesh, made.mesh_wanted);
    ASSERT_TRUE(partitioned.ok()) << partitioned.status().message() << "\n" << to_string(made.program);
    const auto expected = reference::evaluate(made.program, made.inputs, bindings);
    std::vector<reference::Tensor> actual;
    ASSERT_NO_THROW(
        actual = run_partitioned(made.program, *partitioned, made.mesh, made.mesh_layouts, made.inputs, bindings))
        << text_of(made.program, made.mesh_layouts, *partitioned);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      ASSERT_EQ(first_difference(actual[k], expected[k], 0), "")
          << "output " << k << "\n"
          << text_of(made.program, made.mesh_layouts, *partitioned);
      if (made.mesh_wanted[k]) {
        ASSERT_EQ(partitioned->outputs[k], *made.mesh_wanted[k]);
      }
    }
    for (const auto& conversion : partitioned->conversions) ++conversions[{conversion.axis, conversion.kind}];
  }
  for (const auto axis : compile::partition::kMeshAxes) {
    for (const auto* kind : {"all_reduce", "all_gather", "all_to_all", "reduce_scatter"}) {
      EXPECT_GE((conversions[{axis, kind}]), 20)
          << kind << " along axis " << static_cast<int>(axis) << ": these programs need too few of them to tell";
    }
  }
}

TEST(RandomPrograms, ArePartitionedTheSameWayEachTime) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const auto made = random_partition(seed);
    const auto once = compile::partition::partition(made.program, made.layouts, made.members, made.wanted).value();
    const auto again = compile::partition::partition(made.program, made.layouts, made.members, made.wanted).value();
    ASSERT_EQ(once.members.size(), again.members.size());
    for (std::size_t m = 0; m < once.members.size(); ++m)
      EXPECT_TRUE(ir::same(*once.members[m], *again.members[m])) << "seed " << seed;
  }
}

}  // namespace
}  // namespace burn::testing
