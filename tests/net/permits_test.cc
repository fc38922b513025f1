#include "net/listen/permits.h"

#include <vector>

#include <gtest/gtest.h>

#include "net/transport/stall_watch.h"
#include "net/transport/ws_origin.h"

namespace burn::net {
namespace {

using namespace std::chrono_literals;

// --- peers -----------------------------------------------------------------------------------------------------------

TEST(Peer, IsAnAddressWithoutItsPort) {
  EXPECT_EQ(Peer::of("10.0.0.7:40312").key, "10.0.0.7");
  EXPECT_EQ(Peer::of("10.0.0.7:40312").where, Peer::Where::elsewhere);
  EXPECT_EQ(Peer::of("127.0.0.2:1").key, "127.0.0.2");
  EXPECT_EQ(Peer::of("127.0.0.2:1").where, Peer::Where::loopback);
  EXPECT_EQ(Peer::of("[::1]:1").where, Peer::Where::loopback);
  EXPECT_EQ(Peer::of("unix:pid 7").where, Peer::Where::unix_socket);
  EXPECT_EQ(Peer::of("unix:").key, Peer::of("unix:pid 9").key);
}

TEST(Peer, HasAllAddressesOfAnIpv6Network) {
  EXPECT_EQ(Peer::of("[2001:db8:1:2:3:4:5:6]:1").key, Peer::of("[2001:db8:1:2:ffff::1]:2").key);
  EXPECT_NE(Peer::of("[2001:db8:1:2::1]:1").key, Peer::of("[2001:db8:1:3::1]:1").key);
  EXPECT_EQ(Peer::of("[::ffff:10.0.0.7]:1").key, "10.0.0.7");
  EXPECT_EQ(Peer::of("[fe80::1%eth0]:1").key, "fe80::");
}

// --- permits
// ----------------------------------------------------------------------------------------------------------

std::shared_ptr<PermitPool> sessions(const PermitLimits& limits) {
  return std::make_shared<PermitPool>("sessions", limits);
}

const Peer kHere = Peer::of("127.0.0.1:1"), kOther = Peer::of("127.0.0.2:1"), kFar = Peer::of("10.0.0.7:1"),
           kUnix = Peer::of("unix:pid 1");

TEST(PermitPool, GivesSoManyToAPeerAndSoManyInAll) {
  const auto permits = sessions({.all = 3, .per_peer = 2});
  std::vector<Permit> taken;
  for (const auto& peer : {kHere, kHere, kOther}) {
    auto permit = permits->take(peer);
    ASSERT_TRUE(permit.ok()) << permit.status().to_string();
    taken.push_back(*std::move(permit));
  }
  const auto full = permits->take(kOther).status();
  EXPECT_EQ(full.code(), StatusCode::resource_exhausted);
  EXPECT_EQ(full.message(), "there are 3 sessions, and at most 3 may be");
  taken.pop_back();
  EXPECT_EQ(permits->take(kHere).status().message(), "127.0.0.1 has 2 sessions, and at most 2 may be of one peer");
  EXPECT_TRUE(permits->take(kOther).ok());
  EXPECT_EQ(permits->taken(), 2u) << "it was given back at once";
  taken.clear();
  EXPECT_EQ(permits->taken(), 0u);
}

TEST(PermitPool, KeepsSomeForOperators) {
  const auto limits = with_room_for_operators(64, 64);
  EXPECT_EQ(limits.reserved_local, 4u);
  const auto permits = sessions(limits);
  std::vector<Permit> taken;
  const auto take_all = [&](const Peer& peer) {
    for (auto permit = permits->take(peer); permit.ok(); permit = permits->take(peer))
      taken.push_back(*std::move(permit));
    return taken.size();
  };
  EXPECT_EQ(take_all(kFar), 60u);
  EXPECT_EQ(take_all(kHere), 64u);
  EXPECT_EQ(take_all(kUnix), 68u);
}

TEST(PermitPool, OfASmallNumberGivesThemAll) {
  const auto permits = sessions(with_room_for_operators(4, 100));
  EXPECT_EQ(permits->limits().per_peer, 4u);
  std::vector<Permit> taken;
  for (int i = 0; i < 4; ++i) taken.push_back(*permits->take(kFar));
  EXPECT_FALSE(permits->take(kFar).ok());
  EXPECT_TRUE(permits->take(kUnix).ok());
}

TEST(PermitPool, IsOutlivedByWhatItGave) {
  auto permits = sessions({.all = 1, .per_peer = 1});
  auto permit = *permits->take(kHere);
  permits.reset();
  permit.reset();
}

// --- pages -----------------------------------------------------------------------------------------------------------

TEST(Origin, IsNotThereOrListedOrTheVeryNumber) {
  const std::vector<std::string> listed = {"https://Example.org", "null"};
  const auto may = [&](std::string_view origin, std::string_view host) {
    return ws::may_connect(origin, host, listed);
  };
  EXPECT_TRUE(may("", "worker:3000"));
  EXPECT_TRUE(may("https://example.org", "worker:3000"));
  EXPECT_TRUE(may("https://example.org:443", "worker:3000"));
  EXPECT_TRUE(may("null", "worker:3000"));
  EXPECT_TRUE(may("http://127.0.0.1:3000", "127.0.0.1:3000"));
  EXPECT_TRUE(may("http://[::1]:3000", "[::1]:3000"));
  EXPECT_TRUE(may("http://LOCALHOST:3000", "localhost:3000"));
  for (const char* origin :
       {"http://example.org", "https://example.org:8443", "https://example.org.evil.net", "https://evil.net",
        "https://evil.net/https://example.org", "https://example.org@evil.net", "http://worker:3000",
        "http://127.0.0.1:3001", "http://127.0.0.1", "file://", "https://example.org https://evil.net", "garbage"}) {
    EXPECT_FALSE(may(origin, "worker:3000")) << origin;
  }
  EXPECT_FALSE(may("http://worker:3000", "worker:3000")) << "a name may be made to point anywhere";
  EXPECT_FALSE(may("http://127.0.0.1:3000", ""));
  EXPECT_FALSE(ws::may_connect("null", "x", {}));
  EXPECT_TRUE(ws::may_connect("https://evil.net", "x", std::vector<std::string>{"*"}));
}

// --- peers that do not read ------------------------------------------------------------------------------------------

TEST(StallWatch, CutsOffAPeerThatTakesTooLittle) {
  StallWatch watch;
  auto now = StallWatch::Clock::now();
  EXPECT_FALSE(watch.is_stalled(now, false, true, 30s));
  for (int i = 0; i < 10; ++i) {  // takes enough
    now += 20s;
    watch.took(StallWatch::kMinBytes);
    EXPECT_FALSE(watch.is_stalled(now, false, true, 30s));
  }
  now += 20s;
  watch.took(1);  // a trickle does not count
  EXPECT_FALSE(watch.is_stalled(now, false, true, 30s));
  EXPECT_TRUE(watch.is_stalled(now + 10s, false, true, 30s));
  EXPECT_FALSE(watch.is_stalled(now + 10s, false, false, 30s)) << "nothing waits any more";
}

TEST(StallWatch, GivesAnEndSoMuchTimeHoweverMuchIsTaken) {
  StallWatch watch;
  const auto now = StallWatch::Clock::now();
  EXPECT_FALSE(watch.is_stalled(now, true, true, 10s));
  watch.took(std::uint64_t{1} << 30);
  EXPECT_FALSE(watch.is_stalled(now + 9s, true, true, 10s));
  EXPECT_TRUE(watch.is_stalled(now + 10s, true, true, 10s));
}

}  // namespace
}  // namespace burn::net
