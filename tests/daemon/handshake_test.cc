// net/serve/handshake.h: the steps of a handshake, one by one.
#include "net/serve/handshake.h"

#include <gtest/gtest.h>

#include "tests/daemon/fake_host.h"

namespace burn::daemon {
namespace {

const net::Caller kPeer{.address = "127.0.0.1:4000"};

class HandshakeTest : public testing::Test {
 protected:
  Status open(const proto::Hello& hello, const Status& full = {}) {
    const net::Handshake handshake{host_, hello, kPeer};
    return handshake.open(full).status();
  }

  FakeHost host_{std::chrono::seconds{30}};
};

TEST_F(HandshakeTest, BeginsWithAHelloOfOurVersion) {
  EXPECT_EQ(net::Handshake::read(proto::Sync{1}).status().message(), "the first frame must be a hello, not a sync");
  const proto::Body old = proto::Hello{.version = proto::kProtocolVersion + 1};
  EXPECT_EQ(net::Handshake::read(old).status().code(), StatusCode::failed_precondition);
  const proto::Body ours = proto::Hello{.client = "test"};
  const auto read = net::Handshake::read(ours);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ((*read)->client, "test");
}

TEST_F(HandshakeTest, TheHostSeesTheHello) {
  ASSERT_TRUE(open({.client = "burn-py", .device = 1}).ok());
  ASSERT_EQ(host_.hellos().size(), 1u);
  EXPECT_EQ(host_.hellos()[0].client, "burn-py");
  EXPECT_EQ(host_.hellos()[0].device, 1u);
  EXPECT_TRUE(host_.has_logged("opened from 127.0.0.1:4000"));
  EXPECT_TRUE(host_.has_logged("on second"));
}

TEST_F(HandshakeTest, ADeviceThatTheHostDoesNotHaveIsNotFound) {
  const auto status = open({.device = 2});
  EXPECT_EQ(status.code(), StatusCode::not_found);
  EXPECT_EQ(status.message(), "there is no device 2 here: the worker has 0: first, 1: second");
  EXPECT_TRUE(host_.hellos().empty());
}

TEST_F(HandshakeTest, ADeviceMayBeNamed) {
  ASSERT_TRUE(open({.device_name = "second"}).ok());
  EXPECT_TRUE(host_.has_logged("on second"));
  const auto status = open({.device_name = "third"});
  EXPECT_EQ(status.code(), StatusCode::not_found);
  EXPECT_EQ(status.message(), "there is no device \"third\" here: the worker has 0: first, 1: second");
}

TEST_F(HandshakeTest, WhereThereIsNoPlaceOnlyAResumedSessionIsServed) {
  const auto full = resource_exhausted("there are 7 connections");
  EXPECT_EQ(open({}, full), full);
  EXPECT_TRUE(host_.hellos().empty());

  const proto::Hello hello{.lease_seconds = 10};
  const auto opened = net::Handshake{host_, hello, kPeer}.open({});
  ASSERT_TRUE(opened.ok());
  host_.leases().add(*opened);
  const proto::Hello back{.resume =
                              proto::Resume{.session = (*opened)->terms().name, .secret = (*opened)->terms().secret}};
  const auto resumed = net::Handshake{host_, back, kPeer}.resume(*back.resume);
  ASSERT_TRUE(resumed.ok()) << resumed.status().to_string();
  EXPECT_EQ(*resumed, *opened);
  const proto::Hello wrong{.resume = proto::Resume{.session = (*opened)->terms().name, .secret = "another"}};
  const net::Handshake handshake{host_, wrong, kPeer};
  EXPECT_EQ(handshake.resume(*wrong.resume).status().code(), StatusCode::not_found);
  host_.leases().take_all();
}

TEST_F(HandshakeTest, AWelcomeHasTheSessionsTerms) {
  const proto::Hello hello{.lease_seconds = 10};
  const net::Handshake handshake{host_, hello, kPeer};
  const auto opened = handshake.open({});
  ASSERT_TRUE(opened.ok());
  const auto welcome = handshake.welcome(**opened);
  EXPECT_EQ(welcome.info.session, (*opened)->terms().name);
  EXPECT_EQ(welcome.info.devices, host_.devices());
  EXPECT_EQ(welcome.info.role, "worker");
  EXPECT_EQ(welcome.info.instance.size(), 16u);
  EXPECT_EQ(welcome.info.instance, host_.instance());
  EXPECT_NE(welcome.info.instance, FakeHost{}.instance());
  EXPECT_NE(welcome.info.numerics, 0u);
  EXPECT_EQ(welcome.lease_seconds, 10u);
  EXPECT_EQ(welcome.secret.size(), proto::kSecretBytes);
}

}  // namespace
}  // namespace burn::daemon
