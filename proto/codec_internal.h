// Shared by the files of the codec. Forward-declares generated classes: only codec*.cc include their headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/attrs.h"
#include "ir/program.h"
#include "proto/codec.h"
#include "proto/message.h"

namespace google::protobuf {
class Arena;
class MessageLite;
namespace io {
class CodedInputStream;
}
}  // namespace google::protobuf
namespace burn::v1 {
class Status;
class TensorType;
}  // namespace burn::v1

namespace burn::proto {

inline constexpr std::size_t kMaxTextBytes =
    4096;  // messages, paths; longer ones are truncated when sent and refused when read

Status too_large(std::size_t bytes, std::size_t limit);

inline constexpr std::size_t kArenaBytes = 4096;  // stack memory for a message before it allocates

// The generated message of a body, owned by the arena. Null for a DefineProgram, which write_define() writes.
const google::protobuf::MessageLite* make_body(const Body& body, google::protobuf::Arena& arena);
// Decodes the body in field `field` of an Envelope; of a DefineProgram everything except the program.
Result<Body> read_body(int field, std::string_view bytes);

// The text as proto3 requires it: valid UTF-8, truncated to kMaxTextBytes.
std::string wire_text(std::string_view text);

void to_wire(const Status& status, v1::Status* out);
Status from_wire(const v1::Status& status);
void to_wire(const ir::TensorType& type, v1::TensorType* out);
Result<ir::TensorType> from_wire(const v1::TensorType& type);

inline constexpr std::size_t kMaxSiteFiles = 4096;  // of a program

// Decodes an Attr; its texts are views into `bytes`.
Result<ir::AttrView> read_attr(std::string_view bytes);

// Encodes a DefineProgram.
std::string write_define(const DefineProgram& define);

// Decodes a DefineProgram except the program, whose encoded bytes it stores in `program`. Errors: INVALID_ARGUMENT for
// malformed bytes.
Result<DefineProgram> read_define(std::string_view bytes, std::string_view* program);
// Decodes a Program. Sets `sound` to false if the bytes are malformed.
ReadProgram read_program(std::string_view bytes, const std::function<Status(const ProgramSize&)>& admit, bool& sound);

// Reads a length and returns that many bytes of `whole`, which `in` reads, and skips them; std::nullopt if there are
// fewer.
std::optional<std::string_view> read_block(google::protobuf::io::CodedInputStream& in, std::string_view whole);

}  // namespace burn::proto
