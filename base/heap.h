// What malloc keeps of freed memory.
#pragma once

namespace burn {

// Lets malloc keep freed blocks of up to 32 MiB, and up to 64 MiB at the end of a heap, for the next ones of the
// process. By default it gives the pages of large blocks back to the system at once, and a process that reads message
// after message faults them in again each time: 26 faults for each 200 KB. trim_heap() (base/pages.h) gives them back.
// Meant for the start of a program; a second call changes nothing. Thread-safe.
void keep_freed_blocks();

}  // namespace burn
