#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/kernels/attention.h"
#include "backends/cpu/kernels/attention_rows.h"
#include "backends/cpu/kernels/gemm.h"
#include "backends/interrupt.h"

namespace burn::backends::cpu {
namespace {

// A tile of scores, with its keys and values, stays in the second-level cache.
constexpr std::int64_t kKeyBlock = 512;

std::int64_t key_block(const AttentionSizes& s) { return std::min(kKeyBlock, std::max<std::int64_t>(s.m, 1)); }

template <typename T>
Matrix<T> plain(const Rows<const T>& x, std::int64_t row) {
  return {x.row(row), x.stride, false};
}
template <typename T>
Matrix<T> transposed(const Rows<const T>& x, std::int64_t row) {
  return {x.row(row), x.stride, true};
}

// What is subtracted from the scores before the exponential: a query that sees no key has only -infinity, and
// e^(-infinity - 0) is 0, but e^(-infinity + infinity) is not.
template <typename T>
T shift_for(T row) {
  return row == -std::numeric_limits<T>::infinity() ? T{0} : row;
}

// Queries [begin, begin + rows) against keys [first, first + columns): scores [rows, columns], where hidden ones are
// -infinity.
template <typename T>
void score(const AttentionSizes& s, const AttentionHead<T>& head, std::int64_t begin, std::int64_t rows,
           std::int64_t first, std::int64_t columns, T* scores) {
  multiply_here(Product<T>{.m = rows,
                           .n = columns,
                           .k = s.d,
                           .a = plain(head.q, begin),
                           .b = transposed(head.k, first),
                           .c = scores,
                           .c_stride = columns,
                           .alpha = static_cast<T>(s.scale)},
                s.library);
  constexpr T kHidden = -std::numeric_limits<T>::infinity();
  for (std::int64_t r = 0; r < rows; ++r) {
    T* row = scores + r * columns;
    if (head.bias.data) {
      const T* bias = head.bias.at(begin + r, first);
      for (std::int64_t c = 0; c < columns; ++c) row[c] += bias[c * head.bias.column_stride];
    }
    if (head.mask.data) {
      const auto* mask = head.mask.at(begin + r, first);
      for (std::int64_t c = 0; c < columns; ++c) row[c] = mask[c * head.mask.column_stride] != 0 ? kHidden : row[c];
    }
    const auto seen = std::clamp<std::int64_t>(s.visible(begin + r) - first, 0, columns);
    std::fill(row + seen, row + columns, kHidden);
  }
}

// The largest score of each query and the sum of the exponentials relative to it, so far.
template <typename T>
struct Softmax {
  T largest[kQueryBlock], sum[kQueryBlock];

