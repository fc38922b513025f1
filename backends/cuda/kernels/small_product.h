// Products of f32 whose results are too few for a GPU: blocks share the depth of a tile between them, and add their
// parts through each other's shared memory (clusters, from sm_90 on). NVRTC only.
#pragma once

#include "backends/cuda/kernels/types.h"

namespace burn::cuda {

constexpr int kSmallTile = 32, kSmallThreads = 128, kSmallDepth = 64;

BURN_ALWAYS_INLINE unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

// `bytes` of kBytes are read, the rest are 0.
template <int kBytes>
BURN_ALWAYS_INLINE void copy_async(float* to, const float* from, int bytes) {
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(bytes));
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(to)), "l"(from), "r"(bytes));
}

BURN_ALWAYS_INLINE void cluster_sync() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// The number at the same place of another block of the cluster.
BURN_ALWAYS_INLINE float read_of_block(const float* place, int block) {
  unsigned at;
  float y;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(shared_address(place)), "r"(block));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(y) : "r"(at));
  return y;
}

// One operand's part of a tile: `lines` (rows of a, columns of b) from `first` on, and of the depth from `begin` to
// `end`, kSmallDepth at most, into to[depth][line]. kAcross: neighbours in memory are of one depth, else of one line;
// `stride` leads from one to the next. Beyond the operand's lines there are zeros.
template <bool kAcross, bool kVector, int kStride>
BURN_ALWAYS_INLINE void fetch_tile(float (&to)[kSmallDepth][kStride], const float* from, std::int64_t stride, int first,
                                   int lines, int begin, int end) {
  const int thread = threadIdx.x;
  if constexpr (kAcross) {
    constexpr int kWidth = kVector ? 4 : 1, kPerLine = kSmallTile / kWidth, kStep = kSmallThreads / kPerLine;
    const int line = thread % kPerLine * kWidth, left = lines - first - line;
    const float* at = from + (begin + thread / kPerLine) * stride + first + line;
    const int bytes = left >= kWidth ? 4 * kWidth : left > 0 ? 4 * left : 0;
#pragma unroll 4
    for (int depth = thread / kPerLine; depth < end - begin; depth += kStep, at += kStep * stride)
      copy_async<4 * kWidth>(&to[depth][line], bytes > 0 ? at : from, bytes);
  } else {
    constexpr int kStep = kSmallThreads / kSmallDepth;
    const int depth = thread % kSmallDepth;
    if (depth >= end - begin) return;
    const float* at = from + (first + thread / kSmallDepth) * stride + begin + depth;
#pragma unroll 4
    for (int line = thread / kSmallDepth; line < kSmallTile; line += kStep, at += kStep * stride)
      copy_async<4>(&to[depth][line], first + line < lines ? at : from, first + line < lines ? 4 : 0);
  }
}

// c = a b (+ bias in every row). A block has a tile of 32 x 32 and one of kParts parts of the depth; the blocks of a
// tile are neighbours, and a cluster.
template <bool kAAcross, bool kAVector, bool kBAcross, bool kBVector, int kParts, bool kBias>
BURN_ALWAYS_INLINE void multiply_small(const float* a, const float* b, const float* bias, float* c, int rows,
                                       int columns, int depth, std::int64_t a_stride, std::int64_t b_stride,
                                       std::int64_t c_stride) {
  // Rows that threads of a warp write one below the other lie apart by other banks, as far as reads of two and of four
  // numbers allow.
  constexpr int kAStride = kAAcross ? kSmallTile + 4 : kSmallTile + 2, kBStride = kSmallTile + 4;
  __shared__ __align__(16) float as[2][kSmallDepth][kAStride], bs[2][kSmallDepth][kBStride];
  __shared__ __align__(16) float part[kSmallTile * kSmallTile];
  const int tile = blockIdx.x / kParts, rank = blockIdx.x % kParts, across = (columns + kSmallTile - 1) / kSmallTile;
  const int row = tile / across * kSmallTile, column = tile % across * kSmallTile;
  const int each = (depth + kParts - 1) / kParts, begin = rank * each;
  const int end = begin + each < depth ? begin + each : depth;
  const int x = threadIdx.x % 8, y = threadIdx.x / 8;
  float sum[2][4] = {};

  const auto fetch = [&](int from, int slot) {
    if (from < end) {
      const int to = from + kSmallDepth < end ? from + kSmallDepth : end;
      fetch_tile<kAAcross, kAVector>(as[slot], a, a_stride, row, rows, from, to);
      fetch_tile<kBAcross, kBVector>(bs[slot], b, b_stride, column, columns, from, to);
    }
    asm volatile("cp.async.commit_group;");
  };
  fetch(begin, 0);
  int slot = 0;
  for (int from = begin; from < end; from += kSmallDepth, slot ^= 1) {
    fetch(from + kSmallDepth, slot ^ 1);
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    const int steps = end - from < kSmallDepth ? end - from : kSmallDepth;
#pragma unroll 4
    for (int k = 0; k < steps; ++k) {
      const auto left = *reinterpret_cast<const Pack<float, 2>*>(&as[slot][k][y * 2]);
      const auto right = *reinterpret_cast<const Pack<float, 4>*>(&bs[slot][k][x * 4]);
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] = fmaf(left.lanes[i], right.lanes[j], sum[i][j]);
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) part[(y * 2 + i) * kSmallTile + x * 4 + j] = sum[i][j];
  cluster_sync();
  constexpr int kOfBlock = kSmallTile * kSmallTile / kParts;
  for (int i = threadIdx.x; i < kOfBlock; i += kSmallThreads) {
    const int element = rank * kOfBlock + i;
    float total = 0;
#pragma unroll
    for (int block = 0; block < kParts; ++block) total += read_of_block(part + element, block);
    const int to_row = row + element / kSmallTile, to_column = column + element % kSmallTile;
    if (to_row >= rows || to_column >= columns) continue;
    if constexpr (kBias) total += bias[to_column];
    c[to_row * c_stride + to_column] = total;
  }
  cluster_sync();  // nobody leaves whose part is still read
}

}  // namespace burn::cuda
