// A WebSocket's frames: headers, masks, the close.
#include "net/transport/ws_frame.h"

#include <gtest/gtest.h>

namespace burn::net::ws {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span{text}); }

TEST(WsFrame, ParsesTheHeadersItMakes) {
  for (const Role from : {Role::client, Role::server}) {
    for (const std::uint64_t length : {0ull, 1ull, 125ull, 126ull, 127ull, 65535ull, 65536ull, 1ull << 40}) {
      const std::string made = make_header(Opcode::binary, length, from);
      for (std::size_t part = 0; part < made.size(); ++part) {
        const auto early = parse_header(bytes_of(made).first(part), from);
        ASSERT_TRUE(early.ok());
        EXPECT_FALSE(early->has_value());
      }
      const auto header = parse_header(bytes_of(made), from);
      ASSERT_TRUE(header.ok() && header->has_value());
      EXPECT_EQ((*header)->length, length);
      EXPECT_EQ((*header)->size, made.size());
      EXPECT_EQ((*header)->mask.has_value(), from == Role::client);
    }
  }
}

TEST(WsFrame, MasksFromAnyOffset) {
  const Mask mask{std::byte{1}, std::byte{0x80}, std::byte{3}, std::byte{0xff}};
  std::vector<std::byte> plain(1000), masked;
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<std::byte>(i * 13);
  masked = plain;
  unmask(masked, mask, 0);
  EXPECT_NE(masked, plain);
  for (std::size_t i = 0; i < plain.size(); ++i) ASSERT_EQ(masked[i], plain[i] ^ mask[i % 4]);
  for (std::size_t at = 0; at < masked.size();) {  // off again, in parts of every length
    const std::size_t part = std::min<std::size_t>(masked.size() - at, at % 17 + 1);
    unmask(std::span(masked).subspan(at, part), mask, at);
    at += part;
  }
  EXPECT_EQ(masked, plain);
}

TEST(WsFrame, ReadsTheCloseItWrites) {
  const CloseReason reason = decode_close(bytes_of(encode_close(CloseCode::too_big, "too much")));
  EXPECT_EQ(reason.code, CloseCode::too_big);
  EXPECT_EQ(reason.text, "too much");
  EXPECT_EQ(decode_close({}).code, CloseCode::none);
  EXPECT_EQ(encode_close(CloseCode::normal, std::string(500, 'x')).size(), 125u);
}

}  // namespace
}  // namespace burn::net::ws
