// Tunes how much freed memory malloc keeps.
#pragma once

namespace burn {

// Lets malloc keep freed blocks of up to 32 MiB, and up to 64 MiB at the top of a heap, for reuse. By default it
// returns the pages of large blocks to the system at once, and a process that reads message after message faults them
// in again each time: 26 faults for each 200 KB. trim_heap() (base/pages.h) returns them. Call it at program start; a
// second call has no effect. Thread-safe.
void keep_freed_blocks();

}  // namespace burn
