// Loads the lines of an array, a few side by side, into the workspace of a plan of their length, and stores them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "backends/cpu/kernels/fft_plan.h"
#include "backends/cpu/kernels/lines.h"
#include "backends/cpu/runtime/kept_tables.h"
#include "backends/cpu/runtime/run.h"
#include "backends/cpu/simd/fft_loops.h"
#include "backends/interrupt.h"

namespace burn::backends::cpu {

// To be called after the results are allocated: a client may ask for any length.
template <typename T>
Result<std::shared_ptr<const FftPlan<T>>> plan_of(Run& run, std::int64_t n) {
  return run.pool.tables().get<FftPlan<T>>(n);
}

// How many lines to transform side by side: as many as stay in the caches, unless the plan prefers single ones. Half of
// them at least fill a vector.
template <typename T>
std::int64_t width_of(const Lines& lines, const FftPlan<T>& plan) {
  constexpr std::int64_t kCache = std::int64_t{256} * 1024;  // bytes
  constexpr std::int64_t kMax = 16;
  if (lines.inner == 1 && plan.prefers_single()) return 1;
  const auto fit = kCache / (4 * std::max<std::int64_t>(plan.size(), 1) * static_cast<std::int64_t>(sizeof(T)));
  return std::clamp<std::int64_t>(std::min(fit, lines.count()), 1, kMax);
}

// Calls body(first line, lines, room) for a few lines at a time, on several threads. `room`: `numbers` for each line,
// followed by the workspace of the plan.
template <typename T, typename Body>
Status for_lines(Run& run, const Lines& lines, const FftPlan<T>& plan, std::int64_t numbers, const Body& body) {
  const auto width = width_of(lines, plan);
  const auto blocks = (lines.count() + width - 1) / width;
  const auto parts = std::min<std::int64_t>(blocks, 4 * thread_count());
  const auto per_part = padded_stride(plan.room(width) + padded_stride(numbers * width));
  const auto grain = std::max<std::int64_t>(1, kGrain / (8 * lines.size * width + 1));
  BURN_TRY(const auto room, run.pool.allocate(static_cast<std::size_t>(parts * per_part) * sizeof(T)));
  const auto blocks_per_part = (blocks + parts - 1) / std::max<std::int64_t>(1, parts);
  parallel_for(parts, std::max<std::int64_t>(1, grain / std::max<std::int64_t>(1, blocks_per_part)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (auto part = begin; part < end; ++part) {
                   T* here = reinterpret_cast<T*>(room->data()) + part * per_part;
                   const auto last = std::min(blocks, (part + 1) * blocks_per_part);
                   for (auto block = part * blocks_per_part; block < last; ++block) {
                     const auto first = block * width;
                     throw_if_interrupted();
                     body(first, std::min(width, lines.count() - first), here);
                   }
                 }
               });
  return {};
}

// Calls body(v, count) for lines [first + v, first + v + count) that are adjacent in memory.
template <typename Body>
void side_by_side(const Lines& lines, std::int64_t first, std::int64_t width, const Body& body) {
  for (std::int64_t v = 0; v < width;) {
    const auto count = std::min(width - v, lines.inner - (first + v) % lines.inner);
    body(v, count);
    v += count;
  }
}

// Loads n elements from each of `width` lines of x, every step-th from `offset` on: element j of line v goes to [j *
// width + v].
template <typename T>
void load(const Lines& lines, std::int64_t first, std::int64_t width, std::int64_t n, const T* x, T* to,
          std::int64_t offset = 0, std::int64_t step = 1) {
  if (lines.inner == 1 && width == 1 && step == 1) {
    std::copy_n(x + lines.start(first) + offset, n, to);
    return;
  }
  if (lines.inner == 1 && step == 1)
    return fft_loops<T>().transpose(width, n, x + lines.start(first) + offset, lines.size, to, width);
  side_by_side(lines, first, width, [&](std::int64_t v, std::int64_t count) {
    const T* from = x + lines.start(first + v) + offset * lines.inner;
    for (std::int64_t j = 0; j < n; ++j) std::copy_n(from + j * step * lines.inner, count, to + j * width + v);
  });
}

// The inverse: stores into all elements of the lines, or every step-th.
template <typename T>
void store(const Lines& lines, std::int64_t first, std::int64_t width, std::int64_t n, const T* from, T* y,
           std::int64_t offset = 0, std::int64_t step = 1) {
  if (lines.inner == 1 && width == 1 && step == 1) {
    std::copy_n(from, n, y + lines.start(first) + offset);
    return;
  }
  if (lines.inner == 1 && step == 1)
    return fft_loops<T>().transpose(n, width, from, width, y + lines.start(first) + offset, lines.size);
  side_by_side(lines, first, width, [&](std::int64_t v, std::int64_t count) {
    T* to = y + lines.start(first + v) + offset * lines.inner;
    for (std::int64_t j = 0; j < n; ++j) std::copy_n(from + j * width + v, count, to + j * step * lines.inner);
  });
}

}  // namespace burn::backends::cpu
