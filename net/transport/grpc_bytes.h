// What both ends of gRPC share: frames as its byte buffers, without copying tensor bytes. Its headers stay in the .cc
// files.
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

// The stream of burn.v1: both sides send Frames.
inline constexpr const char* kGrpcMethod = "/burn.v1.Worker/Connect";
// Sent by the server with its first headers: the stream is open and not merely refused.
inline constexpr const char* kGrpcOpenKey = "burn-open";

// Tells `set` the channel arguments that both ends have in common: for chunks of a megabyte.
void tune_grpc(const std::function<void(const char* name, int value)>& set);

// To be called before gRPC is used. gRPC stops when its last object goes, starts again with the next, and may take ten
// seconds over it; we keep it running from its first use to the end of the process. Errors: FAILED_PRECONDITION in the
// child of a fork() whose parent used gRPC, which has no notion of that.
Status keep_grpc_running();

// Of the queue's frames those that go into the next message: a large one alone, small ones together, for a message
// costs gRPC more than the few bytes in it. Not thread-safe: of the queue's pump.
class GrpcPacker {
 public:
  enum class Next { message, nothing, finished };
  // Fills `buffer`, which holds on to payloads until gRPC has written them.
  Next pack(SendQueue& queue, grpc::ByteBuffer* buffer);

 private:
  std::optional<proto::EncodedFrame> left_;  // taken from the queue, for the next message
};

// The frames of a message: itself, or those in its field `frames` if it begins with that. Errors: INVALID_ARGUMENT.
Result<std::vector<SharedBytes>> unpack(const SharedBytes& message);

// Hands a message to the handler, which may say where a large one goes. Otherwise one that came in one piece is shared,
// and one that came in several is joined. Errors, the end of the connection: those of unpack().
Status deliver(grpc::ByteBuffer* buffer, HandlerGate& gate);

}  // namespace burn::net
