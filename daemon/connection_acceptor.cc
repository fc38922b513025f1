#include "daemon/connection_acceptor.h"

#include <utility>

namespace burn::daemon {

std::shared_ptr<proto::ChannelHandler> ConnectionAcceptor::accept(std::shared_ptr<proto::Channel> channel) {
  return accept_returning(std::move(channel), {});
}

std::shared_ptr<proto::ChannelHandler> ConnectionAcceptor::accept_returning(std::shared_ptr<proto::Channel> channel,
                                                                            const Status& full) {
  auto connection = std::make_shared<net::Connection>(
      std::move(channel), host_, [this](const auto& ended) { on_ended(ended); }, full);
  const std::lock_guard lock{mutex_};
  if (is_stopped_) return nullptr;
  open_.insert(connection);
  return connection;
}

void ConnectionAcceptor::on_ended(const std::shared_ptr<net::Connection>& connection) {
  ended_(connection);  // before erase(): a connection must always be counted here or by the reaper
  const std::lock_guard lock{mutex_};
  open_.erase(connection);
  changed_.notify_all();
}

void ConnectionAcceptor::stop() {
  const std::lock_guard lock{mutex_};
  is_stopped_ = true;
}

Connections ConnectionAcceptor::open() const {
  const std::lock_guard lock{mutex_};
  return {open_.begin(), open_.end()};
}

std::size_t ConnectionAcceptor::count() const {
  const std::lock_guard lock{mutex_};
  return open_.size();
}

bool ConnectionAcceptor::wait_until_empty(std::chrono::milliseconds timeout) {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, timeout, [&] { return open_.empty(); });
}

}  // namespace burn::daemon
