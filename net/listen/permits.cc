#include "net/listen/permits.h"

#include <algorithm>

#include <fmt/format.h>

namespace burn::net {

PermitLimits with_room_for_operators(std::size_t all, std::size_t per_peer) {
  const std::size_t part = all / 16;
  return {all, std::min(per_peer, all), part, std::max<std::size_t>(part, 4)};
}

std::shared_ptr<PermitPool> returning_permits(const PermitLimits& limits) {
  const auto count = std::clamp<std::size_t>(limits.all / 16, 1, 16);
  return std::make_shared<PermitPool>("connections of returning clients",
                                      PermitLimits{.all = count, .per_peer = std::max<std::size_t>(count / 2, 1)});
}

Result<Permit> PermitPool::take(const Peer& peer, std::optional<std::size_t> per_peer) {
  const auto of_one_peer = per_peer.value_or(limits_.per_peer);
  const bool is_unix = peer.where == Peer::Where::unix_socket;
  const std::lock_guard lock{mutex_};
  std::size_t limit = limits_.all;
  if (is_unix) limit += limits_.extra_unix;
  if (peer.where == Peer::Where::elsewhere) limit -= std::min(limits_.reserved_local, limit);
  if (taken_ >= limit) {
    return resource_exhausted(fmt::format("there are {} {}, and at most {} may be", taken_, what_, limit));
  }
  if (!is_unix && count_of(peer.key) >= of_one_peer) {
    return resource_exhausted(fmt::format("{} has {} {}, and at most {} may be of one peer", peer.key,
                                          count_of(peer.key), what_, of_one_peer));
  }
  struct Taken {
    ~Taken() {
      if (permits) permits->give_back(key);
    }
    std::shared_ptr<PermitPool> permits;
    std::string key;
  };
  auto permit = std::make_shared<Taken>();
  permit->key = peer.key;
  auto& theirs = by_peer_[peer.key];
  permit->permits = shared_from_this();  // nothing fails from here on, so the permit's destructor may release it
  ++theirs;
  ++taken_;
  return Permit{std::move(permit)};
}

std::size_t PermitPool::count_of(const std::string& key) const {
  const auto it = by_peer_.find(key);
  return it == by_peer_.end() ? 0 : it->second;
}

std::size_t PermitPool::taken() const {
  const std::lock_guard lock{mutex_};
  return taken_;
}

void PermitPool::give_back(const std::string& key) {
  const std::lock_guard lock{mutex_};
  --taken_;
  if (const auto it = by_peer_.find(key); --it->second == 0) by_peer_.erase(it);
}

}  // namespace burn::net
