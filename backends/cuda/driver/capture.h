// Captures enqueued work as a graph that can be launched.
#pragma once

#include <functional>

#include "backends/cuda/driver/driver.h"

namespace burn::backends::cuda {

// A graph of the work that `enqueue` puts on the stream, which is not executed. The caller must destroy it.
Result<CUgraphExec> capture_graph(CUstream stream, const std::function<Status()>& enqueue);

}  // namespace burn::backends::cuda
