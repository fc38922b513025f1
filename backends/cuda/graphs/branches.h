// A graph whose commands wait for no more than they have to, captured from one stream.
#pragma once

#include <functional>

#include "backends/cuda/driver/driver.h"
#include "compile/lower/hazards.h"

namespace burn::backends::cuda {

// Of commands 0, 1, ... that `enqueue` puts on the stream one at a time, each into a graph where it follows its
// predecessors alone. A command may be any number of nodes, also none. The caller's to destroy. Errors:
// FAILED_PRECONDITION where the driver is older than CUDA 12.3; what `enqueue` and the driver say. The stream is not
// capturing any more then.
Result<CUgraphExec> capture_branches(CUstream stream, const compile::Predecessors& predecessors,
                                     const std::function<Status(std::size_t command)>& enqueue);

}  // namespace burn::backends::cuda
