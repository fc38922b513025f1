// Converts the 16-bit floats to and from float, in integer arithmetic that vectorises on any machine.
namespace burn::backends::cpu::BURN_ISA {
namespace {

[[gnu::always_inline]] inline float widen(BFloat16 x) { return static_cast<float>(x); }

[[gnu::always_inline]] inline float widen(Half x) {
  const std::uint32_t magnitude = x.bits & 0x7fffu;
  // The exponent's bias changes by 112; the product also normalises subnormals.
  const auto scaled = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude << 13) * 0x1p112f);
  const std::uint32_t value = magnitude >= 0x7c00u ? scaled | 0x7f800000u : scaled;  // infinity and NaN
  return std::bit_cast<float>(value | (x.bits & 0x8000u) << 16);
}

template <typename T>
[[gnu::always_inline]] inline T narrow(float x) {
  return T(x);
}

// Rounds to nearest, ties to even.
template <>
[[gnu::always_inline]] inline Half narrow<Half>(float x) {
  constexpr std::uint32_t kInfinity = 255u << 23, kTooLarge = (127u + 16) << 23, kSmallestNormal = 113u << 23;
  constexpr std::uint32_t kShifter = (127u - 15 + 23 - 10 + 1) << 23;  // adding it lets the adder round a subnormal
  const auto bits = std::bit_cast<std::uint32_t>(x), magnitude = bits & 0x7fffffffu;
  const std::uint32_t normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + std::bit_cast<float>(kShifter)) - kShifter;
  const std::uint32_t special = magnitude > kInfinity ? 0x7e00u : 0x7c00u;
  const std::uint32_t finite = magnitude < kSmallestNormal ? subnormal : normal;
  Half result;
  result.bits = static_cast<std::uint16_t>((magnitude >= kTooLarge ? special : finite) | (bits >> 16 & 0x8000u));
  return result;
}

}  // namespace
}  // namespace burn::backends::cpu::BURN_ISA
