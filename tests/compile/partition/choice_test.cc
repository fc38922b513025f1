// Factors beside shape rules: a part of the operands gives that part of the results.
#include "compile/partition/choice.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/ir/samples.h"

namespace burn::compile::partition {
namespace {

constexpr int kMembers = 3;

class SampleNode {
 public:
  explicit SampleNode(const ir::Sample& sample) {
    ir::ProgramBuilder builder;
    std::vector<ir::Ref> operands;
    for (const auto& type : sample.operands) operands.push_back(builder.add_input(type));
    const auto ref = value_or_throw(builder.add(sample.op, operands));
    program_ = builder.finish({ref});
    forms_.assign(sample.operands.size(), &whole_);
  }
  const ir::Node& node() const { return program_.nodes[0]; }
  NodeForms forms() const { return NodeForms(program_, node(), forms_, kMembers); }

 private:
  ir::Program program_;
  Form whole_;
  std::vector<const Form*> forms_;
};

// What the shape rule gives for a member's parts is the member's part of the results, whose attributes fit it.
void expect_parts_fit(const SampleNode& sample, const Choice& choice) {
  const auto forms = sample.forms();
  for (int member = 0; member < kMembers; ++member) {
    std::vector<ir::TensorType> parts;
    for (std::size_t i = 0; i < forms.operand_count(); ++i)
      parts.push_back(part_of(forms.type(i), choice.operands[i].layout, member));
    if (!parts.empty() && chooses_from_nothing(sample.node().op, parts[0])) continue;
    const auto first = part_of(forms.result_type(0), choice.results[0].layout, member);
    const auto op = op_of_member(sample.node().op, first, choice.results[0], member);
    const auto types = ir::infer_types(op, parts);
    ASSERT_TRUE(types.ok()) << types.status().message();
    for (std::size_t k = 0; k < types->size(); ++k)
      EXPECT_EQ((*types)[k], part_of(forms.result_type(k), choice.results[k].layout, member)) << to_string(op);
  }
}

TEST(Choice, OfEveryFactorOfEverySampleFitsTheShapeRule) {
  int split = 0;
  for (const auto& of_op : ir::samples()) {
    SCOPED_TRACE(to_string(of_op.op));
    const SampleNode sample(of_op);
    const auto forms = sample.forms();
    for (std::size_t f = 0; f < forms.factors().size(); ++f) {
      const auto size = forms.factors()[f].size;
      for (const auto& bounds : {balanced(size, kMembers), Bounds{0, 0, size, size}}) {
        const auto choice = forms.along(f, bounds);
        if (!choice) continue;
        ++split;
        expect_parts_fit(sample, *choice);
      }
    }
  }
  EXPECT_GE(split, 500);
}

TEST(Choice, IsOfTheOutermostFactorOfADim) {
  const SampleNode sample({ir::Reshape{{6, 4}}, {{ir::DType::f32, {24}}}, {{ir::DType::f32, {6, 4}}}});
  const auto forms = sample.forms();
  const auto rows = forms.along_result(Layout::split(0, {0, 2, 3, 6}));
  ASSERT_TRUE(rows);
  EXPECT_EQ(to_string(rows->operands[0]), "split 0 at 0 8 12 24");
  EXPECT_FALSE(forms.along_result(Layout::split(1, {0, 1, 2, 4})));
  EXPECT_TRUE(forms.along_operand(0, Layout::split(0, {0, 4, 4, 24})));
  EXPECT_FALSE(forms.along_operand(0, Layout::split(0, {0, 6, 8, 24})));  // cuts a row
}

}  // namespace
}  // namespace burn::compile::partition
