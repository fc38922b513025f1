// Counts the bytes of the frames that go through the connections of a listener.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "net/listen/listener.h"

namespace burn::daemon {

// Of frames with their payloads, as both ends see them: without what the transport, TLS and TCP put around them.
struct ByteCounts {
  std::atomic<std::uint64_t> received = 0, sent = 0;
};

// Gives what it accepts to another acceptor, which outlives it.
class MeteredAcceptor final : public net::Acceptor {
 public:
  MeteredAcceptor(net::Acceptor& next, std::shared_ptr<ByteCounts> counts) : next_(next), counts_(std::move(counts)) {}

  std::shared_ptr<proto::ChannelHandler> accept(std::shared_ptr<proto::Channel> channel) override;
  std::shared_ptr<proto::ChannelHandler> accept_returning(std::shared_ptr<proto::Channel> channel,
                                                          const Status& full) override;

 private:
  net::Acceptor& next_;
  const std::shared_ptr<ByteCounts> counts_;
};

}  // namespace burn::daemon
