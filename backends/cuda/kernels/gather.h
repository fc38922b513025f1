// Elements taken from, or brought to, where an index says. NVRTC only.
#pragma once

#include "backends/cuda/kernels/index.h"
#include "backends/cuda/kernels/row.h"
#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/kernels/types.h"

namespace burn::cuda {

// Unsigned numbers as wide as an element, or as a pack of them: what is moved has no meaning here.
using Pack16 = Pack<unsigned, 4>;

// `walk` goes over the result: 0: x without its axis, 1: index, 2: y; all but the index count in Units. `report`: what
// an index outside gives; nothing is read for it.
template <typename Unit, typename Index>
BURN_ALWAYS_INLINE void gather(const Unit* __restrict__ x, const Index* __restrict__ index, Unit* __restrict__ y,
                               std::int64_t* report, const Walk<3>& walk, const GatherShape& shape) {
  const auto i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= shape.count) return;
  const auto at = offsets(walk, i);
  const std::int64_t from = index[at.at[1]];
  if (!index_is_inside(from, shape.axis_size, report)) return;
  y[at.at[2]] = x[at.at[0] + from * shape.axis_step];
}

BURN_ALWAYS_INLINE void add_to(float* to, float x) { atomicAdd(to, x); }
BURN_ALWAYS_INLINE void add_to(double* to, double x) { atomicAdd(to, x); }
BURN_ALWAYS_INLINE void add_to(std::int32_t* to, std::int32_t x) { atomicAdd(to, x); }
BURN_ALWAYS_INLINE void add_to(std::uint32_t* to, std::uint32_t x) { atomicAdd(to, x); }
BURN_ALWAYS_INLINE void add_to(std::uint64_t* to, std::uint64_t x) {
  atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(x));
}
BURN_ALWAYS_INLINE void add_to(std::int64_t* to, std::int64_t x) {  // wraps as the unsigned one does
  add_to(reinterpret_cast<std::uint64_t*>(to), static_cast<std::uint64_t>(x));
}

// Four floats to an aligned place.
BURN_ALWAYS_INLINE void add_four(float* to, const float (&x)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)), "f"(x[0]),
               "f"(x[1]), "f"(x[2]), "f"(x[3])
               : "memory");
#else
#pragma unroll
  for (int k = 0; k < 4; ++k) add_to(to + k, x[k]);
#endif
}

// `walk` goes over packs of values: 0: y without its axis, 1: index, 2: values. The order in which several values meet
// in one place is not defined, so that sums of floats may differ in their last bits from run to run.
template <typename From, typename T, typename Index, int kWidth>
BURN_ALWAYS_INLINE void scatter_add(T* __restrict__ y, const Index* __restrict__ index, const From* __restrict__ values,
                                    std::int64_t* report, const Walk<3>& walk, const GatherShape& shape) {
  const auto i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= shape.count) return;
  const auto at = offsets(walk, i);
  const std::int64_t to = index[at.at[1]];
  if (!index_is_inside(to, shape.axis_size, report)) return;
  const auto pack = *reinterpret_cast<const Pack<From, kWidth>*>(values + at.at[2]);
  T* target = y + at.at[0] + to * shape.axis_step;
  if constexpr (kWidth == 4 && std::is_same_v<T, float>) {
    const float x[4] = {to_compute(pack.lanes[0]), to_compute(pack.lanes[1]), to_compute(pack.lanes[2]),
                        to_compute(pack.lanes[3])};
    add_four(target, x);
  } else {
#pragma unroll
    for (int k = 0; k < kWidth; ++k) add_to(target + k, to_compute(pack.lanes[k]));
  }
}

struct Assign {
  template <typename T>
  BURN_ALWAYS_INLINE static T combine(T, T b) {
    return b;
  }
};

// One thread per line along the axis, which goes through its index from the front: duplicates meet in order. `walk`
// goes over the lines: 0: y, 1: index, 2: values; the steps are those along the axis.
template <typename From, typename T, typename Index, typename Op>
BURN_ALWAYS_INLINE void scatter_lines(T* __restrict__ y, const Index* __restrict__ index,
                                      const From* __restrict__ values, std::int64_t* report, const Walk<3>& walk,
                                      const ScatterShape& shape) {
  const auto line = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (line >= shape.lines) return;
  const auto at = offsets(walk, line);
  for (std::int64_t i = 0; i < shape.size; ++i) {
    const std::int64_t to = index[at.at[1] + i * shape.index_step];
    if (!index_is_inside(to, shape.axis_size, report)) continue;
    T& target = y[at.at[0] + to * shape.axis_step];
    const From value = values[at.at[2] + i * shape.values_step];
    if constexpr (std::is_same_v<Op, Assign>)
      target = value;
    else
      target = to_storage<T>(Op::combine(to_compute(target), to_compute(value)));
  }
}

