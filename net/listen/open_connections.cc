#include "net/listen/open_connections.h"

#include <utility>
#include <vector>

namespace burn::net {

OpenConnections::Lease OpenConnections::take() {
  std::lock_guard lock(mutex_);
  if (stopped_ || open_.size() >= limit_) return nullptr;
  const std::uint64_t key = ++last_key_;
  open_.try_emplace(key);
  return {new std::uint64_t{key}, [self = shared_from_this()](const std::uint64_t* lease) {
            self->give_back(*lease);
            delete lease;
          }};
}

void OpenConnections::put(const Lease& lease, std::weak_ptr<Abortable> connection) {
  std::lock_guard lock(mutex_);
  if (const auto it = open_.find(*lease); it != open_.end()) it->second = std::move(connection);
}

void OpenConnections::stop() {
  std::lock_guard lock(mutex_);
  stopped_ = true;
}

bool OpenConnections::is_stopped() const {
  std::lock_guard lock(mutex_);
  return stopped_;
}

void OpenConnections::close(const Status& why) {
  std::vector<std::shared_ptr<Abortable>> open;  // dropped outside the lock: that may give a place back
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    for (const auto& [key, weak] : open_) {
      if (auto connection = weak.lock()) open.push_back(std::move(connection));
    }
  }
  for (const auto& connection : open) connection->abort(why);
}

void OpenConnections::give_back(std::uint64_t key) {
  std::lock_guard lock(mutex_);
  open_.erase(key);
}

}  // namespace burn::net
