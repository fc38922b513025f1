// The functions of one number as a device computes them: all f16, and f32 from every part of its range, against the C
// library's of f64. Prints the greatest error of each. Denormals that a driver flushes to 0 are counted and left out.
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/vulkan/driver/adapters.h"
#include "backends/vulkan/runtime/vulkan_backend.h"
#include "base/error.h"
#include "tests/backends/test_device.h"

namespace burn::backends::vulkan {
namespace {

using ir::DType;
using ir::PointwiseFn;
using reference::Tensor;

struct Function {
  PointwiseFn fn;
  double (*exact)(double);
};
constexpr Function kFunctions[] = {
    {PointwiseFn::exp, std::exp},
    {PointwiseFn::expm1, std::expm1},
    {PointwiseFn::log, std::log},
    {PointwiseFn::log1p, std::log1p},
    {PointwiseFn::sqrt, std::sqrt},
    {PointwiseFn::rsqrt, [](double x) { return 1 / std::sqrt(x); }},
    {PointwiseFn::recip, [](double x) { return 1 / x; }},
    {PointwiseFn::sin, std::sin},
    {PointwiseFn::cos, std::cos},
    {PointwiseFn::tan, std::tan},
    {PointwiseFn::sinh, std::sinh},
    {PointwiseFn::cosh, std::cosh},
    {PointwiseFn::tanh, std::tanh},
    {PointwiseFn::asin, std::asin},
    {PointwiseFn::acos, std::acos},
    {PointwiseFn::atan, std::atan},
    {PointwiseFn::asinh, std::asinh},
    {PointwiseFn::acosh, std::acosh},
    {PointwiseFn::atanh, std::atanh},
    {PointwiseFn::erf, std::erf},
    {PointwiseFn::floor, std::floor},
    {PointwiseFn::ceil, std::ceil},
    {PointwiseFn::round, std::nearbyint},
    {PointwiseFn::trunc, std::trunc},
};

struct Format {
  int mantissa, least, most;  // bits; exponents of the least normal number and of what is too large
};
Format format_of(DType dtype) { return dtype == DType::f16 ? Format{10, -14, 16} : Format{23, -126, 128}; }

// The distance of two numbers in units of the last place of the exact one; infinite where one alone is NaN, or zeros
// have different signs. What is too large counts as the first number that is.
double units(DType dtype, double got, double exact) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  if (std::isnan(got) || std::isnan(exact)) return std::isnan(got) && std::isnan(exact) ? 0 : kWrong;
  if (got == exact) return std::signbit(got) == std::signbit(exact) ? 0 : kWrong;
  const auto format = format_of(dtype);
  const double large = std::ldexp(1.0, format.most);
  const auto bounded = [&](double x) { return std::fabs(x) > large ? std::copysign(large, x) : x; };
  const double to = bounded(exact);
  const int exponent = to == 0 ? format.least : std::max(std::ilogb(to), format.least);
  return std::fabs(bounded(got) - to) / std::ldexp(1.0, std::min(exponent, format.most - 1) - format.mantissa);
}

class VulkanFunctions : public ::testing::Test {
 protected:
  void SetUp() override {
    auto backend = open_vulkan_backend(0);
    if (!backend.ok()) GTEST_SKIP() << backend.status().message();
    device_.emplace(std::shared_ptr<Backend>(*std::move(backend)));
    std::printf("  %s\n", value_or_throw(usable_adapters()).front().name.c_str());
    Tensor tiny(ir::TensorType{DType::f32, {1}});
    tiny.set(0, 1e-40);
    flushes_ = compute(PointwiseFn::sqrt, tiny).get<double>(0) == 0;
  }

  // NOLINTBEGIN(bugprone-unchecked-optional-access): SetUp() has made the device, or skipped the test
  Tensor compute(PointwiseFn fn, const Tensor& x) {
    auto& executable = executables_[{fn, x.type.dtype, x.size()}];
    if (!executable) {
      ir::ProgramBuilder builder;
      const auto in = builder.add_input(x.type);
      executable = value_or_throw(device_->compile(
          builder.finish({value_or_throw(builder.add(ir::Pointwise{fn}, std::vector{in}, {"test.cc", 1}))})));
    }
    RunArgs args;
    args.inputs.push_back(value_or_throw(device_->upload(x)));
    const auto result = value_or_throw(device_->run(executable, std::move(args)));
    return value_or_throw(device_->download(result.outputs[0], x.type));
  }
  // NOLINTEND(bugprone-unchecked-optional-access)

