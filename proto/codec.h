// Frame <-> bytes: the messages of burn.proto, written so that a tensor's bytes are never copied.
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
  std::string header;   // everything up to the payload's first byte
  SharedBytes payload;  // follows it

  std::size_t size() const { return header.size() + payload.size(); }
};

EncodedFrame encode(const Frame& frame);

// Reads a whole frame; the payload of the result shares the owner of `bytes`. Nothing in `bytes` is trusted: lengths,
// counts, dtypes, shapes, ops and operand references are checked, programs are inferred anew, and no recursion depends
// on the input. Errors: INVALID_ARGUMENT with what is wrong; UNIMPLEMENTED for a frame kind this build does not know. A
// frame that is sound but defines a program that is not comes back as a DefineProgram that says so: only the program
// fails, not the conversation.
//
// Programs::later: of a DefineProgram only its id and what it forgets are read; the program stays as it is, in
// `encoded`, for read_program(). That is for threads that serve others besides: programs may be large.
enum class Programs : std::uint8_t { now, later };
Result<Frame> decode(const SharedBytes& bytes, Programs programs = Programs::now);
// The same for a frame that was received in two parts: everything up to the payload's first byte, and the payload.
Result<Frame> decode(const SharedBytes& head, SharedBytes payload);

// What is known of a program before its nodes are read.
struct ProgramSize {
  std::size_t inputs = 0, nodes = 0, outputs = 0, bytes = 0;
};
struct ReadProgram {
  std::shared_ptr<const ir::Program> program;  // null where `invalid` says why
  Status invalid;
  std::size_t output_count = 0;
};
// Reads an encoded program: a first look says how large it is, and only if `admit` says ok the rest is read.
ReadProgram read_program(const SharedBytes& encoded, const std::function<Status(const ProgramSize&)>& admit = nullptr);

// What a frame of `frame_bytes` will be if it begins with `head`: a chunk, and where its payload stands. Nothing for
// any other frame, and for whatever is not quite right: decode() says what is wrong with it. kMaxChunkHead bytes are
// always enough.
struct ChunkHead {
  Chunk chunk;
  std::size_t payload_begin = 0, payload_size = 0;
};
inline constexpr std::size_t kMaxChunkHead = 64;
std::optional<ChunkHead> peek_chunk(std::span<const std::byte> head, std::uint64_t frame_bytes);

}  // namespace burn::proto
