// Counts the bytes of the frames on the connections of a listener.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "net/listen/listener.h"

namespace burn::daemon {

// Counts frames with their payloads, as both ends see them: without the overhead of the transport, TLS and TCP.
struct ByteCounts {
  std::atomic<std::uint64_t> received = 0, sent = 0;
};

// Passes each channel on to another acceptor, which must outlive this one.
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
