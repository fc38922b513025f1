#include "net/listen/grpc_calls.h"

#include <exception>

#include "net/listen/grpc_stream.h"

namespace burn::net {

void GrpcCalls::take(const std::shared_ptr<GrpcLoop>& loop) noexcept {
  try {
    wait_for_call(*this, loop);
  } catch (const std::exception&) {
    const std::lock_guard lock{mutex_};
    loops_to_retry_.push_back(loop);
  }
}

void GrpcCalls::refuse_unauthenticated(const std::string& peer) {
  unauthenticated_.refuse(peer,
                          resource_exhausted("more was sent before the hello was accepted than a hello may have"));
}

void GrpcCalls::tick() {
  unauthenticated_.tick();
  std::vector<std::shared_ptr<GrpcLoop>> loops;
  loops.reserve(kMaxLoops);
  {
    const std::lock_guard lock{mutex_};
    loops.swap(loops_to_retry_);
  }
  for (const auto& loop : loops) take(loop);
}

}  // namespace burn::net
