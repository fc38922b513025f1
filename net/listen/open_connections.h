// The connections of a listener that are not over: counted against its limit, and ended with it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/status.h"
#include "net/transport/abortable.h"

namespace burn::net {

// Thread-safe. Lives as long as the listener or any lease.
class OpenConnections : public std::enable_shared_from_this<OpenConnections> {
 public:
  // One place; free again when the last copy is dropped.
  using Lease = std::shared_ptr<const std::uint64_t>;

  explicit OpenConnections(std::size_t limit) : limit_(limit) {}

  // Null: all places are taken, or no more are given.
  Lease take();
  // Says who has the place.
  void put(const Lease& lease, std::weak_ptr<Abortable> connection);
  // Gives no more leases,
  void stop();
  bool is_stopped() const;
  // and aborts those who have one.
  void close(const Status& why);

 private:
  void give_back(std::uint64_t key);

  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::weak_ptr<Abortable>> open_;
  std::uint64_t last_key_ = 0;
  bool stopped_ = false;
};

}  // namespace burn::net
