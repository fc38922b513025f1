// Receiving over a WebSocket, with the bytes cut into pieces of any size.
#include "net/transport/ws_inbox.h"

#include <cstring>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/transport/ws_frame.h"

namespace burn::net::ws {
namespace {

std::string text_of(const SharedBytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

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
