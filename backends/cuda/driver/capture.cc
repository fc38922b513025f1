#include "backends/cuda/driver/capture.h"

namespace burn::backends::cuda {

Result<CUgraphExec> capture_graph(CUstream stream, const std::function<Status()>& enqueue) {
  const auto& cuda = driver();
  BURN_RETURN_IF_ERROR(
      check(cuda.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), "cuStreamBeginCapture"));
  Status status = enqueue();
  CUgraph graph = nullptr;
  const auto ended = check(cuda.cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  if (status.ok()) status = ended;
  CUgraphExec made = nullptr;
  if (status.ok()) status = check(cuda.cuGraphInstantiateWithFlags(&made, graph, 0), "cuGraphInstantiate");
  if (graph) cuda.cuGraphDestroy(graph);
  BURN_RETURN_IF_ERROR(status);
  return made;
}

}  // namespace burn::backends::cuda
