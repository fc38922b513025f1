// Numbers whose sums are exact in every order, and a GPU that has what kernels of products ask for.
#pragma once

#include <cstddef>

#include "compile/codegen/kernel/device_facts.h"
#include "tests/reference/interpreter.h"

namespace burn::testing {

// Whole numbers from -2 to 2; `shift`: others in their place.
inline reference::Tensor small_numbers(ir::DType dtype, const ir::Shape& shape, std::size_t shift = 0) {
  reference::Tensor tensor({dtype, shape});
  for (std::size_t i = 0; i < tensor.size(); ++i) tensor.set(i, static_cast<double>((i * 7 + i / 5 + shift) % 5) - 2.0);
  return tensor;
}

inline compile::DeviceFacts gpu_with_tiles(int multiprocessors) {
  return {.multiprocessors = multiprocessors,
          .shared_bytes = 65536,
          .shared_bytes_per_block = 49152,
          .subgroup_size = 32,
          .has_f16_tiles = true,
          .has_bf16_tiles = true};
}

}  // namespace burn::testing
