#include "proto/codec_groups.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include <fmt/format.h>
#include <google/protobuf/arena.h>

#include "proto/burn.pb.h"
#include "proto/codec_internal.h"

namespace burn::proto {

using google::protobuf::Arena;

namespace {

using proto::from_wire;  // together with the overloads here
using proto::to_wire;

void to_wire(const GroupPlace& place, v1::GroupPlace* out) {
  out->set_group(place.group);
  out->set_epoch(place.epoch);
  out->set_rank(place.rank);
  out->set_size(place.size);
  out->set_ticket(place.ticket);
}

// Clamps to 32 bits, so that an invalid group number stays invalid.
std::uint32_t group_of(std::uint64_t number) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(number, std::numeric_limits<std::uint32_t>::max()));
}

GroupPlace from_wire(const v1::GroupPlace& place) {
  return {group_of(place.group()), place.epoch(), place.rank(), place.size(),
          place.ticket().substr(0, kTicketBytes + 1)};  // too long stays too long, to be refused
}

}  // namespace

v1::PrepareGroup* to_wire(const PrepareGroup& ask, Arena& arena) {
  auto* out = Arena::CreateMessage<v1::PrepareGroup>(&arena);
  out->set_request(ask.request);
  to_wire(ask.place, out->mutable_place());
  return out;
}

v1::OpenGroup* to_wire(const OpenGroup& ask, Arena& arena) {
  auto* out = Arena::CreateMessage<v1::OpenGroup>(&arena);
  out->set_request(ask.request);
  to_wire(ask.place, out->mutable_place());
  for (const auto& address : ask.addresses) out->add_addresses(address);
  out->set_deadline_ms(static_cast<std::uint64_t>(std::max<std::int64_t>(ask.deadline.count(), 0)));
  return out;
}

v1::AbortGroup* to_wire(const AbortGroup& ask, Arena& arena) {
  auto* out = Arena::CreateMessage<v1::AbortGroup>(&arena);
  out->set_request(ask.request);
  out->set_group(ask.group);
  out->set_epoch(ask.epoch);
  to_wire(ask.why, out->mutable_why());
  return out;
}

v1::GroupAddress* to_wire(const GroupAddress& answer, Arena& arena) {
  auto* out = Arena::CreateMessage<v1::GroupAddress>(&arena);
  out->set_request(answer.request);
  if (!answer.status.ok()) to_wire(answer.status, out->mutable_status());
  out->set_address(answer.address);
  return out;
}

v1::GroupDone* to_wire(const GroupDone& answer, Arena& arena) {
  auto* out = Arena::CreateMessage<v1::GroupDone>(&arena);
  out->set_request(answer.request);
  if (!answer.status.ok()) to_wire(answer.status, out->mutable_status());
  return out;
}
Result<Body> from_wire(const v1::PrepareGroup& ask) {
  return Body{PrepareGroup{ask.request(), from_wire(ask.place())}};
}

Result<Body> from_wire(const v1::OpenGroup& ask) {
  if (static_cast<std::size_t>(ask.addresses_size()) > kMaxGroupMembers)
    return invalid_argument(
        fmt::format("{} addresses of members; at most {} may be", ask.addresses_size(), kMaxGroupMembers));
  OpenGroup body{ask.request(), from_wire(ask.place()), {}, kMaxGroupDeadline};
  for (const auto& address : ask.addresses()) body.addresses.push_back(address.substr(0, kMaxAddressBytes));
  const auto most = static_cast<std::uint64_t>(body.deadline.count());
  body.deadline = std::chrono::milliseconds{static_cast<std::int64_t>(std::min(ask.deadline_ms(), most))};
  return Body{std::move(body)};
}

Result<Body> from_wire(const v1::AbortGroup& ask) {
  return Body{AbortGroup{ask.request(), group_of(ask.group()), ask.epoch(), from_wire(ask.why())}};
}

Result<Body> from_wire(const v1::GroupAddress& answer) {
  return Body{GroupAddress{answer.request(), from_wire(answer.status()), answer.address().substr(0, kMaxAddressBytes)}};
}

Result<Body> from_wire(const v1::GroupDone& answer) {
  return Body{GroupDone{answer.request(), from_wire(answer.status())}};
}

}  // namespace burn::proto
