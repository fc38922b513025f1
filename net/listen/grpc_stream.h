// One call of Connect over gRPC, from before it comes to its end.
#pragma once

#include <memory>

#include "net/listen/grpc_calls.h"

namespace burn::net {

// Waits for a call and serves it. Throws std::bad_alloc and the like where there is no room to wait in.
void wait_for_call(GrpcCalls& calls, const std::shared_ptr<GrpcLoop>& loop);

}  // namespace burn::net
