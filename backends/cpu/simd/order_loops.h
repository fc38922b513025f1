// Maps numbers to integers that sort in the same order. Compiled by cpu/simd/foreach.h.

namespace burn::backends::cpu::BURN_ISA {
namespace {

// keys[i] = the key of x[i * stride], with all bits XORed with `flip`: 0, or ~0 for the reverse order. Zeros of both
// signs have the same key, and all NaNs have the largest. `infinity`: for floats, its bits.
template <KeyKind kKind, typename U>
void keys_of(std::int64_t n, const U* __restrict__ x, std::int64_t stride, U infinity, U flip, U* __restrict__ keys) {
  constexpr U kSign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
  const auto key_of = [&](U bits) {
    if constexpr (kKind == KeyKind::whole) return static_cast<U>(bits ^ flip);
    if constexpr (kKind == KeyKind::with_sign) return static_cast<U>(bits ^ kSign ^ flip);
    const U magnitude = static_cast<U>(bits & ~kSign);
    U key = static_cast<U>((bits & kSign) != 0 ? ~bits : bits | kSign);
    key = magnitude == 0 ? kSign : key;
    key = magnitude > infinity ? static_cast<U>(~U{0}) : key;
    return static_cast<U>(key ^ flip);
  };
  if (stride == 1) {
    for (std::int64_t i = 0; i < n; ++i) keys[i] = key_of(x[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) keys[i] = key_of(x[i * stride]);
  }
}

template <typename U>
U least_of(std::int64_t n, const U* keys) {
  U least = static_cast<U>(~U{0});
  for (std::int64_t i = 0; i < n; ++i) least = keys[i] < least ? keys[i] : least;
  return least;
}

template <typename U>
KeysOf<U> find_keys_of(KeyKind kind) {
  switch (kind) {
    case KeyKind::whole:
      return &keys_of<KeyKind::whole, U>;
    case KeyKind::with_sign:
      return &keys_of<KeyKind::with_sign, U>;
    case KeyKind::floating:
      return &keys_of<KeyKind::floating, U>;
  }
  return nullptr;
}

}  // namespace
}  // namespace burn::backends::cpu::BURN_ISA
