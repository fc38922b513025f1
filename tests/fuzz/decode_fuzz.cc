// Any bytes as a frame: decode never crashes, and what it understands can be said again and means the same.
#include <cstdint>
#include <cstdlib>

#include "proto/codec.h"

using burn::SharedBytes;

namespace {

SharedBytes joined(const burn::proto::EncodedFrame& frame) {
  std::vector<char> bytes(frame.header.begin(), frame.header.end());
  const auto* payload = reinterpret_cast<const char*>(frame.payload.data());
  bytes.insert(bytes.end(), payload, payload + frame.payload.size());
  return SharedBytes::own(std::move(bytes));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto frame = burn::proto::decode(SharedBytes::own(std::vector<std::uint8_t>(data, data + size)));
  if (!frame.ok()) return 0;
  const auto* define = std::get_if<burn::proto::DefineProgram>(&frame->body);
  if (define && !define->program) return define->invalid.ok() ? (std::abort(), 0) : 0;
  const auto bytes = joined(burn::proto::encode(*frame));
  const auto again = burn::proto::decode(bytes);
  if (!again.ok() || again->seq != frame->seq || again->body.index() != frame->body.index()) std::abort();
  if (define && !burn::ir::same(*define->program, *std::get<burn::proto::DefineProgram>(again->body).program))
    std::abort();
  return 0;
}
