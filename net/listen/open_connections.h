// The open connections of a listener: counted against its limit, and aborted when it ends.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "net/listen/permits.h"
#include "net/transport/abortable.h"

namespace burn::net {

// Thread-safe. Lives as long as the listener or any lease.
class OpenConnections : public std::enable_shared_from_this<OpenConnections> {
 public:
  // A lease holds one permit, which is released with the last copy.
  using Lease = std::shared_ptr<const std::uint64_t>;

  // `permits`: may be shared with other listeners.
  explicit OpenConnections(std::shared_ptr<PermitPool> permits)
      : permits_(std::move(permits)), returning_(returning_permits(permits_->limits())) {}

  // `full`: ok: any client may have the place. Otherwise there is no place for a new client, for this reason, and this
  // place is for a client that returns to its session.
  struct Place {
    Lease lease;
    Status full;
  };
  // Errors: RESOURCE_EXHAUSTED when there is no place of either kind for this peer, or no memory; UNAVAILABLE after
  // stop().
  Result<Place> take(const Peer& peer);
  // Stores the connection that has the lease.
  void put(const Lease& lease, std::weak_ptr<Abortable> connection);
  // Calls tick() of every connection.
  void tick();
  // No more leases are given.
  void stop();
  // Whether stop() or begin_drain() was called.
  bool is_draining() const;
  void begin_drain();
  // stop(), and aborts the connections that have a lease.
  void close(const Status& why);

 private:
  struct Entry {
    Permit permit;
    std::weak_ptr<Abortable> connection;
  };

  Result<Permit> permit(const Peer& peer, Status& full) const;
  void give_back(std::uint64_t key);
  std::vector<std::shared_ptr<Abortable>> open() const;

  const std::shared_ptr<PermitPool> permits_, returning_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Entry> open_;
  std::uint64_t last_key_ = 0;
  bool stopped_ = false, draining_ = false;
};

}  // namespace burn::net
