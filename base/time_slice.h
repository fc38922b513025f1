// The length of a thread's time slice: how long it may run at a time when other threads want its core, too.
//
// A thread that wakes for some microseconds of work waits behind the thread that has the core, until that thread's
// slice is over: milliseconds. A thread with a brief slice goes first, and has to leave again as soon; over time it
// gets no more than its share either way.
#pragma once

namespace burn {

enum class TimeSlice { brief, usual };

// For the calling thread, and for threads that it starts from now on. A wish: Linux before 6.12 has slices of one
// length for all, and where the system does not let threads set it nothing changes. A system call.
void request_time_slice(TimeSlice slice);

// Whether the calling thread's slice is brief: false where the system does not grant it.
bool has_brief_time_slice();

}  // namespace burn
