// Whether this is built with the address or the thread sanitizer, which need ten times the time and memory.
#pragma once

namespace burn::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace burn::test
