// Tables that kernels make for a size, such as the roots of a Fourier transform: made when they are first wanted, kept
// for all programs while there is room, and counted against the same limit as tensors. A length off the wire may be
// any, and so may be how many lengths there are: what has not been used for the longest time goes first, and all of it
// before a tensor is refused.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "backends/cpu/runtime/memory.h"

namespace burn::backends::cpu {

// Thread-safe. Belongs to a pool, and what it gives out must not outlive that.
class KeptTables {
 public:
  // `capacity`: bytes kept for next time. One that is larger lives as long as its user.
  KeptTables(Pool& pool, std::uint64_t capacity) : pool_(pool), capacity_(capacity) {}

  // Table(n), which must say Table::kept_bytes(n) of what it keeps and Table::needed_bytes(n) of what it takes to make
  // it. Errors: RESOURCE_EXHAUSTED.
  template <typename Table>
  Result<std::shared_ptr<const Table>> get(std::int64_t n) {
    const Key key{&kKind<Table>, n};
    if (auto known = find(key)) return std::static_pointer_cast<const Table>(std::move(known));
    struct Counted {
      PoolReservation share;  // goes last
      Table table;
    };
    BURN_TRY(auto share, pool_.hold_beside(Table::needed_bytes(n)));
    const auto made = std::shared_ptr<Counted>(new Counted{std::move(share), Table(n)});
    made->share.shrink(Table::kept_bytes(n));
    std::shared_ptr<const Table> table(made, &made->table);
    keep(key, table, made->share.bytes());
    return table;
  }

  // These say how many bytes went, or will when their last user is done.
  std::uint64_t drop_all() { return drop_until(0); }
  std::uint64_t drop_unused(std::int64_t until);  // not used since, in coarse milliseconds
  std::uint64_t bytes() const;

 private:
  using Key = std::pair<const void*, std::int64_t>;  // what it is, for which size
  struct Entry {
    Key key;
    std::shared_ptr<const void> table;
    std::uint64_t bytes;
    std::int64_t used;  // in coarse milliseconds
  };
  using Entries = std::list<Entry>;  // the last used first

  template <typename Table>
  static constexpr char kKind = 0;

  std::shared_ptr<const void> find(const Key& key);
  void keep(const Key& key, std::shared_ptr<const void> table, std::uint64_t bytes);
  std::uint64_t drop_until(std::uint64_t allowed);
  void move_last_to(Entries& going);  // requires: mutex_ is held, and there is one

  Pool& pool_;
  const std::uint64_t capacity_;
  mutable std::mutex mutex_;
  Entries entries_;
  std::map<Key, Entries::iterator> by_key_;
  std::uint64_t bytes_ = 0;
};

}  // namespace burn::backends::cpu
