// The parts of a WebSocket that need no socket: framing, handshake, inbox and outbox.
#include <cstring>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/uio.h>

#include "net/transport/ws_frame.h"
#include "net/transport/ws_handshake.h"
#include "net/transport/ws_inbox.h"
#include "net/transport/ws_outbox.h"

namespace burn::net::ws {
namespace {

using testing::HasSubstr;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span{text}); }
std::string text_of(const SharedBytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

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

TEST(WsHandshake, WhoMayNotConnectIsNotHeard) {
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

// Puts `stream` into the inbox in pieces of at most `piece` bytes and collects what comes out.
Result<std::vector<Inbox::Event>> feed(Inbox& inbox, std::string_view stream, std::size_t piece) {
  std::vector<Inbox::Event> events;
  while (!stream.empty()) {
    std::size_t put = 0;
    for (const auto space : inbox.space()) {
      const std::size_t count = std::min({space.size(), piece - put, stream.size()});
      if (count > 0) std::memcpy(space.data(), stream.data(), count);
      stream.remove_prefix(count);
      put += count;
      if (count < space.size()) break;
    }
    inbox.advance(put);
    for (;;) {
      BURN_TRY(const auto event, inbox.next());
      if (!event) break;
      events.push_back(*event);
    }
  }
  return events;
}

TEST(WsInbox, CutsAStreamHoweverItArrives) {
  std::string stream;
  std::vector<std::string> contents;
  for (const std::size_t size : {5u, 0u, 125u, 126u, 20'000u, 65'536u, 1u, 300'000u}) {
    std::string content(size, '\0');
    for (std::size_t i = 0; i < size; ++i) content[i] = static_cast<char>(i * 7 + size);
    stream += make_header(Opcode::binary, size, Role::server) + content;
    stream += make_control(Opcode::ping, std::to_string(size), Role::server);
    contents.push_back(content);
  }
  for (const std::size_t piece :
       {std::size_t{1}, std::size_t{3}, std::size_t{1000}, std::size_t{16384}, std::size_t{1} << 20}) {
    Inbox inbox(Role::server, 1 << 20);
    const auto events = feed(inbox, stream, piece);
    ASSERT_TRUE(events.ok()) << events.status().to_string();
    ASSERT_EQ(events->size(), 2 * contents.size());
    for (std::size_t i = 0; i < contents.size(); ++i) {
      EXPECT_EQ((*events)[2 * i].opcode, Opcode::binary);
      EXPECT_TRUE(text_of((*events)[2 * i].content) == contents[i]) << piece << ", " << i;
      EXPECT_EQ((*events)[2 * i + 1].opcode, Opcode::ping);
      EXPECT_EQ(text_of((*events)[2 * i + 1].content), std::to_string(contents[i].size()));
    }
  }
}

TEST(WsInbox, TakesMasksOffMessagesInPieces) {
  std::mt19937 random{3};
  std::string whole, stream;
  for (int i = 0; i < 40; ++i) {
    std::string part(random() % 5000, static_cast<char>('a' + i % 26));
    whole += part;
    Mask mask;
    for (auto& m : mask) m = static_cast<std::byte>(random());
    std::string header = make_header(i == 0 ? Opcode::binary : Opcode::continuation, part.size(), Role::client);
    if (i < 39) header[0] = static_cast<char>(header[0] & 0x7f);  // not the last
    std::memcpy(header.data() + header.size() - 4, mask.data(), 4);
    unmask(std::as_writable_bytes(std::span{part}), mask, 0);
    stream += header + part;
  }
  for (const std::size_t piece : {std::size_t{1}, std::size_t{77}, std::size_t{1} << 20}) {
    Inbox inbox(Role::client, 1 << 20);
    const auto events = feed(inbox, stream, piece);
    ASSERT_TRUE(events.ok() && events->size() == 1);
    EXPECT_TRUE(text_of((*events)[0].content) == whole);
  }
}

TEST(WsInbox, SurvivesNoise) {
  std::mt19937 random{11};
  int failures = 0;
  for (int round = 0; round < 3000; ++round) {
    Inbox inbox(Role::client, 4096);
    std::string noise(random() % 200, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    if (!noise.empty() && round % 2 == 0) noise[0] = '\x82';
    failures += feed(inbox, noise, 1 + random() % 50).ok() ? 0 : 1;
  }
  EXPECT_GT(failures, 100);
}

TEST(WsInbox, NamesWhatIsBroken) {
  const auto fails = [](const std::string& stream) {
    Inbox inbox(Role::server, 100);
    return feed(inbox, stream, 1000).status();
  };
  EXPECT_EQ(fails(make_header(Opcode::binary, 101, Role::server)).code(), StatusCode::resource_exhausted);
  EXPECT_EQ(fails(make_header(Opcode::text, 1, Role::server)).code(), StatusCode::unimplemented);
  EXPECT_EQ(fails(make_header(Opcode::continuation, 1, Role::server)).code(), StatusCode::invalid_argument);
  EXPECT_EQ(fails(make_header(Opcode::binary, 1, Role::client)).code(), StatusCode::invalid_argument);
  std::string begun = make_header(Opcode::binary, 1, Role::server) + "x";
  begun[0] = static_cast<char>(begun[0] & 0x7f);
  EXPECT_EQ(fails(begun + make_header(Opcode::binary, 1, Role::server)).code(), StatusCode::invalid_argument);
  EXPECT_EQ(fails(begun + make_header(Opcode::continuation, 100, Role::server)).code(), StatusCode::resource_exhausted);
}

TEST(WsOutbox, HandsOutEverythingOnceInAnySteps) {
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{1000}, std::size_t{1} << 20}) {
    Outbox outbox(Role::server);
    std::string expected;
    for (std::size_t i = 0; i < 20; ++i) {
      const std::string header = "header" + std::to_string(i);
      const std::string payload(i * 50, 'p');
      outbox.add({header, SharedBytes::own(std::vector<char>(payload.begin(), payload.end()))});
      expected += make_header(Opcode::binary, header.size() + payload.size(), Role::server) + header + payload;
      outbox.add_raw("raw");
      expected += "raw";
    }
    std::string got;
    while (!outbox.empty()) {
      std::array<iovec, Outbox::kMaxParts> parts;
      const std::size_t most = 2 * step + 1;
      const std::size_t count = outbox.parts(parts, most);
      ASSERT_GT(count, 0u);
      std::size_t offered = 0;
      for (std::size_t k = 0; k < count; ++k) offered += parts[k].iov_len;
      ASSERT_LE(offered, most);
      std::size_t taken = 0;
      for (std::size_t k = 0; k < count && taken < step; ++k) {
        const std::size_t part = std::min(parts[k].iov_len, step - taken);
        got.append(static_cast<const char*>(parts[k].iov_base), part);
        taken += part;
      }
      outbox.consume(taken);
    }
    EXPECT_TRUE(got == expected) << step;
  }
}

TEST(WsOutbox, LetsGoOfPayloadsThatAreGone) {
  Outbox outbox(Role::server);
  const auto owner = std::make_shared<std::vector<std::byte>>(100);
  outbox.add({"h", SharedBytes{owner, *owner}});
  outbox.add({"h", {}});
  outbox.consume(102);
  EXPECT_EQ(owner.use_count(), 2);
  outbox.consume(1);
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_FALSE(outbox.empty());
}

// Messages of a kind that begins with "place:", whose rest goes to memory of the test's.
class PlacedInbox : public testing::Test {
 protected:
  static constexpr std::size_t kRest = 100'000;

  Inbox inbox_{Role::client, 1 << 20, [this](std::span<const std::byte> head, std::uint64_t size) {
                 ++asked_;
                 const bool is_known = std::memcmp(head.data(), "place:", 6) == 0;
                 if (!is_known || size != 6 + rest_.size()) return proto::ReceiveSpace{};
                 return proto::ReceiveSpace{6, nullptr, rest_};
               }};
  std::vector<std::byte> rest_ = std::vector<std::byte>(kRest);
  int asked_ = 0;

  // A masked message, fed in reads of at most `part` bytes.
  std::vector<Inbox::Event> feed(const std::string& content, std::size_t part) {
    std::string bytes = make_header(Opcode::binary, content.size(), Role::client);
    const Mask mask{std::byte{7}, std::byte{1}, std::byte{0}, std::byte{200}};
    std::memcpy(bytes.data() + bytes.size() - 4, mask.data(), 4);
    std::string masked = content;
    unmask(std::as_writable_bytes(std::span{masked}), mask, 0);
    bytes += masked;
    std::vector<Inbox::Event> events;
    for (std::size_t at = 0; at < bytes.size();) {
      std::size_t count = 0;
      for (const auto space : inbox_.space()) {
        const std::size_t some = std::min({space.size(), bytes.size() - at - count, part - count});
        if (some > 0) std::memcpy(space.data(), bytes.data() + at + count, some);
        count += some;
      }
      inbox_.advance(count);
      at += count;
      for (;;) {
        auto event = inbox_.next();
        EXPECT_TRUE(event.ok());
        if (!event.ok() || !*event) break;
        events.push_back(**std::move(event));
      }
    }
    return events;
  }

  static std::string filler(std::size_t size) {
    std::string text(size, ' ');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i % 23);
    return text;
  }
};

TEST_F(PlacedInbox, PutsTheRestWhereItIsTold) {
  const std::string rest = filler(kRest);
  for (const std::size_t part : {1ul, 13ul, 1000ul, 16384ul, 1ul << 20}) {
    std::ranges::fill(rest_, std::byte{});
    const auto events = feed("place:" + rest, part);
    ASSERT_EQ(events.size(), 1u) << "in parts of " << part;
    EXPECT_EQ(text_of(events[0].content), "place:");
    EXPECT_EQ(static_cast<const void*>(events[0].rest.data()), rest_.data());
    EXPECT_EQ(text_of(events[0].rest), rest);
  }
}

TEST_F(PlacedInbox, TakesWhatHasNoPlaceInOnePiece) {
  const std::string other = "other:" + filler(kRest);
  const auto events = feed(other, 5000);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(text_of(events[0].content), other);
  EXPECT_TRUE(events[0].rest.empty());
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(feed("place:" + filler(10), 5000).size(), 1u);
  EXPECT_EQ(asked_, 1) << "small messages are not worth the question";
}

}  // namespace
}  // namespace burn::net::ws
