#include "proto/codec.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/common.h>
#include <google/protobuf/wire_format_lite.h>

#include "proto/burn.pb.h"
#include "proto/codec_internal.h"
#include "proto/verbs.h"

namespace burn::proto {
namespace {

namespace pb = google::protobuf;
using pb::internal::WireFormatLite;
using pb::io::CodedInputStream;
using pb::io::CodedOutputStream;

constexpr std::uint32_t block_tag(int field) {
  return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
}
constexpr std::uint32_t kHeaderTag = block_tag(v1::Frame::kHeaderFieldNumber);
constexpr std::uint32_t kPayloadTag = block_tag(v1::Frame::kPayloadFieldNumber);
constexpr std::uint32_t kSeqTag =
    WireFormatLite::MakeTag(v1::Envelope::kSeqFieldNumber, WireFormatLite::WIRETYPE_VARINT);

// Encodes `Frame { header { seq, body }, payload }` up to the payload's first byte. `write` writes body_size bytes to
// its argument and returns their end.
template <typename Write>
std::string assemble(std::uint64_t seq, int field, std::size_t body_size, std::size_t payload, Write&& write) {
  const auto tag = block_tag(field);
  const auto envelope_size = (seq ? 1 + CodedOutputStream::VarintSize64(seq) : 0) +
                             CodedOutputStream::VarintSize32(tag) + CodedOutputStream::VarintSize64(body_size) +
                             body_size;
  const auto size = 1 + CodedOutputStream::VarintSize64(envelope_size) + envelope_size +
                    (payload ? 1 + CodedOutputStream::VarintSize64(payload) : 0);
  std::string bytes(size, '\0');
  auto* at = reinterpret_cast<std::uint8_t*>(bytes.data());
  at = CodedOutputStream::WriteTagToArray(kHeaderTag, at);
  at = CodedOutputStream::WriteVarint64ToArray(envelope_size, at);
  if (seq) {
    at = CodedOutputStream::WriteTagToArray(kSeqTag, at);
    at = CodedOutputStream::WriteVarint64ToArray(seq, at);
  }
  at = CodedOutputStream::WriteTagToArray(tag, at);
  at = CodedOutputStream::WriteVarint64ToArray(body_size, at);
  at = write(at);
  if (payload) {
    at = CodedOutputStream::WriteTagToArray(kPayloadTag, at);
    CodedOutputStream::WriteVarint64ToArray(payload, at);
  }
  return bytes;
}

// --- from the wire ---------------------------------------------------------------------------------------------------

struct Envelope {
  std::uint64_t seq = 0;
  int field = 0;  // the body's field number; 0: no body
  std::string_view body;
};

// Finds the parts only, without decoding the body.
Result<Envelope> read_envelope(std::string_view bytes) {
  CodedInputStream in{reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size())};
  const auto malformed = [] { return invalid_argument("the frame's header is malformed"); };
  Envelope envelope;
  while (in.CurrentPosition() < static_cast<int>(bytes.size())) {
    const auto tag = in.ReadTag();
    if (tag == kSeqTag) {
      if (!in.ReadVarint64(&envelope.seq)) return malformed();
    } else if (tag != 0 && WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      const auto block = read_block(in, bytes);
      if (!block) return malformed();
      const auto field = WireFormatLite::GetTagFieldNumber(tag);
      const bool known = verb_at(field) != nullptr;
      if (known && verb_at(envelope.field)) return malformed();  // two bodies
      if (known || envelope.field == 0) envelope = {envelope.seq, field, *block};
    } else if (tag == 0 || !WireFormatLite::SkipField(&in, tag)) {
      return malformed();
    }
  }
  if (envelope.field == 0) return invalid_argument("the frame says nothing");
  return envelope;
}

struct Parts {
  std::string_view header;
  std::size_t payload_begin = 0;
};

// Splits the beginning of a frame, which includes at least everything before the payload.
std::optional<Parts> split_head(std::string_view bytes, std::uint64_t frame_bytes) {
  CodedInputStream in{reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size())};
  if (in.ReadTag() != kHeaderTag) return std::nullopt;
  const auto header = read_block(in, bytes);
  if (!header || in.ReadTag() != kPayloadTag) return std::nullopt;
  std::uint64_t payload = 0;
  if (!in.ReadVarint64(&payload)) return std::nullopt;
  const auto begin = static_cast<std::size_t>(in.CurrentPosition());
  if (begin > frame_bytes || frame_bytes - begin != payload) return std::nullopt;
  return Parts{*header, begin};
}

