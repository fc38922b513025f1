// Attention in tiles: a block of queries meets a block of keys, and what is left of their scores is a sum, a maximum
// and a part of the result, so memory grows with the length of the sequence and not with its square (Dao et al.,
// arXiv:2205.14135; Rabe and Staats, arXiv:2112.05682).
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/runtime/run.h"

namespace burn::backends::cpu {

// Everything of one call but the batch dims. Matrices have columns that lie side by side; scores-shaped operands have
// any strides.
struct AttentionSizes {
  std::int64_t n = 0, m = 0, d = 0, e = 0;  // queries, keys, their depth, the depth of values
  double scale = 1;
  bool causal = false;
  Library library = Library::onednn;  // for products of a tile it is ahead by a quarter to a third

  // How many of the first keys query i may see.
  std::int64_t visible(std::int64_t i) const {
    const auto limit = i + m - n + 1;
    return !causal || limit > m ? m : limit < 0 ? 0 : limit;
  }
};

template <typename T>
struct Rows {
  T* data = nullptr;
  std::int64_t stride = 0;
  T* row(std::int64_t i) const { return data + i * stride; }
};

// A mask or a bias; no data: there is none.
template <typename T>
struct Extra {
  const T* data = nullptr;
  std::int64_t row_stride = 0, column_stride = 0;
  const T* at(std::int64_t i, std::int64_t j) const { return data + i * row_stride + j * column_stride; }
};

// One head.
template <typename T>
struct AttentionHead {
  Rows<const T> q, k, v;
  Extra<unsigned char> mask;
  Extra<T> bias;
};

// Scratch of a thread, in elements.
template <typename T>
std::int64_t attention_scratch(const AttentionSizes& sizes);
template <typename T>
std::int64_t attention_grad_scratch(const AttentionSizes& sizes);

// Queries are worked on in blocks of this many.
inline constexpr std::int64_t kQueryBlock = 64;

// Rows [begin, end) of the result, at most kQueryBlock, and their statistics: the logarithm of the sum of each row's
// exponentials.
template <typename T>
void attend(const AttentionSizes& sizes, const AttentionHead<T>& head, std::int64_t begin, std::int64_t end, Rows<T> y,
            Rows<T> statistics, T* scratch);

// What queries [begin, end) give: their rows of dq, and their share of dk and dv, which is added.
template <typename T>
struct AttentionGradients {
  Rows<const T> y, statistics, g;
  Rows<T> dq, dk, dv;
};
template <typename T>
void attend_back(const AttentionSizes& sizes, const AttentionHead<T>& head, const AttentionGradients<T>& gradients,
                 std::int64_t begin, std::int64_t end, T* scratch);

}  // namespace burn::backends::cpu
