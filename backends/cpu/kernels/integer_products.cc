#include "backends/cpu/kernels/integer_products.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "backends/interrupt.h"

namespace burn::backends::cpu {
namespace {

constexpr int kPanelBytes = 128;              // of one depth: two vectors of AVX-512
constexpr std::int64_t kPanelDepth = 128;     // a panel stays in the L1 cache while all rows are multiplied with it
constexpr std::int64_t kRowsOfMultiply = 64;  // between two checks for an interrupt

// Some columns of b from some depth on, stored depth after depth; the content beyond the last column is undefined.
template <typename T>
struct IntegerPanel {
  // Processors have no vector products of bytes.
  using Wide = std::conditional_t<sizeof(T) == 1, std::uint16_t, T>;
  static constexpr std::int64_t kColumns = kPanelBytes / sizeof(Wide);

  const T* a;
  std::int64_t a_stride, rows, depth;
  const Wide* b;
  T* c;
  std::int64_t c_stride, columns;
  bool adds;  // to what is in c
};

}  // namespace
}  // namespace burn::backends::cpu

#define BURN_ISA_FILE "backends/cpu/simd/integer_product_loops.h"
#include "backends/cpu/simd/foreach.h"

namespace burn::backends::cpu {

template <typename T>
void multiply_integers(const Product<T>& p) {
  using Panel = IntegerPanel<T>;
  using Wide = typename Panel::Wide;
  alignas(64) Wide b[kPanelDepth * Panel::kColumns];
  InterruptMeter meter;
  for (std::int64_t depth = 0; depth < p.k; depth += kPanelDepth) {
    const auto depths = std::min(kPanelDepth, p.k - depth);
    for (std::int64_t column = 0; column < p.n; column += Panel::kColumns) {
      const auto columns = std::min(Panel::kColumns, p.n - column);
      meter.add(8 * depths);  // lines of b
      for (std::int64_t k = 0; k < depths; ++k) {
        const T* from = p.b.data + (depth + k) * p.b.stride + column;
        for (std::int64_t j = 0; j < columns; ++j) b[k * Panel::kColumns + j] = from[j];
      }
      for (std::int64_t row = 0; row < p.m; row += kRowsOfMultiply) {
        const auto rows = std::min(kRowsOfMultiply, p.m - row);
        meter.add(rows * depths);
        BURN_BEST(multiply_panel<T>)
        (Panel{.a = p.a.data + row * p.a.stride + depth,
               .a_stride = p.a.stride,
               .rows = rows,
               .depth = depths,
               .b = b,
               .c = p.c + row * p.c_stride + column,
               .c_stride = p.c_stride,
               .columns = columns,
               .adds = depth > 0});
      }
    }
  }
}

template void multiply_integers(const Product<std::uint8_t>&);
template void multiply_integers(const Product<std::uint16_t>&);
template void multiply_integers(const Product<std::uint32_t>&);
template void multiply_integers(const Product<std::uint64_t>&);

}  // namespace burn::backends::cpu
