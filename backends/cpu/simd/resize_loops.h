// Inner loops of interpolation. Compiled by cpu/simd/foreach.h.

namespace burn::backends::cpu::BURN_ISA {
namespace {

// y[o] = sum over k of weight[k * count + o] x[index[k * count + o]].
template <int kTaps, typename T>
void resize_row(const std::int32_t* __restrict__ index, const T* __restrict__ weight, const T* __restrict__ x,
                T* __restrict__ y, std::int64_t count) {
  for (std::int64_t o = 0; o < count; ++o) {
    T sum = weight[o] * x[index[o]];
    for (int k = 1; k < kTaps; ++k) sum += weight[k * count + o] * x[index[k * count + o]];
    y[o] = sum;
  }
}

// y = the weighted sum of kRows rows, added to the old y if kAdds.
template <int kRows, bool kAdds, typename T>
void add_rows(const T* const* rows, const T* weights, T* __restrict__ y, std::int64_t width) {
  const T* __restrict__ a = rows[0];
  const T* __restrict__ b = rows[kRows > 1 ? 1 : 0];
  const T* __restrict__ c = rows[kRows > 2 ? 2 : 0];
  const T* __restrict__ d = rows[kRows > 3 ? 3 : 0];
  const T wa = weights[0], wb = weights[kRows > 1 ? 1 : 0], wc = weights[kRows > 2 ? 2 : 0],
          wd = weights[kRows > 3 ? 3 : 0];
  for (std::int64_t i = 0; i < width; ++i) {
    T sum = wa * a[i];
    if constexpr (kRows > 1) sum += wb * b[i];
    if constexpr (kRows > 2) sum += wc * c[i];
    if constexpr (kRows > 3) sum += wd * d[i];
    y[i] = kAdds ? y[i] + sum : sum;
  }
}

template <typename T>
struct ResizeLoops {
  static constexpr int kMaxTaps = 8;
  using Row = void (*)(const std::int32_t*, const T*, const T*, T*, std::int64_t);
  static constexpr Row kRow[] = {resize_row<1, T>, resize_row<2, T>, resize_row<3, T>, resize_row<4, T>,
                                 resize_row<5, T>, resize_row<6, T>, resize_row<7, T>, resize_row<8, T>};
  using Add = void (*)(const T* const*, const T*, T*, std::int64_t);
  static constexpr Add kAdd[][2] = {{add_rows<1, false, T>, add_rows<1, true, T>},
                                    {add_rows<2, false, T>, add_rows<2, true, T>},
                                    {add_rows<3, false, T>, add_rows<3, true, T>},
                                    {add_rows<4, false, T>, add_rows<4, true, T>}};
};

// For `taps` elements each, 1 to 8.
template <typename T>
void resize_row_of(std::int64_t taps, const std::int32_t* index, const T* weight, const T* x, T* y,
                   std::int64_t count) {
  ResizeLoops<T>::kRow[taps - 1](index, weight, x, y, count);
}

// For `count` rows, 1 to 4.
template <typename T>
void add_rows_of(std::int64_t count, bool adds, const T* const* rows, const T* weights, T* y, std::int64_t width) {
  ResizeLoops<T>::kAdd[count - 1][adds ? 1 : 0](rows, weights, y, width);
}

}  // namespace
}  // namespace burn::backends::cpu::BURN_ISA
