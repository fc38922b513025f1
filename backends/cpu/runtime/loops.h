// Loops over N arrays of one shape, in as few and as long runs as their strides allow.
#pragma once

#include <array>
#include <cstdint>

#include "backends/cpu/runtime/parallel.h"
#include "ir/types/shape.h"

namespace burn::backends::cpu {

// The nest of loops over a shape, without dims of size 1; neighbouring dims are merged if all arrays allow it.
template <int N>
struct LoopNest {
  using Offsets = std::array<std::int64_t, N>;  // elements

  int rank = 0;  // at least 1
  std::int64_t total = 1;
  std::array<std::int64_t, ir::kMaxRank> sizes{};  // outermost first
  std::array<Offsets, ir::kMaxRank> strides{};

  LoopNest(const ir::Shape& shape, const std::array<const ir::Dims*, N>& array_strides) {
    for (int i = 0; i < shape.rank(); ++i) {
      total *= shape[i];
      if (shape[i] == 1) continue;
      Offsets step;
      for (int k = 0; k < N; ++k) step[k] = (*array_strides[k])[i];
      push(shape[i], step);
    }
    if (rank == 0) sizes[rank++] = 1;
  }

  std::int64_t inner_size() const { return sizes[rank - 1]; }
  const Offsets& inner_strides() const { return strides[rank - 1]; }

  // Calls body(n, offsets) for runs of the innermost loop that together are the elements [begin, end) in row-major
  // order.
  template <typename Body>
  void for_each_run(std::int64_t begin, std::int64_t end, const Body& body) const {
    std::array<std::int64_t, ir::kMaxRank> index{};
    Offsets at{};
    std::int64_t rest = begin;
    for (int i = rank - 1; i >= 0; --i) {
      index[i] = rest % sizes[i];
      rest /= sizes[i];
      for (int k = 0; k < N; ++k) at[k] += index[i] * strides[i][k];
    }
    const int inner = rank - 1;
    for (std::int64_t left = end - begin; left > 0;) {
      const std::int64_t room = sizes[inner] - index[inner];
      const std::int64_t n = left < room ? left : room;
      body(n, at);
      left -= n;
      if (left == 0) break;
      for (int k = 0; k < N; ++k) at[k] -= index[inner] * strides[inner][k];
      index[inner] = 0;
      for (int i = inner - 1; i >= 0; --i) {
        for (int k = 0; k < N; ++k) at[k] += strides[i][k];
        if (++index[i] < sizes[i]) break;
        for (int k = 0; k < N; ++k) at[k] -= sizes[i] * strides[i][k];
        index[i] = 0;
      }
    }
  }

  // The same over all elements, on several threads.
  template <typename Body>
  void for_all_runs(const Body& body, std::int64_t grain = kGrain) const {
    parallel_for(total, grain, [&](std::int64_t begin, std::int64_t end) { for_each_run(begin, end, body); });
  }

 private:
  void push(std::int64_t size, const Offsets& step) {
    if (rank > 0) {
      bool even = true;
      for (int k = 0; k < N; ++k) even = even && strides[rank - 1][k] == step[k] * size;
      if (even) {
        sizes[rank - 1] *= size;
        strides[rank - 1] = step;
        return;
      }
    }
    sizes[rank] = size;
    strides[rank++] = step;
  }
};

}  // namespace burn::backends::cpu
