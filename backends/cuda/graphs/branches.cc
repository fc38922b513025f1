#include "backends/cuda/graphs/branches.h"

#include <algorithm>
#include <vector>

#include <cudaTypedefs.h>

#include "backends/cuda/driver/capture.h"

namespace burn::backends::cuda {
namespace {

// Functions that older drivers lack, and that only this file needs. The names have versions: without one, headers and
// drivers of different releases mean different functions by the same name.
struct CaptureFunctions {
  PFN_cuStreamGetCaptureInfo_v12030 get_info = nullptr;
  PFN_cuStreamUpdateCaptureDependencies_v12030 set_dependencies = nullptr;

  bool are_there() const { return get_info && set_dependencies; }
};

const CaptureFunctions& functions() {
  static const CaptureFunctions found = [] {
    CaptureFunctions all;
    auto& library = driver_library();
    all.get_info = reinterpret_cast<decltype(all.get_info)>(library.find("cuStreamGetCaptureInfo_v3"));
    all.set_dependencies =
        reinterpret_cast<decltype(all.set_dependencies)>(library.find("cuStreamUpdateCaptureDependencies_v2"));
    return all;
  }();
  return found;
}

// The nodes that the next command on a capturing stream depends on.
struct Tips {
  std::vector<CUgraphNode> nodes;
  std::vector<CUgraphEdgeData> edges;  // the kind of each dependency

  void add(const Tips& other) {
    for (std::size_t k = 0; k < other.nodes.size(); ++k) {
      if (std::ranges::find(nodes, other.nodes[k]) != nodes.end()) continue;
      nodes.push_back(other.nodes[k]);
      edges.push_back(other.edges[k]);
    }
  }
};

Result<Tips> tips_of(CUstream stream) {
  CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  BURN_RETURN_IF_ERROR(check(functions().get_info(stream, &capturing, nullptr, nullptr, &nodes, &edges, &count),
                             "cuStreamGetCaptureInfo"));
  if (capturing != CU_STREAM_CAPTURE_STATUS_ACTIVE) return internal_error("CUDA: a command ended its own capture");
  Tips tips;
  tips.nodes.assign(nodes, nodes + count);
  if (edges)
    tips.edges.assign(edges, edges + count);
  else
    tips.edges.resize(count);
  return tips;
}

Status follow(CUstream stream, Tips& tips) {
  const auto count = tips.nodes.size();
  tips.nodes.reserve(1);  // non-null data() also if empty
  tips.edges.reserve(1);
  return check(functions().set_dependencies(stream, tips.nodes.data(), tips.edges.data(), count,
                                            CU_STREAM_SET_CAPTURE_DEPENDENCIES),
               "cuStreamUpdateCaptureDependencies");
}

}  // namespace

Result<CUgraphExec> capture_branches(CUstream stream, const compile::Predecessors& predecessors,
                                     const std::function<Status(std::size_t command)>& enqueue) {
  if (!functions().are_there()) return failed_precondition("graphs with branches want a driver of CUDA 12.3 or newer");
  return capture_graph(stream, [&]() -> Status {
    std::vector<Tips> done(predecessors.size());
    std::vector<bool> is_followed(predecessors.size());
    for (std::size_t i = 0; i < predecessors.size(); ++i) {
      Tips before;
      for (const auto other : predecessors[i]) {
        before.add(done[static_cast<std::size_t>(other)]);
        is_followed[static_cast<std::size_t>(other)] = true;
      }
      BURN_RETURN_IF_ERROR(follow(stream, before));
      BURN_RETURN_IF_ERROR(enqueue(i));
      BURN_TRY(done[i], tips_of(stream));
    }
    Tips ends;  // all branches join on the stream
    for (std::size_t i = 0; i < predecessors.size(); ++i) {
      if (!is_followed[i]) ends.add(done[i]);
    }
    return follow(stream, ends);
  });
}

}  // namespace burn::backends::cuda