  // Numbers come in parts, `part(k)`, of one size. `most`: units.
  void check(DType dtype, std::size_t parts, const std::function<Tensor(std::size_t)>& part, double most) {
    for (const auto& [fn, exact] : kFunctions) {
      double worst = 0, at = 0, got_there = 0;
      std::size_t flushed = 0, count = 0;
      for (std::size_t p = 0; p < parts; ++p) {
        const auto x = part(p), y = compute(fn, x);
        for (std::size_t i = 0; i < x.size(); ++i) {
          const double in = x.get<double>(i), out = exact(in), got = y.get<double>(i);
          ++count;
          if (flushes_ && dtype == DType::f32 && (is_denormal(in) || is_denormal(out))) {
            ++flushed;
            continue;
          }
          if (const double error = units(dtype, got, out); error > worst) worst = error, at = in, got_there = got;
        }
      }
      std::printf("  %-6s %s: at most %.2f units of %zu numbers%s\n", std::string(ir::name(fn)).c_str(),
                  std::string(ir::name(dtype)).c_str(), worst, count,
                  flushed > 0 ? fmt::format(", {} of them denormals that are flushed", flushed).c_str() : "");
      EXPECT_LE(worst, most) << fmt::format("{}({}) = {} instead of {}", ir::name(fn), at, got_there, exact(at));
    }
  }

  // Of 2^20 numbers at most: zeros, infinities, NaN, the largest and least, multiples of pi / 4; then one of each of as
  // many equal parts of all bits; then as many up to 16, and near 1.
  static Tensor some_f32(std::size_t count, std::size_t part, std::size_t parts) {
    using Limits = std::numeric_limits<float>;
    Tensor x(ir::TensorType{DType::f32, {static_cast<std::int64_t>(count)}});
    std::size_t i = 0;
    const auto put = [&](double number) {
      if (i < count) x.set(i++, number);
    };
    std::mt19937_64 random(part);
    for (const double special : {0.0, 0.5, 1.0, 2.0, 3.0, static_cast<double>(Limits::infinity()),
                                 static_cast<double>(Limits::quiet_NaN()), static_cast<double>(Limits::max()),
                                 static_cast<double>(Limits::min()), static_cast<double>(Limits::denorm_min())}) {
      put(special), put(-special);
    }
    for (int n = 1; n < 64; ++n) put(static_cast<float>(n * 0.78539816339744831));
    const std::size_t half = count / 2;
    const auto strata = static_cast<double>(half);
    for (std::size_t k = 0; k < half; ++k) {
      const double place = (static_cast<double>(k) + std::uniform_real_distribution<>()(random)) / strata;
      const auto width = 4294967296.0 / static_cast<double>(parts);
      const auto bits = static_cast<std::uint32_t>((static_cast<double>(part) + place) * width);
      put(std::bit_cast<float>(bits));
    }
    while (i < count) {
      put(std::uniform_real_distribution<float>(-16, 16)(random));
      put(std::uniform_real_distribution<float>(0.5F, 1.5F)(random));
    }
    return x;
  }

 private:
  static bool is_denormal(double x) { return x != 0 && std::fabs(x) <= std::numeric_limits<float>::min(); }

  std::optional<testing::TestDevice> device_;
  std::map<std::tuple<PointwiseFn, DType, std::size_t>, std::shared_ptr<Executable>> executables_;
  bool flushes_ = false;
};

TEST_F(VulkanFunctions, OfAllF16AreRoundedOnce) {
  Tensor all(ir::TensorType{DType::f16, {65536}});
  std::vector<std::uint16_t> bits(65536);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  auto x = reference::from_bytes(all.type, std::as_bytes(std::span(bits)));
  check(
      DType::f16, 1, [&](std::size_t) { return x; }, 0.502);
}

TEST_F(VulkanFunctions, OfF32AreWithinFourUnits) {
  check(
      DType::f32, 1, [](std::size_t) { return some_f32(std::size_t{1} << 18, 0, 1); }, 4);
}

// Run by the slow label.
TEST_F(VulkanFunctions, DISABLED_Of16MillionF32AreWithinFourUnits) {
  constexpr std::size_t kParts = 16;
  check(
      DType::f32, kParts, [](std::size_t part) { return some_f32(std::size_t{1} << 20, part, kParts); }, 4);
}

}  // namespace
}  // namespace burn::backends::vulkan
