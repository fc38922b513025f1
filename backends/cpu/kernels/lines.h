// A row-major array as lines along one axis: [outer, size, inner], where elements of a line are `inner` apart.
#pragma once

#include <cstdint>

#include "backends/cpu/runtime/parallel.h"
#include "backends/interrupt.h"
#include "ir/types/shape.h"

namespace burn::backends::cpu {

struct Lines {
  std::int64_t outer = 1, size = 1, inner = 1;

  Lines(const ir::Shape& shape, std::int64_t axis) {
    for (int i = 0; i < shape.rank(); ++i) (i < axis ? outer : i == axis ? size : inner) *= shape[i];
  }

  std::int64_t count() const { return outer * inner; }
  // The first element of line k.
  std::int64_t start(std::int64_t k) const { return k / inner * size * inner + k % inner; }

  // Calls body(k) for every line, on several threads.
  template <typename Body>
  void for_each(const Body& body) const {
    parallel_for(count(), kGrain / (4 * (size + 1)) + 1, [&](std::int64_t begin, std::int64_t end) {
      InterruptMeter meter;
      for (std::int64_t k = begin; k < end; ++k) {
        meter.add(size);
        body(k);
      }
    });
  }
};

}  // namespace burn::backends::cpu
