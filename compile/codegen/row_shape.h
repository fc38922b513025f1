// How the elements of a row are spread over threads.
#pragma once

#include <cstdint>

namespace burn::compile {

struct RowShape {
  int width = 1;           // elements of a vector
  int lanes = 32;          // threads of a row: a warp, or a block
  int vectors = 0;         // per thread, held in registers between passes; 0: they are read again in each pass
  bool in_shared = false;  // then from shared memory, where the first pass leaves them

  int rows_per_block() const { return lanes == 32 ? 4 : 1; }
  int threads() const { return lanes * rows_per_block(); }
};

// What of a row registers are wanted for: elements that more than one pass looks at, and sums of columns.
struct RowNeeds {
  int held = 0;                  // operands
  int others = 0;                // that one pass alone reads
  int columns = 0;               // sums over all rows: these must have room
  bool waits = false;            // threads of a row for each other's sums
  std::int64_t held_bytes = 0;   // of an element of all those operands
  std::int64_t most_shared = 0;  // bytes of shared memory that a block may have, if two are to run side by side
};
RowShape choose_row_shape(std::int64_t row_size, int width, const RowNeeds& needs);

// Threads of a multiprocessor that registers should be left for, where a thread keeps so many bytes in them: without a
// bound the compiler takes so many that memory is not kept busy; with too narrow a one, what is kept goes to memory and
// back.
int threads_under_way(std::size_t bytes_kept, const RowNeeds& needs);

}  // namespace burn::compile
