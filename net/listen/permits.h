// Permits for connections and for sessions. There is a limit for all peers together and one for each peer, so that one
// peer cannot take all permits.
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

// One permit; released with the last copy, on any thread.
using Permit = std::shared_ptr<const void>;

struct PermitLimits {
  std::size_t all = 0;
  std::size_t per_peer = 0;        // not applied to unix sockets, where the file's permissions decide
  std::size_t reserved_local = 0;  // of `all`, only for peers on this machine, so that an operator can connect
  std::size_t extra_unix = 0;      // beyond `all`, only for unix sockets
};

class PermitPool;

// Reserves a sixteenth of `all` for peers on this machine, and adds as many (at least four) for unix sockets.
PermitLimits with_room_for_operators(std::size_t all, std::size_t per_peer);

// A second pool beside one with `limits`: for clients that return to a session, and for others until they are told why
// they are refused. Has a sixteenth of `limits.all`, 16 at most; one peer may have half of them.
std::shared_ptr<PermitPool> returning_permits(const PermitLimits& limits);

// Thread-safe. Lives as long as its owner or any permit.
class PermitPool : public std::enable_shared_from_this<PermitPool> {
 public:
  // `what`: what the permits are for, in error messages: "sessions".
  PermitPool(std::string what, const PermitLimits& limits) : what_(std::move(what)), limits_(limits) {}

  // `per_peer`: replaces limits().per_peer for this permit. Errors: RESOURCE_EXHAUSTED with the limit that is reached.
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
