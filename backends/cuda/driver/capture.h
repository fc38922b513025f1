// What is enqueued, as a graph that can be launched.
#pragma once

#include <functional>

#include "backends/cuda/driver/driver.h"

namespace burn::backends::cuda {

// Of what `enqueue` puts on the stream, which is not executed. The caller's to destroy.
Result<CUgraphExec> capture_graph(CUstream stream, const std::function<Status()>& enqueue);

}  // namespace burn::backends::cuda
