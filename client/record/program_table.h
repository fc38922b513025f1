// Which programs a session knows, by their hashes. Bounded by what the session bears; the least recently run go first.
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
  // Enough for any training loop; a loop of ever new shapes needs a bound.
  static constexpr std::uint64_t kMaxPrograms = 4096;
  static constexpr std::uint64_t kMaxEntries = 1 << 19;  // ir::num_entries of all programs: about 90 MiB on the worker

  // Before it is known what the session allows, a loop defines its programs and goes on.
  static constexpr std::uint64_t kAtFirst = 16;

  // Keeps to kAtFirst programs, and
  ProgramTable() = default;
  // to the half of what the session allows, and to the bounds above.
  explicit ProgramTable(const proto::SessionInfo& info) { bound(info); }
  void bound(const proto::SessionInfo& info);
  bool is_bounded() const { return is_bounded_; }
  bool is_full() const { return programs_.size() >= most_programs_; }

  // The id of a program that the session knows; it counts as run.
  std::optional<proto::ProgramId> find(const ir::ProgramHash& hash);

  struct Added {
    proto::ProgramId id = 0;                  // never used before
    std::vector<proto::ProgramId> forgotten;  // that make room for it
  };
  Added add(const ir::ProgramHash& hash, std::uint64_t entries);
  // The session did not take the program, and was not told of those that it should forget either: the next one tells
  // it.
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
  std::uint64_t most_programs_ = kAtFirst, most_entries_ = kMaxEntries;
  Programs programs_;  // most recently run first
  std::unordered_map<ir::ProgramHash, Programs::iterator, HashOfHash> by_hash_;
  std::uint64_t entries_ = 0;
  std::vector<proto::ProgramId> to_forget_;  // that the session still has to be told of
  proto::ProgramId last_id_ = 0;
};

}  // namespace burn::client
