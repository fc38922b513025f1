// Sums and products of narrow integers and bools in i64: the elements are read as they are, and nothing wraps.
#include "compile/rewrite/narrow_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/plan/recompute.h"
#include "tests/backends/column_sums.h"
#include "tests/backends/test_device.h"

namespace burn::testing {
namespace {

using ir::DType;
using ir::ReduceFn;
using Writer = ColumnSumsWriter;

constexpr DType kNarrow[] = {DType::bool_, DType::u8, DType::i8, DType::u16, DType::i16, DType::u32, DType::i32};

bool has_cast(const ir::Program& program) {
  return std::ranges::any_of(program.nodes, [](const auto& n) { return std::holds_alternative<ir::Cast>(n.op); });
}

TEST(NarrowSums, ReadWhatIsCast) {
  for (const auto dtype : kNarrow) {
    Writer w;
    const auto wide = w.add(ir::Cast{DType::i64}, {w.input(dtype, {100, 7})});
    const auto prepared = compile::prepare(w.finish({w.sum(wide, {0, 1}), w.add(ir::Reduce{ReduceFn::prod, {1}}, {wide})}),
                                  compile::PlanOptions{});
    EXPECT_FALSE(has_cast(prepared)) << ir::name(dtype);
    ASSERT_EQ(prepared.nodes.size(), 2u);
    for (const auto& node : prepared.nodes) {
      EXPECT_EQ(prepared.type_of(node).dtype, DType::i64);
      EXPECT_TRUE(prepared.operands_of(node)[0].is_input());
    }
  }
}

TEST(NarrowSums, LeaveTheCastToOtherReaders) {
  Writer w;
  const auto wide = w.add(ir::Cast{DType::i64}, {w.input(DType::u8, {100})});
  const auto prepared = compile::prepare(w.finish({w.sum(wide, {0}), w.add(ir::Reduce{ReduceFn::max, {0}}, {wide})}), {});
  EXPECT_TRUE(has_cast(prepared));
  EXPECT_EQ(prepared.nodes.size(), 3u);
}

TEST(NarrowSums, AreNotTakenForSumsInTheNarrowDtype) {
  Writer w;
  const auto x = w.input(DType::u8, {100});
  const auto prepared = compile::prepare(w.finish({w.sum(x, {0}), w.sum(w.add(ir::Cast{DType::i64}, {x}), {0})}), {});
  EXPECT_EQ(prepared.nodes.size(), 2u);
  EXPECT_NE(prepared.type_of(prepared.nodes[0]).dtype, prepared.type_of(prepared.nodes[1]).dtype);
}

TEST(NarrowSums, OfOtherConversionsReadWhatTheyGive) {
  Writer w;
  const auto x = w.input(DType::i16, {100}), y = w.input(DType::f32, {100}), z = w.input(DType::u64, {100});
  const auto sum_in = [&](DType dtype, ir::Ref of) { return w.sum(w.add(ir::Cast{dtype}, {of}), {0}); };
  const auto prepared = compile::prepare(
      w.finish({sum_in(DType::i32, x), sum_in(DType::f32, x), sum_in(DType::i64, y), sum_in(DType::i64, z)}), {});
  for (const auto& node : prepared.nodes) {
    if (!std::holds_alternative<ir::Reduce>(node.op)) continue;
    EXPECT_EQ(prepared.type_of(node).dtype, prepared.type_of(prepared.operands_of(node)[0]).dtype);
  }
}

class NarrowSumsOn : public ::testing::TestWithParam<backends::BackendKind> {
 protected:
  // The largest and the smallest number, and some between.
  static reference::Tensor numbers(const ir::TensorType& type) {
    reference::Tensor x(type);
    const bool is_signed = type.dtype == DType::i8 || type.dtype == DType::i16 || type.dtype == DType::i32;
    const auto bits = static_cast<int>(8 * ir::size_of(type.dtype)) - (is_signed ? 1 : 0);
    const auto largest = ir::is_bool(type.dtype) ? 1 : (std::int64_t{1} << bits) - 1;
    for (std::size_t i = 0; i < static_cast<std::size_t>(type.num_elements()); ++i) {
      const auto number = i % 5 == 0 ? largest / 3 : i % 11 == 0 && is_signed ? -largest - 1 : largest;
      if (ir::is_bool(type.dtype))
        x.set(i, i % 3 != 0);
      else
        x.set(i, number);
    }
    return x;
  }

