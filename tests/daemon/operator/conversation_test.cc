// Requests of HTTP as they come, byte for byte.
#include "daemon/operator/conversation.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/daemon/operator/fake_source.h"

namespace burn::daemon {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kRequest = "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n";

class HttpConversationTest : public testing::Test {
 protected:
  // The reply to these bytes; must be there.
  HttpConversation::Reply reply(std::string_view bytes) {
    conversation_.add(bytes);
    auto reply = conversation_.reply();
    EXPECT_TRUE(reply.has_value()) << bytes.substr(0, 100);
    return reply.value_or(HttpConversation::Reply{});
  }
  void expect_refusal(std::string_view bytes, std::string_view status) {
    const auto refused = reply(bytes);
    EXPECT_THAT(refused.bytes, StartsWith(fmt::format("HTTP/1.1 {}\r\n", status)));
    EXPECT_TRUE(refused.is_last);
    conversation_.add(kRequest);
    EXPECT_FALSE(conversation_.reply().has_value()) << "nothing is read after a refusal";
  }

  FakeSource source_;
  HttpConversation conversation_{source_, true};
};

TEST_F(HttpConversationTest, AnswersAndGoesOn) {
  for (int i = 0; i < 3; ++i) {
    const auto answer = reply(kRequest);
    EXPECT_THAT(answer.bytes, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(answer.bytes, HasSubstr("\r\nContent-Length: 3\r\n"));
    EXPECT_THAT(answer.bytes, HasSubstr("\r\nConnection: keep-alive\r\n"));
    EXPECT_THAT(answer.bytes, EndsWith("\r\n\r\nok\n"));
    EXPECT_FALSE(answer.is_last);
    EXPECT_FALSE(conversation_.has_begun());
  }
}

TEST_F(HttpConversationTest, TakesARequestInWhateverPiecesItComes) {
  for (std::size_t k = 0; k + 1 < kRequest.size(); ++k) {
    conversation_.add({&kRequest[k], 1});
    EXPECT_FALSE(conversation_.reply().has_value()) << k;
    EXPECT_TRUE(conversation_.has_begun());
  }
  EXPECT_THAT(reply("\n").bytes, StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpConversationTest, AnswersRequestsThatCameTogetherInTurn) {
  conversation_.add(kRequest + "GET /nothing HTTP/1.1\r\n\r\n" + kRequest.substr(0, 10));
  EXPECT_THAT(reply({}).bytes, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(reply({}).bytes, StartsWith("HTTP/1.1 404"));
  EXPECT_FALSE(conversation_.reply().has_value());
  EXPECT_THAT(reply(kRequest.substr(10)).bytes, StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpConversationTest, EndsWhereTheClientWantsIt) {
  EXPECT_TRUE(reply("GET /readyz HTTP/1.1\r\nConnection: close\r\n\r\n").is_last);
  HttpConversation old{source_, true};
  old.add("GET /readyz HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(old.reply().value_or(HttpConversation::Reply{}).is_last);
}

TEST_F(HttpConversationTest, EndsAfterItsLastRequest) {
  for (std::size_t k = 1; k < HttpConversation::kMaxRequests; ++k) ASSERT_FALSE(reply(kRequest).is_last) << k;
  const auto last = reply(kRequest);
  EXPECT_TRUE(last.is_last);
  EXPECT_THAT(last.bytes, HasSubstr("\r\nConnection: close\r\n"));
}

TEST_F(HttpConversationTest, HeadHasTheHeadersAlone) {
  const auto answer = reply("HEAD /readyz HTTP/1.1\r\n\r\n").bytes;
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Length: 3\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST_F(HttpConversationTest, SaysWhichMethodsAPathHas) {
  EXPECT_THAT(reply("GET /drain HTTP/1.1\r\n\r\n").bytes, HasSubstr("\r\nAllow: POST\r\n"));
}

TEST_F(HttpConversationTest, RefusesALineWithoutEnd) {
  expect_refusal("GET /" + std::string(1 << 20, 'a'), "431 Request Header Fields Too Large");
}

TEST_F(HttpConversationTest, RefusesHeadersWithoutEnd) {
  std::string request = "GET /readyz HTTP/1.1\r\n";
  for (int i = 0; i < 1000; ++i) request += fmt::format("X-{}: y\r\n", i);
  expect_refusal(request, "431 Request Header Fields Too Large");
}

TEST_F(HttpConversationTest, RefusesHeadersThatComeSlowlyAndWithoutEnd) {
  std::optional<HttpConversation::Reply> refused;
  std::size_t sent = 0;
  conversation_.add("GET /readyz HTTP/1.1\r\n");
  for (; !refused && sent < 100'000; sent += 8) {
    conversation_.add("X-a: b\r\n");
    refused = conversation_.reply();
  }
  ASSERT_TRUE(refused.has_value());
  EXPECT_THAT(refused->bytes, StartsWith("HTTP/1.1 431 "));
  EXPECT_LE(sent, HttpConversation::kMaxRequestBytes);
}

TEST_F(HttpConversationTest, RefusesBodies) {
  expect_refusal("POST /drain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello", "413 Content Too Large");
  EXPECT_EQ(source_.drains, 0);
}

TEST_F(HttpConversationTest, RefusesBodiesOfUnknownLength) {
  expect_refusal("POST /drain HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                 "413 Content Too Large");
  EXPECT_EQ(source_.drains, 0);
}

TEST_F(HttpConversationTest, TakesAPostWithAnEmptyBody) {
  EXPECT_THAT(reply("POST /drain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n").bytes,
              StartsWith("HTTP/1.1 202"));
  EXPECT_EQ(source_.drains, 1);
}

TEST_F(HttpConversationTest, RefusesWhatIsNoHttp) { expect_refusal("\x16\x03\x01\x02\x01\x01\xfc", "400 Bad Request"); }

TEST_F(HttpConversationTest, RefusesAWebSocketsUpgradeByItsPath) {
  EXPECT_THAT(reply("GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n").bytes,
              StartsWith("HTTP/1.1 404"));
}

TEST_F(HttpConversationTest, AFailureOfTheProcessIsAnAnswer) {
  source_.on_collect = [](Samples&) { throw std::bad_alloc{}; };
  EXPECT_THAT(reply("GET /metrics HTTP/1.1\r\n\r\n").bytes, StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(reply(kRequest).bytes, StartsWith("HTTP/1.1 200"));
}

}  // namespace
}  // namespace burn::daemon
