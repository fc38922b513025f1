// The programs of a session, by the client's ids, and the variants of each that were made for the members.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "ir/program.h"
#include "proto/session.h"
#include "router/core/layouts.h"

namespace burn::router {

// Ids from this one on are chosen by the router, for variants; a client may not use them.
inline constexpr proto::ProgramId kFirstOwnProgram = std::uint64_t{1} << 63;

// A program as the members run it for inputs with these layouts.
struct Variant {
  std::vector<LayoutId> inputs, outputs;
  proto::ProgramId id = 0;  // its id on the members
};

struct RoutedProgram {
  std::shared_ptr<const ir::Program> program;  // null: the program was refused
  Status refused;                              // the reason why its runs fail
  std::size_t output_count = 0;
  bool is_marked = false;         // it marks a value as a batch (ir::Place)
  std::vector<Variant> variants;  // most recently used first
};

// Maps program ids of the members to the client's ids. Thread-safe: answers name programs, and arrive on any thread.
class ProgramNames {
 public:
  void add(proto::ProgramId own, proto::ProgramId client) {
    const std::lock_guard lock{mutex_};
    clients_.emplace(own, client);
  }
  void remove(proto::ProgramId own) {
    const std::lock_guard lock{mutex_};
    clients_.erase(own);
  }
  // Replaces the members' program ids in an error message with the client's ids.
  Status with_client_ids(const Status& status) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<proto::ProgramId, proto::ProgramId> clients_;
};

// Called with the total bytes of all programs before it changes; a decrease always succeeds. Errors: there is no room,
// and the programs keep what they have.
using ChargePrograms = std::function<Status(std::uint64_t bytes)>;

class RoutedPrograms {
 public:
  // `programs`, `entries`: limits for a session on the number of programs, and on ir::num_entries of all of them
  // together. `charge`: empty: not called.
  RoutedPrograms(std::uint64_t programs, std::uint64_t entries, ChargePrograms charge = {})
      : max_programs_(programs), max_entries_(entries), charge_(std::move(charge)) {}

  // Stores the program as `id`, replacing the previous one, and removes the programs in `forget`. Returns the members'
  // ids that are no longer in use. A program beyond the limits is stored as refused: its runs fail. The number of
  // refused programs is limited as well; programs beyond that limit are not stored.
  std::vector<proto::ProgramId> define(proto::ProgramId id, RoutedProgram program,
                                       std::span<const proto::ProgramId> forget);
  RoutedProgram* find(proto::ProgramId id) {
    const auto found = programs_.find(id);
    return found == programs_.end() ? nullptr : &found->second;
  }
  // Adds a variant and assigns its id on the members: the client's id for the first. Errors: there is no room for a
  // variant other than the first.
  Result<Variant*> add_variant(proto::ProgramId id, RoutedProgram& program, Variant variant);
  const ProgramNames& names() const { return names_; }
  // Removes all variants, so that each program is rewritten again. Returns the members' ids that are no longer in use.
  std::vector<proto::ProgramId> forget_variants();
  std::size_t size() const { return programs_.size(); }
  std::uint64_t bytes() const { return bytes_; }  // an estimate of the memory of programs and variants

 private:
  void remove(proto::ProgramId id, std::vector<proto::ProgramId>& names);
  Status resize(std::uint64_t bytes);
  void shrink(std::uint64_t bytes);

  const std::uint64_t max_programs_, max_entries_;
  const ChargePrograms charge_;
  std::unordered_map<proto::ProgramId, RoutedProgram> programs_;
  ProgramNames names_;
  std::uint64_t entries_ = 0, bytes_ = 0;
  proto::ProgramId next_own_ = kFirstOwnProgram;
};

}  // namespace burn::router
