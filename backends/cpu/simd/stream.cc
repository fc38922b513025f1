#include "backends/cpu/simd/stream.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <unistd.h>

#include "base/settings.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/stream.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kLine = 64;

// Streams whole cache lines; a line that another copy also writes to goes through the cache.
void copy_lines(void* to, const void* from, std::size_t bytes) {
  const hn::ScalableTag<std::uint8_t> u8;
  auto* y = static_cast<std::uint8_t*>(to);
  const auto* x = static_cast<const std::uint8_t*>(from);
  const std::size_t head = std::min(bytes, (kLine - reinterpret_cast<std::uintptr_t>(y) % kLine) % kLine);
  std::memcpy(y, x, head);
  std::size_t i = head;
  for (; i + kLine <= bytes; i += kLine) {
    for (std::size_t k = 0; k < kLine; k += hn::Lanes(u8)) hn::Stream(hn::LoadU(u8, x + i + k), u8, y + i + k);
  }
  std::memcpy(y + i, x + i, bytes - i);
}

}  // namespace
}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace burn::backends::cpu {
HWY_EXPORT(copy_lines);

std::size_t streamed_from_bytes() {
  if (const auto wanted = numeric_setting(Setting::stream_bytes)) return *wanted;
  static const long last_cache = ::sysconf(_SC_LEVEL3_CACHE_SIZE);  // 0 or -1 where it is not known
  return last_cache > 0 ? static_cast<std::size_t>(last_cache) * 2 : std::size_t{64} << 20;
}

void stream_copy(void* to, const void* from, std::size_t bytes) { HWY_DYNAMIC_DISPATCH(copy_lines)(to, from, bytes); }
void finish_streaming() { hwy::FlushStream(); }

}  // namespace burn::backends::cpu
#endif
