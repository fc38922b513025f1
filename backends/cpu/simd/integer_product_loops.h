// Multiplies rows of a product of integers with as many columns as fit into registers. See
// backends/cpu/kernels/integer_products.cc.
namespace burn::backends::cpu::BURN_ISA {
namespace {

constexpr int kRowsAtOnce = BURN_ISA_BYTES / 8;  // as many as there are registers for

// Computes in vectors of Wide: bits that their products and sums lose would not fit into T anyway.
template <typename T, int kRows>
[[gnu::always_inline]] inline void multiply_rows(const IntegerPanel<T>& p, std::int64_t row) {
  using Wide = typename IntegerPanel<T>::Wide;
  typedef Wide Vector __attribute__((vector_size(BURN_ISA_BYTES)));
  constexpr int kLanes = BURN_ISA_BYTES / sizeof(Wide), kVectors = kPanelBytes / BURN_ISA_BYTES;
  Vector sums[kRows][kVectors] = {};
  const T* a = p.a + row * p.a_stride;
  Wide widened[kRows][sizeof(T) == sizeof(Wide) ? 1 : kPanelDepth];  // broadcasts from memory are faster
  if constexpr (sizeof(T) != sizeof(Wide)) {
    for (int r = 0; r < kRows; ++r)
      for (std::int64_t k = 0; k < p.depth; ++k) widened[r][k] = a[r * p.a_stride + k];
  }
  const auto* b = reinterpret_cast<const Vector*>(p.b);
  for (std::int64_t k = 0; k < p.depth; ++k, b += kVectors) {
    for (int r = 0; r < kRows; ++r) {
      const Vector x =
          Vector{} + (sizeof(T) == sizeof(Wide) ? static_cast<Wide>(a[r * p.a_stride + k]) : widened[r][k]);
      for (int v = 0; v < kVectors; ++v) sums[r][v] += x * b[v];
    }
  }
  for (int r = 0; r < kRows; ++r) {
    T* c = p.c + (row + r) * p.c_stride;
    Wide row_sums[kVectors * kLanes];
    __builtin_memcpy(row_sums, sums[r], sizeof row_sums);
    if (p.adds)
      for (std::int64_t j = 0; j < p.columns; ++j) c[j] = static_cast<T>(c[j] + row_sums[j]);
    else
      for (std::int64_t j = 0; j < p.columns; ++j) c[j] = static_cast<T>(row_sums[j]);
  }
}

template <typename T>
void multiply_panel(const IntegerPanel<T>& p) {
  std::int64_t row = 0;
  for (; row + kRowsAtOnce <= p.rows; row += kRowsAtOnce) multiply_rows<T, kRowsAtOnce>(p, row);
  for (; row < p.rows; ++row) multiply_rows<T, 1>(p, row);
}

}  // namespace
}  // namespace burn::backends::cpu::BURN_ISA