Result<Parts> split(std::string_view bytes) {
  CodedInputStream in{reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size())};
  const auto at = [&] { return static_cast<std::size_t>(in.CurrentPosition()); };
  if (in.ReadTag() != kHeaderTag) return invalid_argument("a frame begins with its header");
  const auto header = read_block(in, bytes);
  if (!header) return invalid_argument("the frame's header is cut short");
  Parts parts{*header, bytes.size()};
  if (at() == bytes.size()) return parts;
  if (in.ReadTag() != kPayloadTag) return invalid_argument("after its header a frame has a payload or ends");
  const auto payload = read_block(in, bytes);
  if (!payload) return invalid_argument("the frame's payload is cut short");
  if (at() != bytes.size()) return invalid_argument(fmt::format("{} bytes after the frame's end", bytes.size() - at()));
  parts.payload_begin = bytes.size() - payload->size();
  return parts;
}

Status check_tensor(std::size_t payload, const ir::TensorType& type) {
  if (payload == 0 || (payload == type.num_bytes() && payload <= kInlineBytes)) return {};
  return invalid_argument(fmt::format("a payload of {} bytes for {}, which has {}; up to {} travel so", payload,
                                      ir::to_string(type), type.num_bytes(), kInlineBytes));
}

// Checks the payload's size: bodies with a tensor's type may have all its bytes, and a Chunk must have some.
Status check_payload(const Body& body, std::size_t payload) {
  return std::visit(
      [&]<typename Kind>(const Kind& kind) -> Status {
        if constexpr (requires { kind.type; }) {
          return check_tensor(payload, kind.type);
        } else if constexpr (std::is_same_v<Kind, Chunk>) {
          if (payload >= 1 && payload <= kChunkBytes) return {};
          return invalid_argument(fmt::format("a payload of {} bytes; 1 to {} may be", payload, kChunkBytes));
        } else if (payload == 0) {
          return {};
        }
        return invalid_argument(fmt::format("a payload of {} bytes where none belongs", payload));
      },
      body);
}

// Before version 4, protobuf logs what it cannot parse to stderr, so that a hostile peer could fill a log. The codec
// returns an error instead.
#if GOOGLE_PROTOBUF_VERSION < 4000000
using SilencedLog = pb::LogSilencer;
#else
struct SilencedLog {};
#endif

// A part of a frame that is kept for long. Copies it if the frame is much larger, as the rest of the frame is charged
// to no account.
SharedBytes kept(SharedBytes part, std::size_t whole) {
  constexpr std::size_t kSlack = std::size_t{4} << 10;
  if (part.empty() || whole <= 2 * part.size() + kSlack) return part;
  const auto bytes = part.span();
  return SharedBytes::own(std::vector<std::byte>(bytes.begin(), bytes.end()));
}

// Decodes the body. With Programs::later a program stays encoded, and shares `owner`.
Result<Body> read_any_body(const Envelope& envelope, Programs programs, const SharedBytes& owner) {
  const auto* verb = verb_at(envelope.field);
  if (!verb) return unimplemented(fmt::format("a frame of kind {} is not known here", envelope.field));
  if (envelope.body.size() > verb->max_bytes) return too_large(envelope.body.size(), verb->max_bytes);
  if (verb != &kVerbOf<DefineProgram>) return read_body(envelope.field, envelope.body);
  std::string_view encoded;
  BURN_TRY(auto define, read_define(envelope.body, &encoded));
  if (programs == Programs::later) {
    const auto* begin = reinterpret_cast<const std::byte*>(encoded.data());
    define.encoded = kept(owner.slice(static_cast<std::size_t>(begin - owner.data()), encoded.size()), owner.size());
    return Body{std::move(define)};
  }
  bool sound = true;
  auto [program, invalid, output_count] = read_program(encoded, nullptr, sound);
  if (!sound) return invalid_argument("it is malformed");
  define.program = std::move(program);
  define.invalid = std::move(invalid);
  define.output_count = output_count;
  return Body{std::move(define)};
}

