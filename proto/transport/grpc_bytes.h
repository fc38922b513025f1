// What both ends of gRPC share: frames as its byte buffers, without copying tensor bytes. Its headers stay in the .cc files.
#pragma once

#include <string>

#include "base/bytes.h"
#include "proto/codec.h"

namespace grpc {
class ByteBuffer;
}

namespace burn::proto {

// The stream of burn.v1: both sides send Frames.
inline constexpr const char* kGrpcMethod = "/burn.v1.Worker/Connect";
// Sent by the server with its first headers: the stream is open and not merely refused.
inline constexpr const char* kGrpcOpenKey = "burn-open";

// HTTP/2 splits messages; in pieces of this size a chunk costs a sixth less processor time than in its default of 16 KiB.
inline constexpr int kGrpcPieceBytes = 1 << 20;

// To be called before gRPC is used. gRPC stops when its last object goes, starts again with the next, and may take ten seconds
// over it; we keep it running from its first use to the end of the process.
void keep_grpc_running();

// Holds on to the payload until gRPC has written it.
void to_byte_buffer(const EncodedFrame& frame, grpc::ByteBuffer* buffer);
// Shares a message that came in one piece, joins one that came in several.
SharedBytes to_shared_bytes(grpc::ByteBuffer* buffer);

}  // namespace burn::proto
