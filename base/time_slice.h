// The length of a thread's time slice: how long it may run while other threads wait for its core.
//
// A thread that wakes for some microseconds of work waits until the slice of the thread on its core ends: milliseconds.
// A thread with a brief slice is scheduled first, and preempted again as soon; its share of the time stays the same.
#pragma once

namespace burn {

enum class TimeSlice { brief, usual };

// Sets the slice of the calling thread and of threads that it starts from now on. Best effort: before Linux 6.12 all
// slices are equally long, and a system that refuses changes nothing. Costs a system call.
void request_time_slice(TimeSlice slice);

// Whether the calling thread's slice is brief: false where the system does not grant it.
bool has_brief_time_slice();

}  // namespace burn