  void check(const ir::Program& program) {
    std::vector<reference::Tensor> inputs;
    for (const auto& input : program.inputs) inputs.push_back(numbers(input.type));
    TestDevice device{GetParam().name};
    const auto expected = reference::evaluate(program, inputs);
    const auto actual = run_program(device, program, inputs);
    ASSERT_TRUE(actual.ok()) << actual.status().to_string();
    for (std::size_t k = 0; k < expected.size(); ++k)
      EXPECT_EQ(first_difference((*actual)[k], expected[k], 0), "") << "output " << k << "\n" << to_string(program);
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, NarrowSumsOn, ::testing::ValuesIn(computing_kinds()),
                         [](const auto& info) { return info.param.name; });

// Short and long runs, rows, columns, more than a part, and elements with others between them.
TEST_P(NarrowSumsOn, AreExact) {
  struct Case {
    ir::Shape shape;
    ir::Dims axes;
  };
  const Case cases[] = {{{1}, {0}},          {{63}, {0}},          {{300'001}, {0}},     {{5, 33'000}, {1}},
                        {{33'000, 5}, {0}},  {{33'000, 5}, {1}},   {{300, 700}, {0}},    {{300, 700}, {1}},
                        {{40, 30, 20}, {0}}, {{40, 30, 20}, {1}},  {{40, 30, 20}, {2}},  {{40, 30, 20}, {0, 2}},
                        {{0, 3}, {0}},       {{3, 1'000, 2}, {1}}, {{2, 70'000}, {0, 1}}};
  for (const auto dtype : kNarrow) {
    for (const auto& [shape, axes] : cases) {
      for (const auto fn : {ReduceFn::sum, ReduceFn::prod}) {
        Writer w;
        const auto x = w.input(dtype, shape);
        const auto y = w.add(ir::Reduce{fn, axes}, {w.add(ir::Cast{DType::i64}, {x})});
        check(w.finish({y}));
        if (HasFailure()) return;
      }
    }
    Writer w;
    const auto turned = w.add(ir::Permute{{2, 0, 1}}, {w.input(dtype, {30, 70, 50})});
    const auto wide = w.add(ir::Cast{DType::i64}, {turned});
    check(w.finish({w.sum(wide, {0}), w.sum(wide, {1}), w.sum(wide, {2}), w.sum(wide, {0, 1, 2})}));
  }
}

TEST_P(NarrowSumsOn, OfFormulasAreExact) {
  for (const ir::Shape& shape : {ir::Shape{300, 700}, ir::Shape{64, 3}, ir::Shape{20, 9000}}) {
    Writer w;
    const auto x = w.input(DType::u8, shape), y = w.input(DType::i16, shape);
    const auto is_less = w.add(ir::PointwiseFn::lower, {w.add(ir::Cast{DType::i16}, {x}), y});
    const auto counted = w.add(ir::Cast{DType::i64}, {is_less});
    const auto wide = w.add(ir::Cast{DType::i64}, {w.add(ir::PointwiseFn::add, {x, x})});
    const auto row = w.sum(wide, {1});
    check(w.finish({w.sum(counted, {1}), w.sum(counted, {0, 1}), row, w.sum(wide, {0}),
                    w.add(ir::PointwiseFn::add, {wide, w.expand(row, shape)})}));
  }
}

}  // namespace
}  // namespace burn::testing
