// Servers and clients over each transport: for tests of what every transport promises.
#pragma once

#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/net/support.h"

namespace burn::test {

using proto::Lane;

class EveryTransport : public testing::TestWithParam<Transport> {
 protected:
  void serve(TestAcceptor& acceptor, const net::ListenOptions& options = {}) {
    auto listener = listen(GetParam(), acceptor, options);
    ASSERT_TRUE(listener.ok()) << listener.status().to_string();
    listener_ = *std::move(listener);
  }
  std::shared_ptr<proto::Channel> connect(std::shared_ptr<proto::ChannelHandler> handler) {
    return must_connect(listener_->url(), std::move(handler));
  }

  TestAcceptor echo_{true};
  TestAcceptor sink_{false};
  std::unique_ptr<net::Listener> listener_;
};

}  // namespace burn::test
