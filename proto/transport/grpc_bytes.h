// What both ends of gRPC share: frames as its byte buffers, without copying tensor bytes. Its headers stay in the .cc files.
#pragma once

#include <functional>
#include <string>

#include "base/bytes.h"
#include "proto/codec.h"
#include "proto/transport/handler_gate.h"

namespace grpc {
class ByteBuffer;
}

namespace burn::proto {

// The stream of burn.v1: both sides send Frames.
inline constexpr const char* kGrpcMethod = "/burn.v1.Worker/Connect";
// Sent by the server with its first headers: the stream is open and not merely refused.
inline constexpr const char* kGrpcOpenKey = "burn-open";

// Tells `set` the channel arguments that both ends have in common: for chunks of a megabyte.
void tune_grpc(const std::function<void(const char* name, int value)>& set);

// To be called before gRPC is used. gRPC stops when its last object goes, starts again with the next, and may take ten seconds
// over it; we keep it running from its first use to the end of the process.
void keep_grpc_running();

// Holds on to the payload until gRPC has written it.
void to_byte_buffer(const EncodedFrame& frame, grpc::ByteBuffer* buffer);
// Hands a message to the handler, which may say where a large one goes. Otherwise one that came in one piece is shared, and one
// that came in several is joined.
void deliver(grpc::ByteBuffer* buffer, HandlerGate& gate);

}  // namespace burn::proto
