// The programs of a session by the client's names for them, and what each was rewritten to for the members.
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

// Programs that members know by numbers of the router's own have these and higher ones; a client's may not.
inline constexpr proto::ProgramId kFirstOwnProgram = std::uint64_t{1} << 63;

// A program as the members run it where its inputs lie so.
struct Variant {
  std::vector<LayoutId> inputs, outputs;
  proto::ProgramId id = 0;  // the members' name for it
};

struct RoutedProgram {
  std::shared_ptr<const ir::Program> program;  // null: refused
  Status refused;                              // why its runs fail
  std::size_t output_count = 0;
  bool is_marked = false;         // it says of a value that it is a batch (ir::Place)
  std::vector<Variant> variants;  // the one used last is the first
};

// The client's names for the programs of the members. Thread-safe: answers name programs, and come from any thread.
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
  // Members name programs by the names that they know: the client's stand there in what this gives.
  Status in_client_words(const Status& status) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<proto::ProgramId, proto::ProgramId> clients_;
};

// Asked before programs take so many bytes in all, also fewer than before, which is always ok. Errors: there is no
// room, and they take what they took.
using ChargePrograms = std::function<Status(std::uint64_t bytes)>;

class RoutedPrograms {
 public:
  // `programs`, `entries`: how many a session may have, and ir::num_entries of all of them. `charge`: empty: not asked.
  RoutedPrograms(std::uint64_t programs, std::uint64_t entries, ChargePrograms charge = {})
      : max_programs_(programs), max_entries_(entries), charge_(std::move(charge)) {}

  // Makes the program known as `id`, instead of what was known so; those of `forget` are not known any more. Gives the
  // members' names that stand for nothing afterwards. A program beyond the limits is refused: its runs fail. So many
  // refused ones are known, too; further ones are not known.
  std::vector<proto::ProgramId> define(proto::ProgramId id, RoutedProgram program,
                                       std::span<const proto::ProgramId> forget);
  RoutedProgram* find(proto::ProgramId id) {
    const auto found = programs_.find(id);
    return found == programs_.end() ? nullptr : &found->second;
  }
  // A new variant of it, and its name among the members: the client's for the first. Errors: there is no room for
  // another than the first.
  Result<Variant*> add_variant(proto::ProgramId id, RoutedProgram& program, Variant variant);
  const ProgramNames& names() const { return names_; }
  // From now on each is rewritten anew. Gives the members' names that stand for nothing afterwards.
  std::vector<proto::ProgramId> forget_variants();
  std::size_t size() const { return programs_.size(); }
  std::uint64_t bytes() const { return bytes_; }  // an estimate, of programs and variants

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
