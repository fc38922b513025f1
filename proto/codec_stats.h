// Converts Stats and StatsReport to and from protobuf, for codec_body.cc.
#pragma once

#include "proto/message.h"

namespace google::protobuf {
class Arena;
}
namespace burn::v1 {
class Stats;
class StatsReport;
}  // namespace burn::v1

namespace burn::proto {

v1::Stats* to_wire(const Stats& stats, google::protobuf::Arena& arena);
v1::StatsReport* to_wire(const StatsReport& report, google::protobuf::Arena& arena);

Result<Body> from_wire(const v1::Stats& stats);
Result<Body> from_wire(const v1::StatsReport& report);  // texts that are too long are truncated

}  // namespace burn::proto
