// How a WebSocket is asked for and granted, with a first message in the request.
#include "net/transport/ws_handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn::net::ws {
namespace {

using testing::HasSubstr;

TEST(WsHandshake, AnswersTheExampleOfTheStandard) {
  const std::string request =
      "GET /chat HTTP/1.1\r\nHost: server.example.com\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: http://example.com\r\nSec-WebSocket-Version: 13\r\n\r\n";
  EXPECT_EQ(http_header_size(request + "more"), request.size());
  EXPECT_EQ(http_header_size(request.substr(0, request.size() - 1)), 0u);
  EXPECT_THAT(answer_upgrade(request).text, HasSubstr("HTTP/1.1 403 Forbidden\r\n"));
  const std::vector<std::string> origins = {"http://example.com"};
  const Answer answer = answer_upgrade(request, {}, origins);
  EXPECT_TRUE(answer.status.ok());
  EXPECT_THAT(answer.text, HasSubstr("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
  EXPECT_TRUE(check_upgrade(answer.text, "dGhlIHNhbXBsZSBub25jZQ==").ok());
  EXPECT_FALSE(check_upgrade(answer.text, "another key").ok());
}

TEST(WsHandshake, ClientAndServerAgree) {
  const std::string key = make_key();
  EXPECT_EQ(key.size(), 24u);
  EXPECT_NE(key, make_key());
  const Answer answer = answer_upgrade(upgrade_request("host:3000", key));
  EXPECT_TRUE(answer.status.ok());
  EXPECT_TRUE(check_upgrade(answer.text, key).ok());
}

TEST(WsHandshake, TakesTheFirstMessageWithTheRequest) {
  const std::string key = make_key();
  for (const std::size_t size : {1u, 2u, 3u, 100u, 3071u, 3072u}) {
    std::string hello(size, '\0');
    for (std::size_t i = 0; i < size; ++i) hello[i] = static_cast<char>(i * 37);
    const Answer answer = answer_upgrade(upgrade_request("host:3000", key, false, hello));
    EXPECT_TRUE(answer.status.ok()) << size;
    EXPECT_EQ(answer.hello, hello);
    const auto upgraded = check_upgrade(answer.text, key);
    EXPECT_TRUE(upgraded.ok() && upgraded->took_hello) << size;
  }
}

TEST(WsHandshake, AServerThatKnowsNothingOfTheFirstMessageHasNotTakenIt) {
  const std::string key = make_key();
  const Answer answer = answer_upgrade(upgrade_request("host:3000", key));
  EXPECT_EQ(answer.hello, "");
  const auto upgraded = check_upgrade(answer.text, key);
  EXPECT_TRUE(upgraded.ok() && !upgraded->took_hello);
}

TEST(WsHandshake, RefusesAFirstMessageThatIsNone) {
  const std::string good = upgrade_request("host:3000", make_key(), false, "hello!");
  const auto with = [&](const std::string& text) {
    std::string request = good;
    return request.replace(request.find("aGVsbG8h"), 8, text);
  };
  EXPECT_EQ(answer_upgrade(with("aGVsbG8h")).hello, "hello!");
  for (const std::string& text :
       {std::string{"aGVsbG8"}, std::string{"aGVs*G8h"}, std::string{"===="}, std::string{"aG=sbG8h"},
        std::string{"aGVsbG8h, aGVsbG8h"}, std::string{"aGVsbG8h\r\nBurn-Hello: aGVsbG8h"}, std::string(4104, 'A')}) {
    const Answer answer = answer_upgrade(with(text));
    EXPECT_FALSE(answer.status.ok()) << text;
    EXPECT_THAT(answer.text, HasSubstr("400 Bad Request")) << text;
    EXPECT_EQ(answer.hello, "");
  }
}

TEST(WsHandshake, AClientThatMayNotConnectIsNotHeard) {
  std::string request = upgrade_request("host:3000", make_key(), false, "hello!");
  request.insert(request.size() - 2, "Origin: http://elsewhere.example\r\n");
  const Answer answer = answer_upgrade(request);
  EXPECT_FALSE(answer.status.ok());
  EXPECT_EQ(answer.hello, "");
}

TEST(WsHandshake, RefusesWhatIsNotAnUpgrade) {
  EXPECT_THAT(answer_upgrade("GET / HTTP/1.1\r\nHost: x\r\n\r\n").text, HasSubstr("HTTP/1.1 426 Upgrade Required\r\n"));
  EXPECT_THAT(answer_upgrade("nonsense\r\n\r\n").text, HasSubstr("400 Bad Request"));
  EXPECT_THAT(answer_upgrade("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             "Sec-WebSocket-Key: a\r\nSec-WebSocket-Version: 8\r\n\r\n")
                  .text,
              HasSubstr("400 Bad Request"));
  EXPECT_THAT(check_upgrade("HTTP/1.1 404 Not Found\r\n\r\n", "").status().message(), HasSubstr("404 Not Found"));
  EXPECT_FALSE(check_upgrade("SSH-2.0\r\n\r\n", "").ok());
}

}  // namespace
}  // namespace burn::net::ws
