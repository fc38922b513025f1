// Tracks which open groups a value depends on, by any path, while groups grow. A node may not join a group if it also
// depends on it through a node outside of the group, because that would be a cycle.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>

namespace burn::compile {

class Dependencies {
 public:
  static constexpr std::size_t kMaxGroups = 256;
  using Mask = std::bitset<kMaxGroups>;

  bool full() const { return count_ == kMaxGroups; }

  // A new group, without dependencies. Requires: !full().
  std::size_t open() {
    root_[count_] = count_;
    owned_[count_].reset().set(count_);
    closure_[count_].reset();
    return count_++;
  }

  void close_all() { count_ = 0; }

  // The dependencies of a value of the group: the group itself and all that it depends on.
  Mask of_group(std::size_t group) const {
    const auto root = root_[group];
    return owned_[root] | closure_[root];
  }

  // The mask, extended by the dependencies that its groups have acquired since it was made.
  Mask up_to_date(const Mask& mask) const {
    Mask all = mask;
    for (auto g = mask._Find_first(); g < count_; g = mask._Find_next(g)) all |= of_group(g);
    return all;
  }

  bool includes(const Mask& mask, std::size_t group) const { return (mask & owned_[root_[group]]).any(); }

  // The group now also depends on all of `mask`, which is up to date and does not include it.
  void add(std::size_t group, const Mask& mask) {
    const auto root = root_[group];
    if ((mask & ~closure_[root]).none()) return;
    closure_[root] |= mask;
    for (std::size_t k = 0; k < count_; ++k) {
      if (root_[k] == k && (closure_[k] & owned_[root]).any()) closure_[k] |= closure_[root];
    }
  }

  // Merges the second group into the first. Requires: neither depends on the other.
  void merge(std::size_t into, std::size_t from) {
    const auto a = root_[into], b = root_[from];
    for (std::size_t k = 0; k < count_; ++k) {
      if (root_[k] == b) root_[k] = a;
    }
    owned_[a] |= owned_[b];
    closure_[a] |= closure_[b];
    for (std::size_t k = 0; k < count_; ++k) {
      if (root_[k] == k && (closure_[k] & owned_[a]).any()) closure_[k] |= closure_[a] | owned_[a];
    }
  }

  // Whether either depends on the other.
  bool related(std::size_t a, std::size_t b) const {
    return includes(closure_[root_[a]], b) || includes(closure_[root_[b]], a);
  }

 private:
  std::size_t count_ = 0;
  std::array<std::size_t, kMaxGroups> root_{};
  std::array<Mask, kMaxGroups> owned_, closure_;
};

}  // namespace burn::compile
