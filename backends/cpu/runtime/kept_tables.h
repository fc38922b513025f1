// A cache of tables that kernels compute for a size, such as the roots of a Fourier transform: made on first use, kept
// for all programs while there is room, and counted against the same limit as tensors. Sizes come from clients, so they
// and their number are not bounded: the least recently used tables are dropped first, and all of them before a tensor
// is refused.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "backends/cpu/runtime/memory.h"

namespace burn::backends::cpu {

// Thread-safe. Belongs to a pool, which must outlive the tables that it returns.
class KeptTables {
 public:
  // `capacity`: bytes kept for reuse. A larger table lives only as long as its users.
  KeptTables(Pool& pool, std::uint64_t capacity) : pool_(pool), capacity_(capacity) {}

  // Returns Table(n). Table::kept_bytes(n) must be the bytes that it keeps, Table::needed_bytes(n) those that it takes
  // to make it. Errors: RESOURCE_EXHAUSTED.
  template <typename Table>
  Result<std::shared_ptr<const Table>> get(std::int64_t n) {
    const Key key{&kKind<Table>, n};
    if (auto known = find(key)) return std::static_pointer_cast<const Table>(std::move(known));
    struct Counted {
      PoolReservation share;  // destroyed last
      Table table;
    };
    BURN_TRY(auto share, pool_.reserve_external(Table::needed_bytes(n)));
    const auto made = std::shared_ptr<Counted>(new Counted{std::move(share), Table(n)});
    made->share.shrink(Table::kept_bytes(n));
    std::shared_ptr<const Table> table(made, &made->table);
    keep(key, table, made->share.bytes());
    return table;
  }

  // These return how many bytes are freed, now or when their last user is done.
  std::uint64_t drop_all() { return drop_until(0); }
  std::uint64_t drop_unused(std::int64_t until);  // not used since `until`, in coarse milliseconds
  std::uint64_t bytes() const;

 private:
  using Key = std::pair<const void*, std::int64_t>;  // the type of table, and its size
  struct Entry {
    Key key;
    std::shared_ptr<const void> table;
    std::uint64_t bytes;
    std::int64_t used;  // in coarse milliseconds
  };
  using Entries = std::list<Entry>;  // most recently used first

  template <typename Table>
  static constexpr char kKind = 0;

  std::shared_ptr<const void> find(const Key& key);
  void keep(const Key& key, std::shared_ptr<const void> table, std::uint64_t bytes);
  std::uint64_t drop_until(std::uint64_t allowed);
  void move_last_to(Entries& going);  // requires: mutex_ is held, and entries_ is not empty

  Pool& pool_;
  const std::uint64_t capacity_;
  mutable std::mutex mutex_;
  Entries entries_;
  std::map<Key, Entries::iterator> by_key_;
  std::uint64_t bytes_ = 0;
};

}  // namespace burn::backends::cpu
