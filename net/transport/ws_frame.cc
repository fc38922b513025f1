#include "net/transport/ws_frame.h"

#include <algorithm>
#include <cstring>

namespace burn::net::ws {
namespace {

constexpr std::uint8_t kFinal = 0x80, kReserved = 0x70, kOpcode = 0x0f, kMasked = 0x80, kLength = 0x7f;
constexpr std::uint8_t kLength16 = 126, kLength64 = 127;  // the length is in the next 2 or 8 bytes

bool is_known(std::uint8_t opcode) { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

std::uint64_t big_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (const std::byte b : bytes) value = value << 8 | std::to_integer<std::uint64_t>(b);
  return value;
}

void append_big_endian(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
}

}  // namespace

Result<std::optional<Header>> parse_header(std::span<const std::byte> bytes, Role from) {
  if (bytes.size() < 2) return std::optional<Header>{};
  const auto first = std::to_integer<std::uint8_t>(bytes[0]);
  const auto second = std::to_integer<std::uint8_t>(bytes[1]);
  if ((first & kReserved) != 0) return invalid_argument("reserved bits are set");
  if (!is_known(first & kOpcode)) return invalid_argument("an unknown opcode");
  Header header{.opcode = static_cast<Opcode>(first & kOpcode), .final = (first & kFinal) != 0};
  const bool masked = (second & kMasked) != 0;
  if (masked != (from == Role::client)) return invalid_argument(masked ? "a server masks" : "a client does not mask");

  const std::uint8_t length = second & kLength;
  const std::size_t extra = length == kLength16 ? 2 : length == kLength64 ? 8 : 0;
  header.size = 2 + extra + (masked ? 4 : 0);
  if (is_control(header.opcode) && (extra != 0 || !header.final))
    return invalid_argument("a long or split control frame");
  if (bytes.size() < header.size) return std::optional<Header>{};
  header.length = extra == 0 ? length : big_endian(bytes.subspan(2, extra));
  const std::uint64_t least = extra == 2 ? kLength16 : extra == 8 ? 0x10000 : 0;
  if (header.length < least || header.length >> 63 != 0) return invalid_argument("a length written wrongly");
  if (masked) {
    auto& mask = header.mask.emplace();
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(2 + extra), mask.size(), mask.begin());
  }
  return std::optional{header};
}

std::string make_header(Opcode opcode, std::uint64_t length, Role from) {
  const std::uint8_t mask_bit = from == Role::client ? kMasked : 0;
  std::string out;
  out += static_cast<char>(kFinal | static_cast<std::uint8_t>(opcode));
  if (length < kLength16) {
    out += static_cast<char>(mask_bit | length);
  } else if (length < 0x10000) {
    out += static_cast<char>(mask_bit | kLength16);
    append_big_endian(out, length, 2);
  } else {
    out += static_cast<char>(mask_bit | kLength64);
    append_big_endian(out, length, 8);
  }
  if (from == Role::client) out.append(4, '\0');
  return out;
}

std::string make_control(Opcode opcode, std::string_view content, Role from) {
  return make_header(opcode, content.size(), from).append(content);
}

void unmask(std::span<std::byte> bytes, const Mask& mask, std::uint64_t offset) {
  if (mask == Mask{}) return;
  Mask turned;
  for (std::size_t i = 0; i < 4; ++i) turned[i] = mask[(offset + i) % 4];
  std::uint32_t pattern;
  std::memcpy(&pattern, turned.data(), 4);
  const std::uint64_t wide = std::uint64_t{pattern} << 32 | pattern;
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, &bytes[i], 8);
    word ^= wide;
    std::memcpy(&bytes[i], &word, 8);
  }
  for (; i < bytes.size(); ++i) bytes[i] ^= turned[i % 4];
}

std::string encode_close(CloseCode code, std::string_view text) {
  std::string content;
  append_big_endian(content, static_cast<std::uint16_t>(code), 2);
  return content.append(text.substr(0, 123));
}

CloseReason decode_close(std::span<const std::byte> content) {
  if (content.size() < 2) return {};
  const auto text = content.subspan(2);
  return {static_cast<CloseCode>(big_endian(content.first(2))),
          std::string{reinterpret_cast<const char*>(text.data()), text.size()}};
}

}  // namespace burn::net::ws
