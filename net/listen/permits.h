// Permits, of which there are so many in all and so many for each peer, so that no peer takes them all: for
// connections, and for sessions.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/status.h"
#include "net/listen/peer.h"

namespace burn::net {

// One; free again when the last copy is dropped, from whatever thread.
using Permit = std::shared_ptr<const void>;

struct PermitLimits {
  std::size_t all = 0;
  std::size_t per_peer = 0;     // does not hold for unix sockets: there the file's permissions decide
  std::size_t kept_local = 0;   // of all, only for peers on this machine: an operator has to get in
  std::size_t beyond_unix = 0;  // more than all, for unix sockets
};

class PermitPool;

// The sixteenth part of `all` is kept for peers on this machine, and as many again (at least four) for unix sockets
// beyond it.
PermitLimits with_room_for_operators(std::size_t all, std::size_t per_peer);

// Beside those: for clients that come back to a session, and for others until they are told why they are refused. A
// sixteenth of `limits.all`, 16 at most, of which one peer has half.
std::shared_ptr<PermitPool> returning_permits(const PermitLimits& limits);

// Thread-safe. Lives as long as its owner or any permit.
class PermitPool : public std::enable_shared_from_this<PermitPool> {
 public:
  // `what`: "sessions", for errors.
  PermitPool(std::string what, const PermitLimits& limits) : what_(std::move(what)), limits_(limits) {}

  // `per_peer`: instead of limits().per_peer, for this permit. Errors: RESOURCE_EXHAUSTED with the limit that is met.
  Result<Permit> take(const Peer& peer, std::optional<std::size_t> per_peer = std::nullopt);
  std::size_t taken() const;
  const PermitLimits& limits() const { return limits_; }

 private:
  std::size_t count_of(const std::string& key) const;  // Requires: the lock.
  void give_back(const std::string& key);

  const std::string what_;
  const PermitLimits limits_;
  mutable std::mutex mutex_;
  std::size_t taken_ = 0;
  std::unordered_map<std::string, std::size_t> by_peer_;
};

}  // namespace burn::net
