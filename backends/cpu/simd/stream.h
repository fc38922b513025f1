// Writes that bypass the caches.
#pragma once

#include <cstddef>

namespace burn::backends::cpu {

// A group that moves more bytes than this writes its results past the caches: the next reader finds them in memory in
// any case, and the cache lines that are overwritten need not be fetched first. BURN_STREAM_BYTES, or twice the
// last-level cache.
std::size_t streamed_from_bytes();

// Like memcpy. Other threads see the bytes after finish_streaming() and whatever orders the threads.
void stream_copy(void* to, const void* from, std::size_t bytes);
void finish_streaming();

}  // namespace burn::backends::cpu
