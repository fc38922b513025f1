#include "backends/cuda/lower/lower.h"

namespace burn::backends::cuda::lowering {

// supports() says no: programs are made of other ops before they come here (backends/plan/decompose.h).
Status lower(Emitter&, const ir::Attention&, const NodeInPlan&) { return unimplemented("no kernel of its own"); }
Status lower(Emitter&, const ir::AttentionGrad&, const NodeInPlan&) { return unimplemented("no kernel of its own"); }

}  // namespace burn::backends::cuda::lowering
