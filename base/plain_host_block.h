// Blocks of ordinary memory to receive tensors in, where nothing that a device needs is to be kept.
#pragma once

#include "base/bytes.h"
#include "base/host_block.h"
#include "base/status.h"

namespace burn {

// Uninitialised. Errors: RESOURCE_EXHAUSTED.
Result<HostBlockPtr> plain_host_block(std::size_t bytes);

// What is in a block, which it keeps.
SharedBytes content(HostBlockPtr block);

}  // namespace burn
