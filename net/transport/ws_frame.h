// The framing of WebSocket (RFC 6455, section 5): headers and masks. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace burn::net::ws {

enum class Opcode : std::uint8_t { continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

inline bool is_control(Opcode opcode) { return static_cast<std::uint8_t>(opcode) >= 8; }

enum class Role { client, server };

using Mask = std::array<std::byte, 4>;

struct Header {
  Opcode opcode = Opcode::binary;
  bool final = true;
  std::optional<Mask> mask;
  std::uint64_t length = 0;  // bytes of the payload
  std::size_t size = 0;      // bytes of the header itself
};

// Parses the header at the start of `bytes`; std::nullopt if more bytes are needed. `from`: the end that sent them:
// clients mask, servers do not. Errors: INVALID_ARGUMENT naming the broken rule.
Result<std::optional<Header>> parse_header(std::span<const std::byte> bytes, Role from);

// Makes the header of a final frame. A client's has a mask of zeros, which leaves the payload unchanged, so tensors are
// sent without being touched. Masks exist to keep scripts in a browser from choosing the bytes on the wire, and this
// client is not a browser.
std::string make_header(Opcode opcode, std::uint64_t length, Role from);

// Makes a whole control frame. Requires: at most 125 bytes of content.
std::string make_control(Opcode opcode, std::string_view content, Role from);

// Removes the mask (or applies it). `bytes` begins `offset` bytes after the header.
void unmask(std::span<std::byte> bytes, const Mask& mask, std::uint64_t offset);

// The content of a close frame.
enum class CloseCode : std::uint16_t {
  normal = 1000,
  going_away = 1001,
  protocol_error = 1002,
  unsupported = 1003,
  none = 1005,  // the frame has no code
  too_big = 1009,
};

struct CloseReason {
  CloseCode code = CloseCode::none;
  std::string text;
};
std::string encode_close(CloseCode code, std::string_view text);
CloseReason decode_close(std::span<const std::byte> content);

}  // namespace burn::net::ws
