#include "proto/transport/grpc_loop.h"

#include <utility>

#include <grpcpp/completion_queue.h>

namespace burn::proto {

GrpcLoop::GrpcLoop(std::unique_ptr<grpc::CompletionQueue> queue)
    : queue_(std::move(queue)), thread_([this] { run(); }) {}

GrpcLoop::~GrpcLoop() { stop(); }

void GrpcLoop::stop() {
  if (!thread_.joinable()) return;
  leave();
  thread_.join();
}

void GrpcLoop::run() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) static_cast<GrpcTag*>(tag)->run(ok);
}

void GrpcLoop::leave() {
  if (--uses_ == 0) queue_->Shutdown();
}

}  // namespace burn::proto
