// The parts of a client's conversation: AddressChoice, Window, Confirmation, Reconnector, ClientHandshake.
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "net/dial/address_choice.h"
#include "net/remote/client_handshake.h"
#include "net/remote/confirmation.h"
#include "net/remote/reconnector.h"
#include "net/remote/window.h"

namespace burn::net {
namespace {

using namespace std::chrono_literals;

OrderedFrame frame(std::uint64_t seq, std::size_t upload = 0) {
  OrderedFrame made{.seq = seq, .frame = proto::encode({seq, proto::Release{}, {}}), .upload_id = {}, .upload = {}};
  if (upload > 0) {
    made.upload_id = seq;
    made.upload = SharedBytes::own(std::vector<std::byte>(upload));
  }
  return made;
}

// --- AddressChoice ---------------------------------------------------------------------------------------------------

using Addresses = std::vector<std::string>;

TEST(AddressChoice, KeepsTheSystemsOrderUntilOneRefuses) {
  AddressChoice choice;
  const Addresses found{"a:1", "b:1", "c:1"};
  EXPECT_EQ(choice.order(found), found);
  choice.refuse();
  EXPECT_EQ(choice.order(found), found) << "nothing was dialled";
  choice.dialled("a:1");
  choice.refuse();
  EXPECT_EQ(choice.order(found), (Addresses{"b:1", "c:1", "a:1"}));
  choice.dialled("b:1");
  choice.refuse();
  EXPECT_EQ(choice.order(found), (Addresses{"c:1", "a:1", "b:1"}));
  choice.dialled("c:1");
  choice.refuse();
  EXPECT_EQ(choice.order(found), found) << "in turn";
}

TEST(AddressChoice, ComesBackToWhereTheSessionIs) {
  AddressChoice choice;
  choice.dialled("b:1");
  choice.settle("");
  EXPECT_EQ(choice.order({"a:1", "b:1"}), (Addresses{"b:1", "a:1"}));
  EXPECT_EQ(choice.order({}), (Addresses{"b:1"})) << "the name does not stand for it any more";
  choice.settle("pod-7:1");
  EXPECT_EQ(choice.order({"a:1", "b:1"}), (Addresses{"pod-7:1", "a:1", "b:1"}));
}

// --- Window ----------------------------------------------------------------------------------------------------------

TEST(Window, HasRoomForAsManyFramesAsTheServerTakes) {
  Window window;
  EXPECT_EQ(window.next_seq(), 1u);
  window.open(2, proto::kInitialCredit, false);
  for (std::uint64_t seq = 1; seq <= 2; ++seq) {
    EXPECT_TRUE(window.has_room(0));
    window.add(frame(seq), true);
  }
  EXPECT_FALSE(window.has_room(0));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(window.next_frame().has_value());
  EXPECT_FALSE(window.next_frame().has_value());
  EXPECT_TRUE(window.acknowledge(1).ok());
  EXPECT_TRUE(window.has_room(0));
  EXPECT_EQ(window.acknowledge(3).code(), StatusCode::invalid_argument);
}

TEST(Window, BoundsUploadsThatAreNotExecuted) {
  Window window;
  window.open(100, 1 << 20, false);
  constexpr std::size_t kBytes = 48 << 20;
  EXPECT_TRUE(window.has_room(std::uint64_t{1} << 40)) << "one tensor of any size";
  window.add(frame(1, kBytes), true);
  EXPECT_TRUE(window.has_upload_before(2));
  EXPECT_FALSE(window.has_upload_before(1));
  EXPECT_FALSE(window.has_room(Window::kMaxUnexecutedBytes));
  auto write = window.next_frame();
  ASSERT_TRUE(write.has_value());
  window.begin_upload(*std::move(write));
  EXPECT_FALSE(window.is_sent());
  EXPECT_FALSE(window.has_room(kBytes)) << "more would wait for credit than may";
  EXPECT_TRUE(window.acknowledge(1).ok());
  EXPECT_FALSE(window.has_upload_before(2));
}

TEST(Window, KeepsPartsThatCameBeforeTheServersLimits) {
  Window window;
  window.add(frame(1), true);
  window.add_part(1, 7, 0, SharedBytes::own(std::vector<std::byte>(3)));
  window.open(10, proto::kInitialCredit, false);
  window.add_part(1, 7, 3, SharedBytes::own(std::vector<std::byte>(2)));
  EXPECT_EQ(window.waiting_part_bytes(), 5u);
  ASSERT_TRUE(window.next_frame().has_value());
  for (const std::uint64_t offset : {0, 3}) {
    const auto chunk = window.next_chunk();
    ASSERT_TRUE(chunk.has_value());
    EXPECT_EQ(std::get<proto::Chunk>(chunk->body).offset, offset);
  }
  EXPECT_FALSE(window.next_chunk().has_value());
}

TEST(Window, KnowsWhetherTheWorkIsDoneAndEndsWithAQuestion) {
  Window window;
  window.open(10, proto::kInitialCredit, false);
  window.add_question();
  window.add(frame(1), true);
  EXPECT_TRUE(window.ends_with_question());
  window.add(frame(2), false);  // a release
  EXPECT_TRUE(window.ends_with_question());
  while (window.next_frame()) {
  }
  EXPECT_FALSE(window.is_work_done());
  EXPECT_TRUE(window.acknowledge(1).ok());
  EXPECT_TRUE(window.is_work_done());
  EXPECT_FALSE(window.is_executed());
}

TEST(Window, SendsAgainWhatALostConnectionSwallowed) {
  Window window;
  window.open(10, proto::kInitialCredit, true);
  for (std::uint64_t seq = 1; seq <= 3; ++seq) window.add(frame(seq), true);
  while (window.next_frame()) {
  }
  const auto lost = window.resume(1, proto::kInitialCredit, {});
  ASSERT_TRUE(lost.ok());
  EXPECT_EQ(*lost, 2u);
  EXPECT_EQ(window.next_frame()->seq, 2u);
  EXPECT_FALSE(window.resume(4, proto::kInitialCredit, {}).ok()) << "was not sent";
}

TEST(Window, SendsPartsInTheirOrderAfterTheirWriteAndAsFarAsCreditGoes) {
  Window window;
  window.open(1, 3000, false);
  const auto bytes = [](std::size_t size) { return SharedBytes::own(std::vector<std::byte>(size)); };
  window.add(frame(1), true);
  window.add(frame(2), true);
  window.add_part(1, 11, 0, bytes(1000));
  EXPECT_FALSE(window.next_chunk().has_value()) << "their write is not sent";
  EXPECT_EQ(window.next_frame()->seq, 1u);
  window.add_part(2, 12, 0, bytes(1000));
  window.add_part(1, 11, 1000, bytes(4000));
  EXPECT_EQ(window.waiting_part_bytes(), 6000u);
  const auto next = [&] {
    const auto chunk = window.next_chunk();
    if (!chunk) return std::string{"none"};
    const auto& [key, offset] = std::get<proto::Chunk>(chunk->body);
    return fmt::format("{} from {}: {}", key, offset, chunk->payload.size());
  };
  EXPECT_EQ(next(), "11 from 0: 1000");
  EXPECT_EQ(next(), "none") << "the next one's write waits for the window";
  EXPECT_TRUE(window.acknowledge(1).ok());
  EXPECT_EQ(window.next_frame()->seq, 2u);
  EXPECT_EQ(next(), "12 from 0: 1000");
  EXPECT_EQ(next(), "none") << "a chunk of 3000, with credit for 1000";
  EXPECT_TRUE(window.grant(2000).ok());
  EXPECT_EQ(next(), "11 from 1000: 3000");
  EXPECT_EQ(next(), "none");
  EXPECT_TRUE(window.grant(3000).ok());
  EXPECT_EQ(next(), "11 from 4000: 1000");
  EXPECT_EQ(window.waiting_part_bytes(), 0u);
  EXPECT_TRUE(window.is_sent());
}

// --- Confirmation ----------------------------------------------------------------------------------------------------

TEST(Confirmation, IsDueAfterSoManyAnswersOrBytes) {
  Confirmation confirmation;
  EXPECT_FALSE(confirmation.take_due(1, false));
  EXPECT_TRUE(confirmation.take_due(1, true));
  EXPECT_FALSE(confirmation.take_due(proto::kConfirmAnswers, false));
  EXPECT_TRUE(confirmation.take_due(1 + proto::kConfirmAnswers, false));
  confirmation.add_answer(proto::kConfirmBytes);
  EXPECT_TRUE(confirmation.take_due(2 + proto::kConfirmAnswers, false));
  EXPECT_FALSE(confirmation.take_due(3 + proto::kConfirmAnswers, false));
}

TEST(Confirmation, GrantsWhatWasConsumedOnThisConnection) {
  Confirmation confirmation;
  confirmation.add_chunk(1000);
  EXPECT_FALSE(confirmation.has_consumed_much());
  EXPECT_EQ(confirmation.take_consumed(), 1000u);
  EXPECT_EQ(confirmation.take_consumed(), 0u);
  confirmation.add_chunk(proto::kInitialCredit);
  EXPECT_TRUE(confirmation.has_consumed_much());
  confirmation.restart();
  EXPECT_EQ(confirmation.consumed(), 0u);
}

// --- Reconnector -----------------------------------------------------------------------------------------------------

constexpr auto kUrl = "ws://192.0.2.1:3000";  // no host of ours
const Status kRefused = unavailable("no route");

TEST(Reconnector, TriesAtOnceAndThenAfterLongerPausesUntilTheLeaseIsOver) {
  Reconnector reconnector;
  EXPECT_FALSE(reconnector.can_resume());
  reconnector.begin({.session = "s-1"}, 10s);
  EXPECT_TRUE(reconnector.can_resume());
  const auto lost_at = Reconnector::Clock::now();
  reconnector.lose(unavailable("cut"), true, lost_at);
  reconnector.set_trying(true);
  EXPECT_EQ(reconnector.next_try(lost_at), lost_at);
  auto now = lost_at;
  int tries = 0;
  for (; now < reconnector.deadline(); ++tries) {
    EXPECT_TRUE(reconnector.judge(kUrl, kRefused, now).ok());
    const auto next = reconnector.next_try(now);
    EXPECT_GE(next, now + (tries == 0 ? 10ms : 0ms));
    EXPECT_LE(next, now + 2s);
    now = next;
  }
  EXPECT_EQ(now, lost_at + 10s);
  EXPECT_LT(tries, 30);
  const auto why = reconnector.judge(kUrl, kRefused, now);
  EXPECT_EQ(why.code(), StatusCode::unavailable);
  EXPECT_NE(why.message().find("cut; the session's lease of 10 s is over: no route"), std::string::npos)
      << why.message();
}

TEST(Reconnector, BeginsAnewWhereTheSessionWasConnectedMeanwhile) {
  Reconnector reconnector;
  reconnector.begin({.session = "s-1"}, 10s);
  const auto first = Reconnector::Clock::now(), second = first + 60s;
  reconnector.lose(unavailable("cut"), true, first);
  reconnector.set_trying(true);
  for (int i = 0; i < 8; ++i) (void)reconnector.next_try(first);
  reconnector.lose(unavailable("cut again"), true, second);
  EXPECT_EQ(reconnector.losses(), 2u);
  EXPECT_TRUE(reconnector.judge(kUrl, kRefused, second).ok()) << "the lease of the first loss does not count";
  EXPECT_EQ(reconnector.next_try(second), second);
  EXPECT_EQ(reconnector.deadline(), second + 10s);
  reconnector.lose(unavailable("no welcome"), false, second + 1s);
  EXPECT_EQ(reconnector.deadline(), second + 10s) << "a try that failed is no new loss of the session";
}

// --- ClientHandshake -------------------------------------------------------------------------------------------------

proto::Hello decoded(const proto::EncodedFrame& frame) {
  const auto header = std::as_bytes(std::span{frame.header});
  const auto bytes = SharedBytes::own(std::vector<std::byte>(header.begin(), header.end()));
  return std::get<proto::Hello>(value_or_throw(proto::decode(bytes)).body);
}

TEST(ClientHandshake, NamesTheClientAndItsDevice) {
  ClientHandshake handshake{{.number = 3}, {.token = "a token", .lease_seconds = 7}};
  const auto hello = decoded(handshake.hello({}));
  EXPECT_EQ(hello.version, proto::kProtocolVersion);
  EXPECT_EQ(hello.token, "a token");
  EXPECT_EQ(hello.device, 3u);
  EXPECT_EQ(hello.lease_seconds, 7u);
  EXPECT_FALSE(hello.resume.has_value());
  EXPECT_EQ(decoded(handshake.hello(proto::Resume{.session = "s-1"})).resume->session, "s-1");
}

TEST(ClientHandshake, KeepsWhatIsSaidBetweenAGreetingAndItsChannel) {
  ClientHandshake handshake{{}, {}};
  EXPECT_EQ(handshake.attach().first, 0u);
  const auto size = handshake.greet({}).size();
  EXPECT_TRUE(handshake.has_greeted());
  handshake.hold(proto::encode({1, proto::Release{}, {}}), proto::Lane::control);
  const auto [bytes, held] = handshake.attach();
  EXPECT_EQ(bytes, size);
  EXPECT_EQ(held.size(), 1u);
  EXPECT_FALSE(handshake.has_greeted());
  (void)handshake.greet({});
  handshake.restart();
  EXPECT_EQ(handshake.attach().first, 0u);
}

TEST(ClientHandshake, RefusesAWelcomeThatMakesNoSense) {
  proto::Welcome welcome;
  welcome.info.max_in_flight = 16;
  welcome.info.bulk_credit = 1 << 20;
  EXPECT_TRUE(ClientHandshake::check(welcome, false).ok());
  EXPECT_EQ(ClientHandshake::check(welcome, true).message(), "a new session where one was to go on");
  welcome.resumed = proto::Resumed{.received = 4, .executed = 3};
  EXPECT_TRUE(ClientHandshake::check(welcome, true).ok());
  EXPECT_FALSE(ClientHandshake::check(welcome, false).ok());
  welcome.resumed->executed = 5;
  EXPECT_EQ(ClientHandshake::check(welcome, true).message(), "5 executed, 4 received");
  welcome.info.bulk_credit = UploadQueue::kMaxCredit + 1;
  EXPECT_FALSE(ClientHandshake::check(welcome, true).ok());
  welcome.info.bulk_credit = 0;
  EXPECT_EQ(ClientHandshake::check(welcome, true).message(), "limits of zero");
}

}  // namespace
}  // namespace burn::net
