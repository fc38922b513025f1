#include "compile/codegen/dialects/spirv_parameters.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "compile/codegen/kernel/writer.h"

namespace burn::compile {
namespace {

using ir::DType;
using kernel::Code;
using kernel::Value;

class LoadPoints : public ::testing::Test {
 protected:
  // Of the instruction that a parameter is loaded before.
  Code code_before(std::uint64_t parameter) {
    const auto made = writer_.take();
    const auto points = spirv::load_points(made);
    const auto found =
        std::ranges::find_if(points, [&](const auto& of) { return std::ranges::find(of, parameter) != of.end(); });
    if (found == points.end()) return Code::end_when;  // before which nothing is loaded
    return made.body[static_cast<std::size_t>(found - points.begin())].code;
  }

  kernel::Writer writer_{64};
  const kernel::Memory x_ = writer_.address(DType::f32);  // parameter 0
  const Value number_ = writer_.number(DType::i32);       // parameter 1
};

TEST_F(LoadPoints, AreBeforeTheFirstUse) {
  writer_.barrier();
  const Value more = number_ + 1;
  writer_.store(x_, more * number_, writer_.constant(DType::f32, 1.0));
  EXPECT_EQ(code_before(1), Code::add);
}

TEST_F(LoadPoints, OfWhatIsUsedInALoopAreBeforeIt) {
  const auto sum = writer_.variable(writer_.constant(DType::i32, std::int64_t{0}));
  writer_.loop(writer_.constant(DType::i32, std::int64_t{8}),
               [&](Value i) { writer_.when(i < 4, [&] { sum.set(sum.get() + number_); }); });
  writer_.store(x_, sum.get(), writer_.constant(DType::f32, 1.0));
  EXPECT_EQ(code_before(1), Code::loop);
}

TEST_F(LoadPoints, OfWhatIsUsedAfterALoopAreAfterIt) {
  const auto sum = writer_.variable(writer_.constant(DType::i32, std::int64_t{0}));
  writer_.loop(writer_.constant(DType::i32, std::int64_t{8}), [&](Value i) { sum.set(sum.get() + i); });
  writer_.store(x_, sum.get(), writer_.constant(DType::f32, 1.0));
  EXPECT_EQ(code_before(0), Code::store);
}

TEST_F(LoadPoints, OfWhatOneBranchUsesAreInIt) {
  const auto sum = writer_.variable(writer_.constant(DType::i32, std::int64_t{0}));
  writer_.when(
      sum.get() < 4, [&] { sum.set(sum.get() + 1); }, [&] { sum.set(sum.get() * number_); });
  EXPECT_EQ(code_before(1), Code::mul);
}

TEST_F(LoadPoints, OfWhatBothBranchesUseAreBeforeThem) {
  const auto sum = writer_.variable(writer_.constant(DType::i32, std::int64_t{0}));
  writer_.when(
      sum.get() < 4, [&] { sum.set(sum.get() + number_); }, [&] { sum.set(sum.get() * number_); });
  EXPECT_EQ(code_before(1), Code::when);
}

TEST_F(LoadPoints, OfWhatIsNotUsedAreNone) {
  writer_.store(x_, writer_.index(0), writer_.constant(DType::f32, 1.0));
  EXPECT_EQ(code_before(1), Code::end_when);
}

}  // namespace
}  // namespace burn::compile
