// A program lowered to commands of a device: what the commands need from a run, and which results depend on which
// inputs and checks. Shared by all devices whose commands lower_program() makes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/stream.h"
#include "compile/lower/lowered.h"
#include "compile/plan/plan.h"

namespace burn::backends {

// Immutable once made: the state that a run needs belongs to the stream.
class DeviceProgram : public Executable {
 public:
  const ir::Program& program() const { return program_; }
  const compile::Lowered& lowered() const { return lowered_; }
  std::size_t memory_bytes() const override;
  // The arena, and the outputs that are not written into inputs.
  RunBytes run_bytes() const override;

  std::uint64_t id() const { return id_; }  // unique among the executables of this process
  // The scalars of the program by slot.
  const std::vector<std::pair<std::int64_t, ir::DType>>& scalars() const { return scalars_; }
  bool reads_bindings() const { return !scalars_.empty() || program_.random_blocks > 0 || !lowered_.commits.empty(); }

  // The collectives of the program.
  const std::vector<const ir::Node*>& collectives() const { return collectives_; }
  // The number of failures that a run may find after it was enqueued: its checks and, if it has collectives, whether
  // its groups lived until the run's end. The latter is the last one, and all outputs depend on it.
  std::size_t findings() const { return lowered_.checks.size() + (collectives_.empty() ? 0 : 1); }

  // Which inputs an output is computed from, and which findings it depends on.
  const std::vector<bool>& inputs_of(std::size_t output) const { return inputs_of_[output]; }
  const std::vector<bool>& checks_of(std::size_t output) const { return checks_of_[output]; }

  // The same for the operand of collectives()[k]; of the findings only the checks.
  const std::vector<bool>& inputs_of_collective(std::size_t k) const { return collective_inputs_[k]; }
  const std::vector<bool>& checks_of_collective(std::size_t k) const { return collective_checks_[k]; }

  // Returns the steps that cannot be executed because there is no memory for `lost_outputs`, and marks the outputs that
  // are lost with those steps there, too.
  std::vector<bool> lose_steps_without_memory(std::vector<bool>& lost_outputs) const;

  // The words that commands read at compile::Address::Base::bindings: the seed, the offset of random numbers, the
  // scalars by slot as elements of their dtype, and a word for each Commit, which the caller fills in. Empty if nothing
  // reads them.
  std::vector<std::uint64_t> binding_words(const RunArgs& args) const;
  std::size_t first_commit_word(const RunArgs& args) const { return 2 + args.scalars.size(); }

 protected:
  DeviceProgram(const ir::Program& program, const compile::PlanOptions& options);
  // Stores the lowered plan, and finds what its outputs depend on.
  void set_lowered(compile::Lowered lowered);
  const compile::PlanOptions& options() const { return options_; }

 private:
  void find_dependencies();

  const std::uint64_t id_;
  const compile::PlanOptions options_;
  const ir::Program program_;  // simplified
  compile::Lowered lowered_;
  std::vector<std::pair<std::int64_t, ir::DType>> scalars_;
  std::vector<const ir::Node*> collectives_;              // of program_
  std::vector<std::vector<bool>> inputs_of_, checks_of_;  // per output
  std::vector<std::vector<bool>> collective_inputs_, collective_checks_;
};

}  // namespace burn::backends
