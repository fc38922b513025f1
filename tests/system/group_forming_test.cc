// Groups of sessions while they are formed: which places, tickets and addresses are taken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/system/groups.h"

namespace burn {
namespace {

TEST_P(Groups, PlacesThatCannotBeAreRefused) {
  auto members = sessions(2);
  auto& session = members[0];
  const auto refused = [&](const std::function<void(proto::GroupPlace&)>& change) {
    auto place = members.place(0);
    change(place);
    return prepare(session, place).status().to_string();
  };
  EXPECT_EQ(refused([](auto& place) { place.size = 0; }), "INVALID_ARGUMENT: a group of 0 members; it may have 1 to 8");
  EXPECT_EQ(refused([](auto& place) { place.size = 9; }), "INVALID_ARGUMENT: a group of 9 members; it may have 1 to 8");
  EXPECT_EQ(refused([](auto& place) { place.rank = 2; }), "INVALID_ARGUMENT: rank 2 in a group of 2 members");
  EXPECT_EQ(refused([](auto& place) { place.ticket = "short"; }), "INVALID_ARGUMENT: a ticket of 5 bytes; one has 16");
  EXPECT_THAT(refused([](auto& place) { place.ticket += "x"; }), HasSubstr("a ticket of 17 bytes"));
}

TEST_P(Groups, OpenWantsThePlaceThatWasPrepared) {
  auto members = sessions(2);
  auto& session = members[0];
  const auto place = members.place(0);
  EXPECT_THAT(open(session, place, {"", ""}).get().to_string(),
              HasSubstr("FAILED_PRECONDITION: group 0 is not prepared with this place in epoch 1"));
  const auto address = value_or_throw(prepare(session, place));
  EXPECT_EQ(value_or_throw(prepare(session, place)), address);  // asked again
  auto other = place;
  other.ticket = "fedcba9876543210";
  EXPECT_THAT(prepare(session, other).status().message(),
              HasSubstr("group 0 is prepared with another place in epoch 1"));
  EXPECT_THAT(open(session, other, {address, address}).get().message(), HasSubstr("not prepared with this place"));
  EXPECT_THAT(open(session, place, {address}).get().message(), HasSubstr("1 addresses for 2 members"));
  EXPECT_TRUE(prepare(session, members.place(0, 0, 5)).ok());
  EXPECT_EQ(prepare(session, place).status().to_string(),
            "FAILED_PRECONDITION: epoch 1 is over: this session is in epoch 5");
  EXPECT_THAT(open(session, place, {address, address}).get().message(), HasSubstr("epoch 1 is over"));
}

TEST_P(Groups, AGroupThatStandsIsOpenedAgainAtOnce) {
  auto members = group(2);
  const auto address = value_or_throw(prepare(members[0], members.place(0)));
  EXPECT_EQ(open(members[0], members.place(0), {address, address}).get().to_string(), "OK");
}

TEST_P(Groups, ASessionPreparesSoManyGroupsAndNoMore) {
  auto members = sessions(2);
  for (std::uint32_t group = 0; group < 16; ++group) EXPECT_TRUE(prepare(members[0], members.place(0, group)).ok());
  EXPECT_THAT(prepare(members[0], members.place(0, 16)).status().to_string(),
              HasSubstr("RESOURCE_EXHAUSTED: a session may be in 16 groups"));
  EXPECT_TRUE(prepare(members[0], members.place(0, 16, 2)).ok());  // of a new epoch
}

TEST_P(Groups, MembersThatDoNotComeAreNamed) {
  auto members = sessions(3);
  std::vector<std::string> addresses;
  for (std::size_t rank = 0; rank < 3; ++rank)
    addresses.push_back(value_or_throw(prepare(members[rank], members.place(rank))));
  const auto waiting = open(members[1], members.place(1), addresses, milliseconds{300});
  const auto status = open(members[0], members.place(0), addresses, milliseconds{300}).get();
  EXPECT_EQ(status.to_string(), "DEADLINE_EXCEEDED: the group was not formed in time: member 2 is missing");
}

TEST_P(Groups, OnlyAMemberThatKnowsTheTicketIsTalkedTo) {
  auto members = sessions(2);
  const auto place = members.place(0);
  const auto own = value_or_throw(prepare(members[0], place));
  auto forged = members.place(1);
  forged.ticket = "0123456789abcdeX";  // half of it is right
  const auto address = value_or_throw(prepare(members[1], forged));
  const auto other = open(members[1], forged, {own, address}, milliseconds{500});
  EXPECT_THAT(open(members[0], place, {own, address}, milliseconds{500}).get().to_string(),
              HasSubstr("UNAVAILABLE: member 1 at " + address + ": it does not know the group's ticket"));
}

TEST_P(Groups, AddressesThatAreNoneAndThatAreElsewhereAreNotCalled) {
  auto members = sessions(2);
  std::uint64_t epoch = 1;
  for (const auto& [address, why] : {std::pair("", "is no address"), std::pair("worker:3000", "is no address"),
                                     std::pair("127.0.0.1:99999", "is no address"), std::pair("127.0.0.1", "is no"),
                                     std::pair("192.0.2.1:80", "a member on loopback calls no other machine"),
                                     std::pair("127.0.0.1:1", "member 1 at 127.0.0.1:1: Connection refused")}) {
    const auto place = members.place(0, 0, epoch++);
    const auto own = value_or_throw(prepare(members[0], place));
    EXPECT_THAT(open(members[0], place, {own, address}).get().message(), HasSubstr(why)) << address;
  }
}

// What strangers say to the port of a group that is formed, and how often, is no matter.
TEST_P(Groups, StrangersDoNotKeepAGroupFromBeingFormed) {
  auto members = sessions(2);
  std::vector<std::string> addresses;
  for (std::size_t rank = 0; rank < 2; ++rank)
    addresses.push_back(value_or_throw(prepare(members[rank], members.place(rank))));
  std::vector<int> strangers;
  for (int i = 0; i < 60; ++i) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(addresses[0].substr(addresses[0].rfind(':') + 1))));
    strangers.push_back(::socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(::connect(strangers.back(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    const std::string said = i % 3 == 0 ? "" : i % 3 == 1 ? "GET / HTTP/1.1\r\nHost: a\r\n\r\n" : "BURNGRP1";
    (void)!::write(strangers.back(), said.data(), said.size());
  }
  auto first = open(members[0], members.place(0), addresses), second = open(members[1], members.place(1), addresses);
  EXPECT_EQ(first.get().to_string(), "OK");
  EXPECT_EQ(second.get().to_string(), "OK");
  for (const int stranger : strangers) ::close(stranger);
}

// A ticket is good until its group stands: the port is closed then, and the address of the same place the next time
// another one.
TEST_P(Groups, ATicketThatComesLateFindsNoPort) {
  auto members = sessions(2);
  std::vector<std::string> addresses;
  for (std::size_t rank = 0; rank < 2; ++rank)
    addresses.push_back(value_or_throw(prepare(members[rank], members.place(rank))));
  auto first = open(members[0], members.place(0), addresses), second = open(members[1], members.place(1), addresses);
  EXPECT_EQ(first.get().to_string(), "OK");
  EXPECT_EQ(second.get().to_string(), "OK");
  for (const auto& address : addresses) {
    auto late = sessions(1);
    auto place = members.place(1);  // with the ticket of the group that stands
    const auto own = value_or_throw(prepare(late[0], place));
    EXPECT_THAT(open(late[0], place, {address, own}, milliseconds{500}).get().to_string(),
                AllOf(HasSubstr("UNAVAILABLE"), HasSubstr("member 0 at " + address)));
  }
}

TEST_P(Groups, ASessionThatClosesEndsWhatIsBeingFormed) {
  auto members = sessions(2);
  const auto own = value_or_throw(prepare(members[0], members.place(0)));
  const auto other = value_or_throw(prepare(members[1], members.place(1)));
  auto forming = open(members[0], members.place(0), {own, other});
  const auto begin = Clock::now();
  members[0].close();
  EXPECT_FALSE(forming.get().ok());
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds{2});
  EXPECT_FALSE(prepare(members[0], members.place(0)).ok());
}

}  // namespace
}  // namespace burn
