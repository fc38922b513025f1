// The shape rules of the ops whose tests are one file (tests/ops/op_case.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/catalogue.h"
#include "tests/ir/samples.h"
#include "tests/ops/op_case.h"

namespace burn::testing {
namespace {

TEST(OpCases, AreOpsWithAUseEach) {
  for (const auto& one : op_cases()) {
    EXPECT_TRUE(std::ranges::any_of(ir::catalogue(), [&](const auto& entry) { return entry.name == one.op; }))
        << one.op;
    EXPECT_FALSE(one.uses.empty()) << one.op;
    for (const auto& use : one.uses) EXPECT_EQ(ir::name(use.op), one.op);
  }
}

TEST(OpCases, GiveTheTypesOfTheirUses) {
  for (const auto& one : op_cases()) {
    for (const auto& use : one.uses)
      EXPECT_EQ(ir::inferred(use.op, use.operands), ir::to_string(std::span(use.results))) << ir::to_string(use.op);
  }
}

TEST(OpCases, RefuseWhatTheirConstraintsExclude) {
  for (const auto& one : op_cases()) {
    for (const auto& refusal : one.refusals) {
      const auto types = ir::infer_types(refusal.op, refusal.operands);
      ASSERT_FALSE(types.ok()) << ir::to_string(refusal.op) << " is taken: " << refusal.message;
      EXPECT_EQ(types.status().message(), refusal.message);
    }
  }
}

}  // namespace
}  // namespace burn::testing
