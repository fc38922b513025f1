// The connections of a listener that are not over: counted against its limit, and ended with it.
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
  // One permit; free again when the last copy is dropped.
  using Lease = std::shared_ptr<const std::uint64_t>;

  // `permits`: may be other listeners', too.
  explicit OpenConnections(std::shared_ptr<PermitPool> permits)
      : permits_(std::move(permits)), returning_(returning_permits(permits_->limits())) {}

  // `full`: not ok where it is a place for a client that comes back, as there is none for another one, for this reason.
  struct Place {
    Lease lease;
    Status full;
  };
  // Errors: RESOURCE_EXHAUSTED when there is no place of either kind for this peer, or no memory; UNAVAILABLE when no
  // more are given.
  Result<Place> take(const Peer& peer);
  // Names the connection that has the permit.
  void put(const Lease& lease, std::weak_ptr<Abortable> connection);
  // Lets each of them see to its deadlines.
  void tick();
  // Gives no more leases,
  void stop();
  // Whether stop() or begin_drain() was called.
  bool is_draining() const;
  void begin_drain();
  // and aborts the connections that have one.
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
