// Shared by both ends of gRPC: converts frames to its byte buffers without copying tensor bytes. gRPC's headers are
// included in .cc files only.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "net/transport/handler_gate.h"
#include "net/transport/send_queue.h"
#include "proto/codec.h"

namespace grpc {
class ByteBuffer;
}

namespace burn::net {

// The method whose stream carries burn.v1: both sides send Frames.
inline constexpr const char* kGrpcMethod = "/burn.v1.Worker/Connect";
// Metadata key in the server's first headers: the stream is open, not refused.
inline constexpr const char* kGrpcOpenKey = "burn-open";

// Passes `set` the channel arguments that both ends have in common, tuned for chunks of a megabyte.
void tune_grpc(const std::function<void(const char* name, int value)>& set);

// Must be called before gRPC is used. gRPC shuts down with its last object and starts again with the next, which may
// take ten seconds; this keeps it running from its first use to the end of the process. Errors: FAILED_PRECONDITION in
// the child of a fork() whose parent used gRPC, as gRPC does not support that.
Status keep_grpc_running();

// Packs the queue's frames into messages: a large frame alone, small ones together, as a message costs gRPC more than
// copying a few bytes. Not thread-safe: used by the queue's pump.
class GrpcPacker {
 public:
  enum class Next { message, nothing, finished };
  // Fills `buffer`, which keeps payloads alive until gRPC has written them.
  Next pack(SendQueue& queue, grpc::ByteBuffer* buffer);

 private:
  std::optional<proto::EncodedFrame> left_;  // taken from the queue, but sent in the next message
};

// The frames of a message: the message itself, or those in its field `frames` if it begins with that. Errors:
// INVALID_ARGUMENT.
Result<std::vector<SharedBytes>> unpack(const SharedBytes& message);

// Delivers a message to the handler, which may provide memory for a large one. Otherwise a message in one piece is
// shared, and one in several pieces is joined. Errors, which end the connection: those of unpack().
Status deliver(grpc::ByteBuffer* buffer, HandlerGate& gate);

}  // namespace burn::net
