// Attention in tiles: of the scores of a block of queries with a block of keys only a sum, a maximum and a part of the
// result are kept, so memory grows with the length of the sequence and not with its square (Dao et al.,
// arXiv:2205.14135; Rabe and Staats, arXiv:2112.05682).
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/runtime/run.h"

namespace burn::backends::cpu {

// The sizes of one call except the batch dims. Elements of a matrix row are adjacent; operands with the shape of the
// scores have any strides.
struct AttentionSizes {
  std::int64_t n = 0, m = 0, d = 0, e = 0;  // queries, keys, their depth, the depth of values
  double scale = 1;
  bool causal = false;
  Library library = Library::onednn;  // for the products of a tile it is faster by a quarter to a third

  // How many of the first keys query i may attend to.
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

// A mask or a bias; null data: there is none.
template <typename T>
struct ScoreOperand {
  const T* data = nullptr;
  std::int64_t row_stride = 0, column_stride = 0;
  const T* at(std::int64_t i, std::int64_t j) const { return data + i * row_stride + j * column_stride; }
};

// One head.
template <typename T>
struct AttentionHead {
  Rows<const T> q, k, v;
  ScoreOperand<unsigned char> mask;
  ScoreOperand<T> bias;
};

// Scratch memory per thread, in elements.
template <typename T>
std::int64_t attention_scratch(const AttentionSizes& sizes);
template <typename T>
std::int64_t attention_grad_scratch(const AttentionSizes& sizes);

// Queries are processed in blocks of this many.
inline constexpr std::int64_t kQueryBlock = 64;

// Computes rows [begin, end) of the result, at most kQueryBlock, and their statistics: the logarithm of the sum of each
// row's exponentials.
template <typename T>
void attend(const AttentionSizes& sizes, const AttentionHead<T>& head, std::int64_t begin, std::int64_t end, Rows<T> y,
            Rows<T> statistics, T* scratch);

// Gradients from queries [begin, end): their rows of dq are written, their shares of dk and dv are added.
template <typename T>
struct AttentionGradients {
  Rows<const T> y, statistics, g;
  Rows<T> dq, dk, dv;
};
template <typename T>
void attend_back(const AttentionSizes& sizes, const AttentionHead<T>& head, const AttentionGradients<T>& gradients,
                 std::int64_t begin, std::int64_t end, T* scratch);

}  // namespace burn::backends::cpu
