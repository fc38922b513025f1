// Converts the bodies of group calls to and from protobuf, for codec_body.cc.
#pragma once

#include "proto/message.h"

namespace google::protobuf {
class Arena;
}
namespace burn::v1 {
class AbortGroup;
class GroupAddress;
class GroupDone;
class OpenGroup;
class PrepareGroup;
}  // namespace burn::v1

namespace burn::proto {

v1::PrepareGroup* to_wire(const PrepareGroup& ask, google::protobuf::Arena& arena);
v1::OpenGroup* to_wire(const OpenGroup& ask, google::protobuf::Arena& arena);
v1::AbortGroup* to_wire(const AbortGroup& ask, google::protobuf::Arena& arena);
v1::GroupAddress* to_wire(const GroupAddress& answer, google::protobuf::Arena& arena);
v1::GroupDone* to_wire(const GroupDone& answer, google::protobuf::Arena& arena);

Result<Body> from_wire(const v1::PrepareGroup& ask);
Result<Body> from_wire(const v1::OpenGroup& ask);  // Errors: INVALID_ARGUMENT for too many addresses.
Result<Body> from_wire(const v1::AbortGroup& ask);
Result<Body> from_wire(const v1::GroupAddress& answer);
Result<Body> from_wire(const v1::GroupDone& answer);

}  // namespace burn::proto
