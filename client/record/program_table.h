// The programs that a session knows, by hash. Bounded by the session's limits; the least recently run ones are
// forgotten first.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/program.h"
#include "proto/session.h"

namespace burn::client {

// Guarded by its device's lock.
class ProgramTable {
 public:
  // Enough for any training loop; the bound is for a loop whose shapes are always new.
  static constexpr std::uint64_t kMaxPrograms = 4096;
  static constexpr std::uint64_t kMaxEntries = 1 << 19;  // ir::num_entries of all programs: about 90 MiB on the worker

  // The limit until the session's own are known, so that a loop need not wait for them to define its programs.
  static constexpr std::uint64_t kInitialMaxPrograms = 16;

  // At most kInitialMaxPrograms programs, until bound() is called.
  ProgramTable() = default;
  // At most half of what the session allows, and at most the bounds above.
  explicit ProgramTable(const proto::SessionInfo& info) { bound(info); }
  void bound(const proto::SessionInfo& info);
  bool is_bounded() const { return is_bounded_; }
  bool is_full() const { return programs_.size() >= max_programs_; }

  // The id of a program that the session knows, which becomes the most recently run one.
  std::optional<proto::ProgramId> find(const ir::ProgramHash& hash);

  struct Added {
    proto::ProgramId id = 0;                  // never used before
    std::vector<proto::ProgramId> forgotten;  // programs that were removed for it
  };
  Added add(const ir::ProgramHash& hash, std::uint64_t entries);
  // Undoes add() after the session refused the definition, and with it the request to forget `forgotten`: the next
  // add() returns them again.
  void take_back(const ir::ProgramHash& hash, std::vector<proto::ProgramId> forgotten);

 private:
  struct Known {
    ir::ProgramHash hash;
    proto::ProgramId id = 0;
    std::uint64_t entries = 0;
  };
  struct HashOfHash {
    std::size_t operator()(const ir::ProgramHash& hash) const { return static_cast<std::size_t>(hash.low); }
  };
  using Programs = std::list<Known>;

  void erase(Programs::iterator program);

  bool is_bounded_ = false;
  std::uint64_t max_programs_ = kInitialMaxPrograms, max_entries_ = kMaxEntries;
  Programs programs_;  // most recently run first
  std::unordered_map<ir::ProgramHash, Programs::iterator, HashOfHash> by_hash_;
  std::uint64_t entries_ = 0;
  std::vector<proto::ProgramId> to_forget_;  // of a refused definition, for the next one
  proto::ProgramId last_id_ = 0;
};

}  // namespace burn::client
