// Encodes and decodes frames, the messages of burn.proto, without copying a tensor's bytes.
//
// A frame on the wire is `Frame { Envelope header = 1; bytes payload = 2; }` with the payload last, so an encoded frame
// is a small header followed by the caller's bytes, and any language's generated code can read it. Stateless;
// thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/status.h"
#include "proto/message.h"

namespace burn::proto {

struct EncodedFrame {
  std::string header;   // everything before the payload
  SharedBytes payload;  // follows the header

  std::size_t size() const { return header.size() + payload.size(); }
};

EncodedFrame encode(const Frame& frame);

// Decodes a whole frame; the payload of the result shares the owner of `bytes`. Nothing in `bytes` is trusted: lengths,
// counts, dtypes, shapes, ops and operand references are checked, types of programs are inferred again, and no
// recursion depends on the input. Errors: INVALID_ARGUMENT with what is wrong; UNIMPLEMENTED for a frame kind this
// build does not know. A valid frame that defines an invalid program is returned as a DefineProgram with `invalid` set:
// only the program fails, not the connection.
//
// Programs::later: of a DefineProgram only the id and `forget` are decoded; the program is kept in `encoded`, for
// read_program(). For threads that serve several sessions, as programs may be large.
enum class Programs : std::uint8_t { now, later };
Result<Frame> decode(const SharedBytes& bytes, Programs programs = Programs::now);
// The same for a frame that was received in two parts: everything before the payload, and the payload.
Result<Frame> decode(const SharedBytes& head, SharedBytes payload);

// The size of an encoded program, known before its nodes are decoded.
struct ProgramSize {
  std::size_t inputs = 0, nodes = 0, outputs = 0, bytes = 0;
};
struct ReadProgram {
  std::shared_ptr<const ir::Program> program;  // null where `invalid` says why
  Status invalid;
  std::size_t output_count = 0;
};
// Decodes a program: a first pass determines its size, and the rest is decoded only if `admit` returns ok.
ReadProgram read_program(const SharedBytes& encoded, const std::function<Status(const ProgramSize&)>& admit = nullptr);

// For a frame of `frame_bytes` that begins with `head`: if it is a chunk, the chunk and where its payload is.
// std::nullopt for any other frame and for an invalid one, whose error decode() reports. kMaxChunkHead bytes of `head`
// are always enough.
struct ChunkHead {
  Chunk chunk;
  std::size_t payload_begin = 0, payload_size = 0;
};
inline constexpr std::size_t kMaxChunkHead = 64;
std::optional<ChunkHead> peek_chunk(std::span<const std::byte> head, std::uint64_t frame_bytes);

}  // namespace burn::proto
