// burn-server's gate: web pages of other origins, and what is logged about connections.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/net/raw_socket.h"
#include "tests/server/gate.h"

namespace burn::server {
namespace {

using namespace std::chrono_literals;

TEST(BurnServerGate, PagesOfOthersMayNotConnect) {
  Running worker{{"--allow-origin", "https://example.org", "--allow-origin", "http://b.org:8080"}};
  const auto answer_to = [&](const std::string& header) {
    const auto peer = test::RawSocket::connect(test::address_of(worker.urls[0]));
    peer.write("GET / HTTP/1.1\r\nHost: worker:3000\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" + header +
               "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
    return peer.read_some().substr(0, 12);
  };
  EXPECT_EQ(answer_to(""), "HTTP/1.1 101");
  EXPECT_EQ(answer_to("Origin: https://example.org\r\n"), "HTTP/1.1 101");
  EXPECT_EQ(answer_to("Origin: http://b.org:8080\r\n"), "HTTP/1.1 101");
  for (const char* origin : {"http://evil.net", "null", "http://worker:3000", "https://example.org.evil.net", ""}) {
    EXPECT_EQ(answer_to(fmt::format("Origin: {}\r\n", origin)), "HTTP/1.1 403") << origin;
  }
  EXPECT_EQ(answer_to("Origin: http://evil.net\r\nOrigin: https://example.org\r\n"), "HTTP/1.1 400");
}

TEST(BurnServerGate, WhatAClientSaysStaysWithinItsLine) {
  Running worker{{}};
  const auto say = [&](const std::string& bytes) {
    const auto peer = test::RawSocket::connect(test::address_of(worker.urls[0]));
    ASSERT_NE(peer.upgrade().find("101"), std::string::npos);
    peer.write(bytes);
    bool closed = false;
    peer.read_until_closed(1s, &closed);
  };
  const std::string forged = "x\n2026-01-01T00:00:00.000 info session s-99 opened from 1.2.3.4\x1b[2K\"";
  say(hello(forged));
  // A close frame that says something, before and after the hello.
  std::string reason{"\x03\xf3", 2};
  reason += "bye\n2026-01-01T00:00:00.000 info forged";
  std::string close{"\x88"};
  close += static_cast<char>(0x80 | reason.size());
  close += std::string(4, '\0') + reason;
  say(close);
  say(hello() + close);
  const auto log = worker.stop();
  EXPECT_NE(log.find("(\"x\\n2026-01-01T00:00:00.000 info session s-99 opened from 1.2.3.4\\x1b[2K\\\"\")"),
            std::string::npos)
      << log;
  EXPECT_EQ(log.find("\n2026-01-01"), std::string::npos) << log;
  EXPECT_EQ(log.find('\x1b'), std::string::npos);
  EXPECT_NE(log.find("bye\\n2026"), std::string::npos) << log;
}

TEST(BurnServerGate, ALogThatIsNotReadHoldsUpNoSession) {
  Running worker{{}};
  for (int i = 0; i < 800; ++i) {  // of some 200 bytes each, into a pipe of 64 KiB
    const auto status = try_to_connect(worker.urls[0]);
    ASSERT_TRUE(status.ok()) << i << ": " << status.to_string();
  }
  worker.stop();
  EXPECT_EQ(worker.exit_code, 0);
}

TEST(BurnServerGate, AnUnauthenticatedClientMaySendLittle) {
  Running worker{{}};
  const auto peer = test::RawSocket::connect(test::address_of(worker.urls[0]));
  ASSERT_NE(peer.upgrade().find("101"), std::string::npos);
  peer.write(std::string{"\x82\xff\0\0\0\0\0\x10\0\0\0\0\0\0", 14});  // a message of a mebibyte begins
  bool closed = false;
  const auto answer = peer.read_until_closed(10s, &closed);
  EXPECT_TRUE(closed);
  EXPECT_NE(answer.find("a frame of more than 65536 bytes"), std::string::npos) << answer;
}

}  // namespace
}  // namespace burn::server
