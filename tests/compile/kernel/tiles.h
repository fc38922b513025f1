// Tiles that the threads of a subgroup multiply, as the interpreter of kernels has them.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/half.h"
#include "compile/codegen/kernel/kernel.h"
#include "tests/compile/kernel/scalars.h"

namespace burn::testing {

template <typename Small>
float float_of(std::uint16_t bits) {
  Small small;
  small.bits = bits;
  return static_cast<float>(small);
}

// The tiles of a block, by the number that is the value of each.
class Tiles {
 public:
  // One of the instructions on tiles. `read` and `write`: of elements of the shared array that it names.
  std::uint64_t run(const compile::kernel::Instruction& now, const std::array<std::uint64_t, 3>& operands,
                    const std::function<std::uint64_t(std::uint64_t)>& read,
                    const std::function<void(std::uint64_t, std::uint64_t)>& write) {
    constexpr std::size_t kSize = compile::kernel::kTileSize;
    switch (now.code) {
      case compile::kernel::Code::tile_sums:
        all_.emplace_back(kSize * kSize, 0.0F);
        return all_.size() - 1;
      case compile::kernel::Code::tile_load: {
        const auto what = compile::kernel::TileLoad::of(now.number);
        if (operands[0] % 4 != 0 || operands[1] % 4 != 0) fail("a tile that is not aligned");
        std::vector<float> elements(kSize * kSize);
        for (std::size_t line = 0; line < kSize; ++line) {
          for (std::size_t k = 0; k < kSize; ++k) {
            const auto word = read(operands[0] + line * operands[1] + k / 2);
            const auto bits = static_cast<std::uint16_t>(word >> (16 * (k % 2)));
            const float element = now.type == ir::DType::f16 ? float_of<Half>(bits) : float_of<BFloat16>(bits);
            elements[what.has_columns_apart ? k * kSize + line : line * kSize + k] = element;
          }
        }
        all_.push_back(std::move(elements));
        return all_.size() - 1;
      }
      case compile::kernel::Code::tile_multiply: {
        auto& sums = all_[static_cast<std::size_t>(operands[0])];
        const auto &a = all_[static_cast<std::size_t>(operands[1])], &b = all_[static_cast<std::size_t>(operands[2])];
        for (std::size_t row = 0; row < kSize; ++row) {
          for (std::size_t k = 0; k < kSize; ++k) {
            for (std::size_t column = 0; column < kSize; ++column)
              sums[row * kSize + column] += a[row * kSize + k] * b[k * kSize + column];
          }
        }
        return 0;
      }
      default: {
        const auto& sums = all_[static_cast<std::size_t>(operands[2])];
        for (std::size_t row = 0; row < kSize; ++row) {
          for (std::size_t column = 0; column < kSize; ++column) {
            const auto bits = std::bit_cast<std::uint32_t>(sums[row * kSize + column]);
            write(operands[0] + row * operands[1] + column, bits);
          }
        }
        return 0;
      }
    }
  }

 private:
  std::vector<std::vector<float>> all_;
};

}  // namespace burn::testing
