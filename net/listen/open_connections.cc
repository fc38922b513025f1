#include "net/listen/open_connections.h"

#include <utility>

#include "net/listen/process_limits.h"

namespace burn::net {

Result<Permit> OpenConnections::permit(const Peer& peer, Status& full) const {
  if (has_memory_for_connection()) {
    auto permit = permits_->take(peer);
    if (permit.ok()) return permit;
    full = permit.status();
  } else {
    full = resource_exhausted("the worker has no memory for another connection");
  }
  if (!has_memory_for_connection(kResumeReserve)) return full;
  auto permit = returning_->take(peer);
  return permit.ok() ? permit : full;
}

Result<OpenConnections::Place> OpenConnections::take(const Peer& peer) {
  std::unique_lock lock(mutex_);
  if (stopped_) return unavailable("the server is shutting down");
  lock.unlock();
  Status full;
  BURN_TRY(auto permit, this->permit(peer, full));
  auto number = std::make_unique<std::uint64_t>();
  lock.lock();
  *number = ++last_key_;
  open_.try_emplace(*number, Entry{std::move(permit), {}});
  lock.unlock();
  Lease lease{number.release(), [self = shared_from_this()](const std::uint64_t* lease) {
                self->give_back(*lease);
                delete lease;
              }};
  return Place{std::move(lease), std::move(full)};
}

void OpenConnections::put(const Lease& lease, std::weak_ptr<Abortable> connection) {
  std::lock_guard lock(mutex_);
  if (const auto it = open_.find(*lease); it != open_.end()) it->second.connection = std::move(connection);
}

void OpenConnections::stop() {
  std::lock_guard lock(mutex_);
  stopped_ = true;
}

bool OpenConnections::is_draining() const {
  const std::lock_guard lock{mutex_};
  return stopped_ || draining_;
}

void OpenConnections::begin_drain() {
  const std::lock_guard lock{mutex_};
  draining_ = true;
}

// The result is released outside the lock, as that may release a permit.
std::vector<std::shared_ptr<Abortable>> OpenConnections::open() const {
  std::vector<std::shared_ptr<Abortable>> open;
  std::lock_guard lock(mutex_);
  open.reserve(open_.size());
  for (const auto& [key, entry] : open_) {
    if (auto connection = entry.connection.lock()) open.push_back(std::move(connection));
  }
  return open;
}

void OpenConnections::tick() {
  for (const auto& connection : open()) connection->tick();
}

void OpenConnections::close(const Status& why) {
  stop();
  for (const auto& connection : open()) connection->abort(why);
}

void OpenConnections::give_back(std::uint64_t key) {
  Entry over;  // the permit is released outside the lock
  std::lock_guard lock(mutex_);
  if (const auto it = open_.find(key); it != open_.end()) {
    over = std::move(it->second);
    open_.erase(it);
  }
}

}  // namespace burn::net
