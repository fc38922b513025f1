// Staging memory for backends that copy what is uploaded.
#pragma once

#include "backends/stream.h"

namespace burn::backends {

// Ordinary memory. Errors: RESOURCE_EXHAUSTED.
Result<HostBlockPtr> plain_host_block(std::size_t bytes);

// What is in a block, which it keeps.
SharedBytes content(HostBlockPtr block);

}  // namespace burn::backends