// The value that comes last in its place, found by the greatest position along the axis: first every value enters its
// position + 1 into `winners` (0 at first; laid out as y), then that one is written.
template <typename Index>
BURN_ALWAYS_INLINE void find_winners(unsigned long long* __restrict__ winners, const Index* __restrict__ index,
                                     std::int64_t* report, const Walk<3>& walk, const ScatterShape& shape) {
  const auto i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= shape.lines * shape.size) return;
  const auto position = i / shape.lines;
  const auto at = offsets(walk, i % shape.lines);
  const std::int64_t to = index[at.at[1] + position * shape.index_step];
  if (!index_is_inside(to, shape.axis_size, report)) return;
  atomicMax(winners + at.at[0] + to * shape.axis_step, static_cast<unsigned long long>(position + 1));
}

template <typename T, typename Index>
BURN_ALWAYS_INLINE void assign_winners(T* __restrict__ y, const Index* __restrict__ index, const T* __restrict__ values,
                                       const unsigned long long* __restrict__ winners, const Walk<3>& walk,
                                       const ScatterShape& shape) {
  const auto i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= shape.lines * shape.size) return;
  const auto position = i / shape.lines;
  const auto at = offsets(walk, i % shape.lines);
  const std::int64_t to = index[at.at[1] + position * shape.index_step];
  if (to < 0 || to >= shape.axis_size) return;
  const auto target = at.at[0] + to * shape.axis_step;
  if (winners[target] == static_cast<unsigned long long>(position + 1))
    y[target] = values[at.at[2] + position * shape.values_step];
}

// The same with winners by place in a table of `mask` + 1 slots of two numbers each, for few values in a large y: the
// place in y + 1, 0 where the slot is free, and the position + 1. There are at least twice as many slots as values.
BURN_ALWAYS_INLINE std::uint64_t first_slot(unsigned long long key, std::uint64_t mask) {
  return key * 0x9e3779b97f4a7c15ull >> 20 & mask;
}

template <typename Index>
BURN_ALWAYS_INLINE void find_winners_by_place(unsigned long long* __restrict__ slots, std::uint64_t mask,
                                              const Index* __restrict__ index, std::int64_t* report,
                                              const Walk<3>& walk, const ScatterShape& shape) {
  const auto i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= shape.lines * shape.size) return;
  const auto position = i / shape.lines;
  const auto at = offsets(walk, i % shape.lines);
  const std::int64_t to = index[at.at[1] + position * shape.index_step];
  if (!index_is_inside(to, shape.axis_size, report)) return;
  const auto key = static_cast<unsigned long long>(at.at[0] + to * shape.axis_step + 1);
  auto slot = first_slot(key, mask);
  for (;;) {
    const auto found = atomicCAS(slots + 2 * slot, 0ull, key);
    if (found == 0 || found == key) break;
    slot = (slot + 1) & mask;
  }
  atomicMax(slots + 2 * slot + 1, static_cast<unsigned long long>(position + 1));
}

template <typename T, typename Index>
BURN_ALWAYS_INLINE void assign_winners_by_place(T* __restrict__ y, const Index* __restrict__ index,
                                                const T* __restrict__ values,
                                                const unsigned long long* __restrict__ slots, std::uint64_t mask,
                                                const Walk<3>& walk, const ScatterShape& shape) {
  const auto i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= shape.lines * shape.size) return;
  const auto position = i / shape.lines;
  const auto at = offsets(walk, i % shape.lines);
  const std::int64_t to = index[at.at[1] + position * shape.index_step];
  if (to < 0 || to >= shape.axis_size) return;
  const auto target = at.at[0] + to * shape.axis_step;
  const auto key = static_cast<unsigned long long>(target + 1);
  auto slot = first_slot(key, mask);
  while (slots[2 * slot] != key) slot = (slot + 1) & mask;
  if (slots[2 * slot + 1] == static_cast<unsigned long long>(position + 1))
    y[target] = values[at.at[2] + position * shape.values_step];
}

// Elements of one type as another's, in a row.
template <typename From, typename To>
BURN_ALWAYS_INLINE void convert(const From* __restrict__ x, To* __restrict__ y, std::int64_t count) {
  const auto i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) y[i] = to_storage<To>(to_compute(x[i]));
}

}  // namespace burn::cuda
