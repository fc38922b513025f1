#include "client/record/program_table.h"

#include <algorithm>
#include <utility>

namespace burn::client {
namespace {

// Half of what the session allows: programs that are being forgotten still count for a while.
std::uint64_t half_of(std::uint64_t session_allows, std::uint64_t most) {
  return session_allows == 0 ? most : std::min(most, std::max<std::uint64_t>(session_allows / 2, 1));
}

}  // namespace

void ProgramTable::bound(const proto::SessionInfo& info) {
  is_bounded_ = true;
  max_programs_ = half_of(info.max_programs, kMaxPrograms);
  max_entries_ = half_of(info.max_program_entries, kMaxEntries);
}

std::optional<proto::ProgramId> ProgramTable::find(const ir::ProgramHash& hash) {
  const auto known = by_hash_.find(hash);
  if (known == by_hash_.end()) return std::nullopt;
  programs_.splice(programs_.begin(), programs_, known->second);
  return known->second->id;
}

ProgramTable::Added ProgramTable::add(const ir::ProgramHash& hash, std::uint64_t entries) {
  Added added{++last_id_, std::exchange(to_forget_, {})};
  while (!programs_.empty() && (programs_.size() >= max_programs_ || entries_ + entries > max_entries_)) {
    added.forgotten.push_back(programs_.back().id);
    erase(std::prev(programs_.end()));
  }
  programs_.push_front({hash, added.id, entries});
  by_hash_[hash] = programs_.begin();
  entries_ += entries;
  return added;
}

void ProgramTable::take_back(const ir::ProgramHash& hash, std::vector<proto::ProgramId> forgotten) {
  if (const auto known = by_hash_.find(hash); known != by_hash_.end()) erase(known->second);
  to_forget_ = std::move(forgotten);
}

void ProgramTable::erase(Programs::iterator program) {
  entries_ -= program->entries;
  by_hash_.erase(program->hash);
  programs_.erase(program);
}

}  // namespace burn::client
