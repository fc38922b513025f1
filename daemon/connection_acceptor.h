// Creates a net::Connection for each channel that a listener accepts, and keeps track of the open connections.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "net/listen/listener.h"
#include "net/serve/connection.h"

namespace burn::daemon {

using Connections = std::vector<std::shared_ptr<net::Connection>>;

// Thread-safe. Must outlive the listeners that call it.
class ConnectionAcceptor final : public net::Acceptor {
 public:
  // `ended`: called with a connection that receives nothing more, before it is removed from here; the callee takes it
  // over and must dispose of it on another thread. Called on a transport's thread; must not block.
  ConnectionAcceptor(std::shared_ptr<net::SessionHost> host, net::Connection::Ended ended)
      : host_(std::move(host)), ended_(std::move(ended)) {}

  std::shared_ptr<proto::ChannelHandler> accept(std::shared_ptr<proto::Channel> channel) override;
  std::shared_ptr<proto::ChannelHandler> accept_returning(std::shared_ptr<proto::Channel> channel,
                                                          const Status& full) override;
  // Refuses channels from now on.
  void stop();

  Connections open() const;
  std::size_t count() const;
  // Waits until no connection is open. Returns false if `timeout` passes first.
  bool wait_until_empty(std::chrono::milliseconds timeout);

 private:
  void on_ended(const std::shared_ptr<net::Connection>& connection);

  const std::shared_ptr<net::SessionHost> host_;
  const net::Connection::Ended ended_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_set<std::shared_ptr<net::Connection>> open_;  // Guarded by `mutex_`.
  bool is_stopped_ = false;                                    // Guarded by `mutex_`.
};

}  // namespace burn::daemon
