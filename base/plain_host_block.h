// Receive blocks of ordinary memory, for devices that need no special memory.
#pragma once

#include "base/bytes.h"
#include "base/host_block.h"
#include "base/status.h"

namespace burn {

// Uninitialised. Errors: RESOURCE_EXHAUSTED.
Result<HostBlockPtr> plain_host_block(std::size_t bytes);

// The block's bytes; the result keeps the block alive.
SharedBytes content(HostBlockPtr block);

}  // namespace burn
