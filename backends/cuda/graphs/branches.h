// A graph whose commands wait only for their predecessors, captured from one stream.
#pragma once

#include <functional>

#include "backends/cuda/driver/driver.h"
#include "compile/lower/hazards.h"

namespace burn::backends::cuda {

// Captures commands 0, 1, ... that `enqueue` puts on the stream one at a time; in the graph each command follows only
// its predecessors. A command may be any number of nodes, also none. The caller must destroy the graph. Errors:
// FAILED_PRECONDITION if the driver is older than CUDA 12.3; what `enqueue` and the driver say. The stream is no longer
// capturing then.
Result<CUgraphExec> capture_branches(CUstream stream, const compile::Predecessors& predecessors,
                                     const std::function<Status(std::size_t command)>& enqueue);

}  // namespace burn::backends::cuda
