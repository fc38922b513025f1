#include "net/listen/places.h"

#include <algorithm>

#include <fmt/format.h>

namespace burn::net {

PlaceLimits with_room_for_operators(std::size_t all, std::size_t per_peer) {
  const std::size_t part = all / 16;
  return {all, std::min(per_peer, all), part, std::max<std::size_t>(part, 4)};
}

Result<Place> Places::take(const Peer& peer) {
  const bool is_unix = peer.where == Peer::Where::unix_socket;
  const std::lock_guard lock{mutex_};
  std::size_t limit = limits_.all;
  if (is_unix) limit += limits_.beyond_unix;
  if (peer.where == Peer::Where::elsewhere) limit -= std::min(limits_.kept_local, limit);
  if (taken_ >= limit) {
    return resource_exhausted(fmt::format("there are {} {}, and at most {} may be", taken_, what_, limit));
  }
  if (!is_unix && count_of(peer.key) >= limits_.per_peer) {
    return resource_exhausted(fmt::format("{} has {} {}, and at most {} may be of one peer", peer.key, limits_.per_peer,
                                          what_, limits_.per_peer));
  }
  struct Taken {
    ~Taken() {
      if (places) places->give_back(key);
    }
    std::shared_ptr<Places> places;
    std::string key;
  };
  auto place = std::make_shared<Taken>();
  place->key = peer.key;
  auto& theirs = by_peer_[peer.key];
  place->places = shared_from_this();  // from here on nothing fails, and the place is counted
  ++theirs;
  ++taken_;
  return Place{std::move(place)};
}

std::size_t Places::count_of(const std::string& key) const {
  const auto it = by_peer_.find(key);
  return it == by_peer_.end() ? 0 : it->second;
}

std::size_t Places::taken() const {
  const std::lock_guard lock{mutex_};
  return taken_;
}

void Places::give_back(const std::string& key) {
  const std::lock_guard lock{mutex_};
  --taken_;
  if (const auto it = by_peer_.find(key); --it->second == 0) by_peer_.erase(it);
}

}  // namespace burn::net
