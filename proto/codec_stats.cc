#include "proto/codec_stats.h"

#include <utility>

#include <google/protobuf/arena.h>

#include "proto/burn.pb.h"
#include "proto/codec_internal.h"

namespace burn::proto {
namespace {

using google::protobuf::Arena;

void to_wire(const Usage& usage, v1::Usage* out) {
  out->set_memory_in_use(usage.memory_in_use);
  out->set_memory_peak(usage.memory_peak);
  out->set_memory_reserved(usage.memory_reserved);
  out->set_memory_limit(usage.memory_limit);
  out->set_host_bytes(usage.host_bytes);
  out->set_runs(usage.runs);
  out->set_busy_seconds(usage.busy_seconds);
}

Usage from_wire(const v1::Usage& usage) {
  return {usage.memory_in_use(), usage.memory_peak(), usage.memory_reserved(), usage.memory_limit(),
          usage.host_bytes(),    usage.runs(),        usage.busy_seconds()};
}

}  // namespace

v1::Stats* to_wire(const Stats& stats, Arena& arena) {
  auto* out = Arena::CreateMessage<v1::Stats>(&arena);
  out->set_request(stats.request);
  return out;
}

v1::StatsReport* to_wire(const StatsReport& report, Arena& arena) {
  auto* out = Arena::CreateMessage<v1::StatsReport>(&arena);
  out->set_request(report.request);
  if (!report.status.ok()) to_wire(report.status, out->mutable_status());
  to_wire(report.stats.session, out->mutable_session());
  to_wire(report.stats.device, out->mutable_device());
  out->set_programs(report.stats.programs);
  out->set_queued(report.stats.queued);
  for (const auto& member : report.stats.members) {
    auto* wire = out->add_members();
    wire->set_name(wire_text(member.name));
    wire->set_url(wire_text(member.url));
    wire->set_weight(member.weight);
    wire->set_lost(wire_text(member.lost));
    wire->set_sessions(member.sessions);
    to_wire(member.device, wire->mutable_device());
  }
  return out;
}

Result<Body> from_wire(const v1::Stats& stats) { return Body{Stats{stats.request()}}; }

Result<Body> from_wire(const v1::StatsReport& report) {
  SessionStats stats{from_wire(report.session()), from_wire(report.device()), report.programs(), report.queued()};
  for (const auto& member : report.members()) {
    stats.members.push_back({member.name().substr(0, kMaxTextBytes), member.url().substr(0, kMaxTextBytes),
                             member.weight(), member.lost().substr(0, kMaxTextBytes), member.sessions(),
                             from_wire(member.device())});
  }
  return Body{StatsReport{report.request(), from_wire(report.status()), std::move(stats)}};
}

}  // namespace burn::proto
