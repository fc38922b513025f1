// What kernels take beside tensors, on a device of little memory: it is counted like them, so that a session with too
// little is told so, and it goes when they are done.
#include <chrono>
#include <functional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cpu/cpu_backend.h"
#include "base/error.h"
#include "tests/backends/test_device.h"

namespace burn::testing {
namespace {

using ir::DType;
using ::testing::HasSubstr;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

struct Case {
  const char* name;
  std::function<ir::Ref(ir::ProgramBuilder&)> result;
  std::uint64_t enough;  // MiB
  std::uint64_t too_little;
};

ir::Ref full(ir::ProgramBuilder& builder, const ir::Shape& shape, DType dtype = DType::f32) {
  auto x =
      value_or_throw(builder.add(ir::is_floating(dtype) ? ir::Constant{dtype, 0, 1.0} : ir::Constant{dtype, 0, 0}, {}));
  x = value_or_throw(builder.add(ir::Reshape{ir::Shape::filled(shape.rank(), 1)}, {&x, 1}));
  return value_or_throw(builder.add(ir::Expand{shape}, {&x, 1}));
}
template <typename Op>
ir::Ref first_of(ir::ProgramBuilder& builder, const Op& op, const std::vector<ir::Ref>& operands) {
  return value_or_throw(builder.add(op, operands));
}
ir::Program sum_of(const Case& of) {
  ir::ProgramBuilder builder;
  const auto y = of.result(builder);
  ir::Dims axes;
  for (int i = 0; i < builder.type_of(y).shape.rank(); ++i) axes.push_back(i);
  const auto sum = value_or_throw(builder.add(ir::Reduce{ir::ReduceFn::sum, axes}, {&y, 1}));
  return builder.finish({sum});
}

std::vector<Case> cases() {
  return {
      {"tables of a transform of a long line",
       [](auto& b) {
         const auto x = full(b, {1 << 18});
         return first_of(b, ir::Fft{}, {x, x});
       },
       32, 12},
      {"the convolution of a transform of prime length",
       [](auto& b) {
         const auto x = full(b, {65537});
         return first_of(b, ir::Fft{}, {x, x});
       },
       64, 16},
      {"weights of a long line that is resized",
       [](auto& b) {
         return first_of(b, ir::Interpolate{.output_size = {1 << 18}, .mode = ir::InterpolateMode::lanczos3},
                         {full(b, {1, 1, 4})});
       },
       64, 12},
      {"what singular values are worked out in",
       [](auto& b) {
         return first_of(b, ir::Svd{}, {full(b, {250, 250})});
       },
       12, 1},
      {"what eigenvalues are worked out in",
       [](auto& b) {
         return first_of(b, ir::Eigh{}, {full(b, {250, 250}, DType::f64)});
       },
       12, 1},
  };
}

class Scratch : public ::testing::Test {
 protected:
  static std::shared_ptr<backends::Backend> of(std::uint64_t mib) {
    return value_or_throw(backends::open_cpu_backend({.limit = mib * kMiB}));
  }
};

TEST_F(Scratch, IsCountedAndTooLittleOfItIsAnError) {
  for (const auto& one : cases()) {
    SCOPED_TRACE(one.name);
    TestDevice enough(of(one.enough)), too_little(of(one.too_little));
    const auto sum = run_program(enough, sum_of(one), {});
    EXPECT_TRUE(sum.ok()) << sum.status().to_string();
    EXPECT_EQ(enough.backend().memory().in_use, 0u);
    const auto refused = run_program(too_little, sum_of(one), {});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status().code(), StatusCode::resource_exhausted);
    EXPECT_THAT(refused.status().message(), HasSubstr("bytes wanted"));
    EXPECT_EQ(too_little.backend().memory().in_use, 0u);
  }
}

TEST_F(Scratch, ThatIsKeptForNextTimeHasAnEnd) {
  TestDevice device(of(64));
  std::vector<std::shared_ptr<backends::Executable>> kept;
  for (std::int64_t n = 20'000; n < 20'400; n += 10) {  // plans stay, their tables need not
    ir::ProgramBuilder builder;
    const auto x = full(builder, {n});
    const auto y = first_of(builder, ir::Fft{}, {x, x});
    const auto sum = value_or_throw(builder.add(ir::Reduce{ir::ReduceFn::sum, {0}}, {&y, 1}));
    kept.push_back(value_or_throw(device.compile(builder.finish({sum}))));
    const auto ran = device.run(kept.back(), {});
    ASSERT_TRUE(ran.ok()) << ran.status().to_string();
    EXPECT_TRUE(ran->failures.empty()) << ran->failures[0]->to_string();
  }
  device.backend().trim(0, std::chrono::milliseconds{0});
  EXPECT_TRUE(device.backend().host_block(60 * kMiB).ok()) << "all of it is there for others";
}

// However many of them a shape names.
TEST_F(Scratch, EmptyTensorsCostNothing) {
  constexpr auto kMany = std::int64_t{1} << 58;
  TestDevice device(of(64));
  const auto run = [&](auto result) {
    ir::ProgramBuilder builder;
    const auto y = result(builder);
    const auto ran = run_program(device, builder.finish({y}), {});
    EXPECT_TRUE(ran.ok()) << ran.status().to_string();
  };
  for (const ir::Shape& shape : {ir::Shape{kMany, 0, 0}, {kMany, 0, 1}, {kMany, 1, 0}}) {
    run([&](auto& b) { return first_of(b, ir::Qr{}, {full(b, shape)}); });
    run([&](auto& b) { return first_of(b, ir::Svd{}, {full(b, shape)}); });
  }
  for (const ir::Shape& shape : {ir::Shape{kMany, 0}, {0, kMany}}) {
    for (const std::int64_t axis : {0, 1}) {
      run([&](auto& b) {
        const auto x = full(b, shape);
        return first_of(b, ir::Scatter{.axis = axis}, {x, full(b, shape, DType::i64), x});
      });
    }
  }
}

}  // namespace
}  // namespace burn::testing