// `owner` keeps the header's bytes alive.
Result<Frame> assemble(std::string_view header, SharedBytes payload, Programs programs, const SharedBytes& owner) {
  [[maybe_unused]] const SilencedLog quiet;
  BURN_TRY(const auto envelope, read_envelope(header));
  auto body = read_any_body(envelope, programs, owner);
  if (!body.ok()) return body.status().with_context("bad frame");
  if (auto status = check_payload(*body, payload.size()); !status.ok()) return status.with_context(name(*body));
  return Frame{envelope.seq, *std::move(body), std::move(payload)};
}

}  // namespace

EncodedFrame encode(const Frame& frame) {
  const auto field = verb_of(frame.body).field;
  if (const auto* define = std::get_if<DefineProgram>(&frame.body)) {
    const auto body = write_define(*define);
    auto header = assemble(frame.seq, field, body.size(), frame.payload.size(),
                           [&](std::uint8_t* at) { return std::copy(body.begin(), body.end(), at); });
    return {std::move(header), frame.payload};
  }
  alignas(8) char first[kArenaBytes];  // bodies of usual size need no allocation
  pb::Arena arena{first, sizeof(first)};
  const auto* body = make_body(frame.body, arena);
  auto header = assemble(frame.seq, field, body->ByteSizeLong(), frame.payload.size(),
                         [&](std::uint8_t* at) { return body->SerializeWithCachedSizesToArray(at); });
  return {std::move(header), frame.payload};
}

Result<Frame> decode(const SharedBytes& bytes, Programs programs) {
  if (bytes.size() > kMaxFrameBytes) {
    return invalid_argument(fmt::format("a frame of {} bytes; at most {} may be", bytes.size(), kMaxFrameBytes));
  }
  BURN_TRY(const auto parts, split({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  auto payload = kept(bytes.slice(parts.payload_begin, bytes.size() - parts.payload_begin), bytes.size());
  return assemble(parts.header, std::move(payload), programs, bytes);
}

Result<Frame> decode(const SharedBytes& head, SharedBytes payload) {
  const auto parts =
      split_head({reinterpret_cast<const char*>(head.data()), head.size()}, head.size() + payload.size());
  if (!parts || parts->payload_begin != head.size()) return invalid_argument("a frame in parts that do not fit");
  return assemble(parts->header, std::move(payload), Programs::now, head);
}

ReadProgram read_program(const SharedBytes& encoded, const std::function<Status(const ProgramSize&)>& admit) {
  [[maybe_unused]] const SilencedLog quiet;
  bool sound = true;
  auto read = read_program({reinterpret_cast<const char*>(encoded.data()), encoded.size()}, admit, sound);
  if (!sound) return {nullptr, invalid_argument("the program is malformed"), read.output_count};
  return read;
}

std::optional<ChunkHead> peek_chunk(std::span<const std::byte> head, std::uint64_t frame_bytes) {
  if (frame_bytes > kMaxFrameBytes) return std::nullopt;
  head = head.first(std::min(head.size(), kMaxChunkHead));
  const auto parts = split_head({reinterpret_cast<const char*>(head.data()), head.size()}, frame_bytes);
  if (!parts) return std::nullopt;
  const auto envelope = read_envelope(parts->header);
  if (!envelope.ok() || envelope->field != kVerbOf<Chunk>.field) return std::nullopt;
  const auto body = read_body(envelope->field, envelope->body);
  if (!body.ok()) return std::nullopt;
  const auto size = static_cast<std::size_t>(frame_bytes) - parts->payload_begin;
  if (size > kChunkBytes) return std::nullopt;
  return ChunkHead{std::get<Chunk>(*body), parts->payload_begin, size};
}

}  // namespace burn::proto
