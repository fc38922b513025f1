// Ops that the members of a group perform together.
#include <fmt/format.h>

#include "backends/cuda/lower/lower.h"

namespace burn::backends::cuda::lowering {
namespace {

template <typename Kind>
Status refuse() {
  return unimplemented(fmt::format("CUDA: {} has no command", Kind::kName));
}

}  // namespace

Status lower(Emitter&, const ir::AllReduce&, const NodeInPlan&) { return refuse<ir::AllReduce>(); }
Status lower(Emitter&, const ir::ReduceScatter&, const NodeInPlan&) { return refuse<ir::ReduceScatter>(); }
Status lower(Emitter&, const ir::AllGather&, const NodeInPlan&) { return refuse<ir::AllGather>(); }
Status lower(Emitter&, const ir::AllToAll&, const NodeInPlan&) { return refuse<ir::AllToAll>(); }

}  // namespace burn::backends::cuda::lowering
