// Hand-written HTTP/2, for gRPC calls that no library would make.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace burn::test::http2 {

inline std::string big_endian(std::uint32_t value, int bytes) {
  std::string out;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
  return out;
}

enum class Type : char { data = 0, headers = 1, reset = 3, settings = 4, ping = 6 };
inline constexpr char kEndStream = 1, kEndHeaders = 4;

inline std::string frame(Type type, char flags, std::uint32_t stream, std::string_view payload = {}) {
  return big_endian(static_cast<std::uint32_t>(payload.size()), 3) + static_cast<char>(type) + flags +
         big_endian(stream, 4) + std::string{payload};
}

// The first bytes of a client: the connection preface.
inline std::string preface() { return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(Type::settings, 0, 0); }

// A header that no table knows. Requires: less than 127 bytes each.
inline std::string header(std::string_view name, std::string_view value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + std::string{name} + static_cast<char>(value.size()) +
         std::string{value};
}

// The beginning of a call. `more`: further headers.
inline std::string call(std::uint32_t stream, std::string_view method, std::string_view more = {}) {
  std::string block = "\x83\x86\x04";  // POST, http, :path
  block += static_cast<char>(method.size());
  block += method;
  block += std::string{"\x01\x01x", 3};  // :authority
  block += header("content-type", "application/grpc") + header("te", "trailers");
  return frame(Type::headers, kEndHeaders, stream, block.append(more));
}

inline std::string reset(std::uint32_t stream) { return frame(Type::reset, 0, stream, big_endian(8, 4)); }

// The head of a gRPC message.
inline std::string message_head(bool is_packed, std::uint32_t bytes) {
  return std::string(1, is_packed ? '\1' : '\0') + big_endian(bytes, 4);
}

}  // namespace burn::test::http2
