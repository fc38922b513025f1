// How the rows of a group are spread over threads of a device that takes kernels of the kernel language.
#pragma once

#include <algorithm>
#include <cstdint>

#include "compile/codegen/kernel/device_facts.h"
#include "compile/codegen/row_shape.h"

namespace burn::compile::kernels {

struct RowsOnThreads {
  int rows = 1;           // of a block
  int lanes = 1;          // threads of a row
  int width = 1;          // elements of a vector
  int vectors = 0;        // of a thread, what several passes look at in registers; 0: read again in each pass
  bool is_whole = false;  // the threads' vectors are the row; else some of the last ones lie beyond its end

  // From the shape that suits rows of such a size (choose_row_shape). Where barriers are slow, and for short rows, a
  // thread has a row.
  static RowsOnThreads choose(const DeviceFacts& facts, const RowShape& of, std::int64_t row_size) {
    constexpr int kRowsOfThreads = 64;
    constexpr std::int64_t kShort = 16;  // elements
    if (facts.has_slow_barriers || row_size < kShort) return {.rows = kRowsOfThreads};
    if (of.lanes > facts.max_threads) return {.lanes = facts.max_threads, .width = of.width};
    // Drivers take no bound on registers: with more elements a thread has so many that too few blocks are under way.
    constexpr int kMaxHeld = 16;
    if (of.lanes > facts.subgroup_size && of.width * of.vectors > kMaxHeld && of.vectors % 2 == 0 &&
        2 * of.lanes <= std::min(facts.max_threads, 512)) {
      const std::int64_t elements = std::int64_t{of.lanes} * of.width * of.vectors;
      return {1, 2 * of.lanes, of.width, of.vectors / 2, elements == row_size};
    }
    // Rows of a block do not wait for each other.
    const int rows = facts.has_shuffles && of.lanes == facts.subgroup_size ? of.rows_per_block() : 1;
    return {rows, of.lanes, of.width, of.vectors, std::int64_t{of.lanes} * of.width * of.vectors == row_size};
  }
};

}  // namespace burn::compile::kernels