  explicit Softmax(std::int64_t rows) {
    std::fill_n(largest, rows, -std::numeric_limits<T>::infinity());
    std::fill_n(sum, rows, T{0});
  }
  // Adds a tile of scores, which are replaced by their exponentials. Returns the factor for what was computed relative
  // to the previous largest score.
  T take(std::int64_t r, T* scores, std::int64_t columns) {
    const T before = largest[r];
    largest[r] = std::max(before, row_max(scores, columns));
    const T shift = shift_for(largest[r]);
    const T correction = before == largest[r] ? T{1} : std::exp(before - shift);
    sum[r] = sum[r] * correction + exp_row(scores, columns, shift);
    return correction;
  }
  T inverse(std::int64_t r) const { return sum[r] == 0 ? T{0} : T{1} / sum[r]; }
  T log_sum(std::int64_t r) const {
    return sum[r] == 0 ? -std::numeric_limits<T>::infinity() : largest[r] + std::log(sum[r]);
  }
};

}  // namespace

template <typename T>
std::int64_t attention_scratch(const AttentionSizes& s) {
  return kQueryBlock * key_block(s);
}

template <typename T>
std::int64_t attention_grad_scratch(const AttentionSizes& s) {
  return 2 * kQueryBlock * key_block(s);
}

template <typename T>
void attend(const AttentionSizes& s, const AttentionHead<T>& head, std::int64_t begin, std::int64_t end, Rows<T> y,
            Rows<T> statistics, T* scratch) {
  const auto rows = end - begin, keys = s.visible(end - 1), step = key_block(s);
  Softmax<T> softmax(rows);
  if (keys == 0) {
    for (auto i = begin; i < end; ++i) {
      std::fill_n(y.row(i), s.e, T{0});
      *statistics.row(i) = softmax.log_sum(i - begin);
    }
    return;
  }
  for (std::int64_t first = 0; first < keys; first += step) {
    throw_if_interrupted();
    const auto columns = std::min(step, keys - first);
    score(s, head, begin, rows, first, columns, scratch);
    for (std::int64_t r = 0; r < rows; ++r) {
      const T correction = softmax.take(r, scratch + r * columns, columns);
      if (first > 0 && correction != 1) scale_row(y.row(begin + r), s.e, correction);
    }
    multiply_here(Product<T>{.m = rows,
                             .n = s.e,
                             .k = columns,
                             .a = {scratch, columns, false},
                             .b = plain(head.v, first),
                             .c = y.row(begin),
                             .c_stride = y.stride,
                             .beta = first > 0 ? T{1} : T{0}},
                  s.library);
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    scale_row(y.row(begin + r), s.e, softmax.inverse(r));
    *statistics.row(begin + r) = softmax.log_sum(r);
  }
}

// With p the probabilities, which are the exponentials of the scores less the row's statistics, and dp = g v^T: dv =
// p^T g, ds = p (dp - sum of p dp), dq = scale ds k, dk = scale ds^T q; the sum equals that of y g.
template <typename T>
void attend_back(const AttentionSizes& s, const AttentionHead<T>& head, const AttentionGradients<T>& grad,
                 std::int64_t begin, std::int64_t end, T* scratch) {
  const auto rows = end - begin, keys = s.visible(end - 1), step = key_block(s);
  if (keys == 0) {
    for (auto i = begin; i < end; ++i) std::fill_n(grad.dq.row(i), s.d, T{0});
    return;
  }
  T *p = scratch, *dp = scratch + kQueryBlock * step;
  const auto scale = static_cast<T>(s.scale);
  for (std::int64_t first = 0; first < keys; first += step) {
    throw_if_interrupted();
    const auto columns = std::min(step, keys - first);
    score(s, head, begin, rows, first, columns, p);
    multiply_here(Product<T>{.m = rows,
                             .n = columns,
                             .k = s.e,
                             .a = plain(grad.g, begin),
                             .b = transposed(head.v, first),
                             .c = dp,
                             .c_stride = columns},
                  s.library);
    for (std::int64_t r = 0; r < rows; ++r) {
      T* row = p + r * columns;
      exp_row(row, columns, shift_for(*grad.statistics.row(begin + r)));
      const T mean = dot_row(grad.y.row(begin + r), grad.g.row(begin + r), s.e);
      softmax_back_row(row, dp + r * columns, columns, T{1}, mean);
    }
    multiply_here(Product<T>{.m = columns,
                             .n = s.e,
                             .k = rows,
                             .a = {p, columns, true},
                             .b = plain(grad.g, begin),
                             .c = grad.dv.row(first),
                             .c_stride = grad.dv.stride,
                             .beta = T{1}},
                  s.library);
    multiply_here(Product<T>{.m = rows,
                             .n = s.d,
                             .k = columns,
                             .a = {dp, columns, false},
                             .b = plain(head.k, first),
                             .c = grad.dq.row(begin),
                             .c_stride = grad.dq.stride,
                             .alpha = scale,
                             .beta = first > 0 ? T{1} : T{0}},
                  s.library);
    multiply_here(Product<T>{.m = columns,
                             .n = s.d,
                             .k = rows,
                             .a = {dp, columns, true},
                             .b = plain(head.q, begin),
                             .c = grad.dk.row(first),
                             .c_stride = grad.dk.stride,
                             .alpha = scale,
                             .beta = T{1}},
                  s.library);
  }
}

#define BURN_INSTANTIATE(T)                                                                                    \
  template std::int64_t attention_scratch<T>(const AttentionSizes&);                                           \
  template std::int64_t attention_grad_scratch<T>(const AttentionSizes&);                                      \
  template void attend<T>(const AttentionSizes&, const AttentionHead<T>&, std::int64_t, std::int64_t, Rows<T>, \
                          Rows<T>, T*);                                                                        \
  template void attend_back<T>(const AttentionSizes&, const AttentionHead<T>&, const AttentionGradients<T>&,   \
                               std::int64_t, std::int64_t, T*);
BURN_INSTANTIATE(float)
BURN_INSTANTIATE(double)
#undef BURN_INSTANTIATE

}  // namespace burn::backends::cpu
