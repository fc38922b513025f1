#include "proto/codec_hello.h"

#include <utility>

#include <fmt/format.h>
#include <google/protobuf/arena.h>

#include "proto/burn.pb.h"
#include "proto/codec_internal.h"

namespace burn::proto {
namespace {

using google::protobuf::Arena;

constexpr int kMaxDevices = 256;
constexpr std::size_t kMaxAdvertised = 16;  // the most that are read; there are fewer schemes

}  // namespace

v1::Hello* to_wire(const Hello& hello, Arena& arena) {
  auto* out = Arena::CreateMessage<v1::Hello>(&arena);
  out->set_version(hello.version);
  out->set_fingerprint(hello.fingerprint);
  out->set_client(wire_text(hello.client));
  out->set_token(wire_text(hello.token));
  out->set_device(hello.device);
  out->set_lease_seconds(hello.lease_seconds);
  out->set_device_name(wire_text(hello.device_name));
  if (const auto& resume = hello.resume) {
    auto* wire = out->mutable_resume();
    wire->set_session(wire_text(resume->session));
    wire->set_secret(resume->secret);
    wire->set_answers(resume->answers);
    wire->set_downloads(resume->downloads);
    wire->set_offset(resume->offset);
  }
  return out;
}

v1::Welcome* to_wire(const Welcome& welcome, Arena& arena) {
  auto* out = Arena::CreateMessage<v1::Welcome>(&arena);
  out->set_version(welcome.version);
  out->set_fingerprint(welcome.fingerprint);
  out->set_server(wire_text(welcome.info.server));
  out->set_session(wire_text(welcome.info.session));
  for (const auto& device : welcome.info.devices) out->add_devices(wire_text(device));
  out->set_max_tensor_bytes(welcome.info.max_tensor_bytes);
  out->set_max_in_flight(welcome.info.max_in_flight);
  out->set_bulk_credit(welcome.info.bulk_credit);
  out->set_max_programs(welcome.info.max_programs);
  out->set_max_program_entries(welcome.info.max_program_entries);
  out->set_lease_seconds(welcome.lease_seconds);
  out->set_secret(welcome.secret);
  out->set_extensions(welcome.extensions);
  out->set_instance(welcome.info.instance);
  out->set_numerics(welcome.info.numerics);
  out->set_role(wire_text(welcome.info.role));
  for (const auto& url : welcome.advertised) out->add_advertised(wire_text(url));
  if (const auto& resumed = welcome.resumed) {
    auto* wire = out->mutable_resumed();
    wire->set_received(resumed->received);
    wire->set_executed(resumed->executed);
    for (const auto& [key, offset] : resumed->uploads) {
      auto* upload = wire->add_uploads();
      upload->set_key(key);
      upload->set_offset(offset);
    }
  }
  return out;
}

Result<Body> from_wire(const v1::Hello& hello) {
  Hello body{hello.version(),
             hello.fingerprint(),
             hello.client().substr(0, kMaxTextBytes),
             hello.token().substr(0, kMaxTextBytes),
             hello.device(),
             hello.lease_seconds()};
  if (hello.has_resume()) {
    const auto& resume = hello.resume();
    body.resume = Resume{resume.session().substr(0, kMaxTextBytes), resume.secret().substr(0, kMaxTextBytes),
                         resume.answers(), resume.downloads(), resume.offset()};
  }
  body.device_name = hello.device_name().substr(0, kMaxTextBytes);
  return Body{std::move(body)};
}

Result<Body> from_wire(const v1::Welcome& welcome) {
  if (welcome.devices_size() > kMaxDevices) return invalid_argument(fmt::format("{} devices", welcome.devices_size()));
  Welcome body{welcome.version(), welcome.fingerprint(), {}, welcome.lease_seconds()};
  body.secret = welcome.secret().substr(0, kMaxTextBytes);
  body.info.server = welcome.server().substr(0, kMaxTextBytes);
  body.info.session = welcome.session().substr(0, kMaxTextBytes);
  body.info.devices.assign(welcome.devices().begin(), welcome.devices().end());
  body.info.max_tensor_bytes = welcome.max_tensor_bytes();
  body.info.max_in_flight = welcome.max_in_flight();
  body.info.bulk_credit = welcome.bulk_credit();
  body.info.max_programs = welcome.max_programs();
  body.info.max_program_entries = welcome.max_program_entries();
  body.info.instance = welcome.instance().substr(0, kMaxTextBytes);
  body.info.numerics = welcome.numerics();
  body.info.role = welcome.role().substr(0, kMaxTextBytes);
  body.extensions = welcome.extensions();
  for (const auto& url : welcome.advertised()) {
    if (body.advertised.size() == kMaxAdvertised) break;
    body.advertised.push_back(url.substr(0, kMaxTextBytes));
  }
  if (welcome.has_resumed()) {
    body.resumed.emplace(Resumed{welcome.resumed().received(), welcome.resumed().executed(), {}});
    for (const auto& upload : welcome.resumed().uploads())
      body.resumed->uploads.push_back({upload.key(), upload.offset()});
  }
  return Body{std::move(body)};
}

}  // namespace burn::proto
