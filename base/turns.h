// What a thread asks of the system for when others want its core, too.
//
// A thread that wakes for some microseconds of work waits behind the thread that has the core, until that thread's
// slice is over: milliseconds. One that asks for brief turns goes first, and has to leave again as soon; over time it
// gets no more than its share either way.
#pragma once

namespace burn {

enum class Turns { brief, usual };

// For the calling thread, and for threads that it starts from now on. A wish: Linux before 6.12 has turns of one length
// for all, and where the system does not let threads say it nothing changes. A system call.
void ask_for(Turns turns);

// Whether the calling thread's turns are brief: false where the system does not grant it.
bool are_turns_brief();

}  // namespace burn
