// Fills memory of any size with zeros: a result may be as large as all memory, and a run must be able to end meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/interrupt.h"

namespace burn::backends::cpu {

// On the calling thread only.
template <typename T>
void fill_zeros(T* x, std::int64_t n) {
  constexpr std::int64_t kAtOnce = 1 << 18;
  InterruptMeter meter;
  for (std::int64_t done = 0; done < n; done += kAtOnce) {
    const auto some = std::min(kAtOnce, n - done);
    meter.add(some);
    std::fill_n(x + done, some, T{0});
  }
}

}  // namespace burn::backends::cpu
