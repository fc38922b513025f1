// Where a program's values lie while it runs: in blocks of memory, outputs, the bindings, or inside the result of a
// concatenation; and from which step to which each block is needed.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compile/lower/layouts.h"
#include "compile/lower/lowered.h"
#include "compile/lower/step_uses.h"
#include "compile/plan/plan.h"
#include "compile/plan/views.h"

namespace burn::compile {

// The step that is being lowered.
struct CurrentStep {
  std::int32_t number = -1;
  std::int32_t node = 0;  // of the program: that is lowered, or the first of its group
  StepUses uses;
};

class ValueStorage {
 public:
  // All of them outlive it.
  ValueStorage(const ir::Program& program, const Plan& plan, CurrentStep& step);

  const std::vector<ValueView>& views() const { return views_; }
  const ValueView& view_of(ir::Ref value) const { return views_[static_cast<std::size_t>(value.index())]; }

  // Before anything is found: which values are computed where outputs are to be.
  std::vector<OutputSource> assign_outputs();
  const std::vector<std::int32_t>& outputs() const { return output_of_; }  // per value, or -1
  std::int32_t output_of(ir::Ref value) const { return output_of_[static_cast<std::size_t>(value.index())]; }
  // A Commit's value that is a word of the bindings.
  void bind_commit(ir::Ref value, const Address& word) { bound_commits_.emplace(value.index(), word); }

  // The place of a value that is no view, noted as read by the step. It lives from its first mention to its last.
  // `is_new`: this is the first one, and its block was made for it.
  struct Found {
    Address address;
    bool is_new = false;
  };
  Found find(ir::Ref value);
  // A block that is needed in this step.
  std::int32_t add_block(std::size_t bytes);

  // Where in a concatenation's result a value may be written by what makes it; null: nowhere.
  const PlaceInside* place_of(ir::Ref value) const;
  void set_in_place(ir::Ref value) { in_place_values_.insert(value.index()); }
  // Of an operand of the node that is lowered, and a concatenation: whether it is in its place already.
  bool is_in_place(ir::Ref operand) const;
  // Emitter::lie_where().
  bool lie_where(ir::Ref operand, ir::Ref result);

  // The blocks that the step uses are not given to others up to this step.
  void hold_blocks_until(std::int32_t end);

  // At the end: of the blocks.
  std::vector<Lifetime> take_lifetimes();
  // A device that allocates no more than `most` bytes at once has no place for a larger value; 0: it has no such limit.
  Status check_sizes(const std::vector<Lifetime>& blocks, std::uint64_t most) const;

 private:
  static constexpr std::int32_t kNone = -1;

  std::vector<std::int32_t> find_last_uses_of_bases() const;

  const ir::Program& program_;
  const Plan& plan_;
  CurrentStep& step_;
  const std::vector<ValueView> views_;
  const std::map<std::int32_t, PlaceInside> places_;
  std::set<std::int32_t> in_place_values_;   // written at their place
  std::vector<Lifetime> lifetimes_;          // of blocks
  std::vector<std::int32_t> node_of_block_;  // that was lowered when it was made
  std::vector<std::int32_t> block_of_;       // per value
  std::vector<std::int32_t> output_of_;      // per value: the output that it is computed in
  const std::vector<std::int32_t> last_use_of_base_;
  std::vector<std::pair<std::int32_t, std::int32_t>> held_until_;  // blocks, and the step until which they are
  std::map<std::int32_t, Address> bound_commits_;                  // those that are words of the bindings, by value
};

}  // namespace burn::compile
