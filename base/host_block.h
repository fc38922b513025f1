// Host memory for large tensors on their way: fresh pages cost as much as moving the bytes into them, so blocks that come back
// are kept for the next time, and the system is asked for large pages.
#pragma once

#include <cstddef>
#include <memory>

namespace burn {

// Uninitialised, aligned for any vector register; null when there is no memory. Thread-safe. What comes back is kept up to a
// limit; the system may take the pages of what is kept whenever it needs them.
std::shared_ptr<std::byte[]> host_block(std::size_t size);

// Of blocks that came back and are kept, in this process.
std::size_t kept_host_bytes();

}  // namespace burn
