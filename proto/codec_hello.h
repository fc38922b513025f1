// Converts Hello and Welcome, which open a connection, to and from protobuf, for codec_body.cc.
#pragma once

#include "proto/message.h"

namespace google::protobuf {
class Arena;
}
namespace burn::v1 {
class Hello;
class Welcome;
}  // namespace burn::v1

namespace burn::proto {

v1::Hello* to_wire(const Hello& hello, google::protobuf::Arena& arena);
v1::Welcome* to_wire(const Welcome& welcome, google::protobuf::Arena& arena);

Result<Body> from_wire(const v1::Hello& hello);      // texts that are too long are truncated
Result<Body> from_wire(const v1::Welcome& welcome);  // likewise. Errors: INVALID_ARGUMENT for too many devices.

}  // namespace burn::proto
