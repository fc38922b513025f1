// What the files of the codec share. Names generated classes without including them: only codec*.cc do that.
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
    4096;  // messages, paths; longer ones are cut when sent and refused when read

Status too_large(std::size_t bytes, std::size_t limit);

inline constexpr std::size_t kArenaBytes = 4096;  // what a message may take on the stack before it allocates

// The generated message of a body, owned by the arena. Null for a DefineProgram, which write_define() writes.
const google::protobuf::MessageLite* make_body(const Body& body, google::protobuf::Arena& arena);
// Reads the body that field `field` of an Envelope holds; of a DefineProgram everything but the program.
Result<Body> read_body(int field, std::string_view bytes);

// The text as proto3 wants it: valid UTF-8, at most kMaxTextBytes.
std::string wire_text(std::string_view text);

void to_wire(const Status& status, v1::Status* out);
Status from_wire(const v1::Status& status);
void to_wire(const ir::TensorType& type, v1::TensorType* out);
Result<ir::TensorType> from_wire(const v1::TensorType& type);

inline constexpr std::size_t kMaxSiteFiles = 4096;  // of a program

// Reads an Attr; its texts are those of `bytes`.
Result<ir::AttrView> read_attr(std::string_view bytes);

// The bytes of a DefineProgram.
std::string write_define(const DefineProgram& define);

// Reads a DefineProgram but for the program, of which it says where it stands. Errors: bytes that are none.
Result<DefineProgram> read_define(std::string_view bytes, std::string_view* program);
// Reads a Program. False in `sound`: the bytes are none.
ReadProgram read_program(std::string_view bytes, const std::function<Status(const ProgramSize&)>& admit, bool& sound);

// Reads a length and moves behind that many bytes of `whole`, which the stream reads: those bytes, or nothing if there
// are fewer.
std::optional<std::string_view> read_block(google::protobuf::io::CodedInputStream& in, std::string_view whole);

}  // namespace burn::proto
