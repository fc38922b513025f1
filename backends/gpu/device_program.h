// A program lowered to commands of a device: what they need of a run, and what depends on what. Of every device whose
// commands lower_program() makes.
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

// Immutable once made: what a run needs beside it belongs to the stream.
class DeviceProgram : public Executable {
 public:
  const ir::Program& program() const { return program_; }
  const compile::Lowered& lowered() const { return lowered_; }
  std::size_t memory_bytes() const override;
  // The arena, and outputs that are not made in inputs.
  RunBytes run_bytes() const override;

  std::uint64_t id() const { return id_; }  // of no other executable of this process
  // The scalars of the program by slot.
  const std::vector<std::pair<std::int64_t, ir::DType>>& scalars() const { return scalars_; }
  bool reads_bindings() const { return !scalars_.empty() || program_.random_blocks > 0 || !lowered_.commits.empty(); }

  // The nodes that the members of groups perform together.
  const std::vector<const ir::Node*>& collectives() const { return collectives_; }
  // What a run may find out late: its checks and, where it has collectives, whether its groups were there until its
  // end, which comes last and which all outputs hang on.
  std::size_t findings() const { return lowered_.checks.size() + (collectives_.empty() ? 0 : 1); }

  // Marks the inputs that an output is computed from, and the findings about what it is computed from.
  const std::vector<bool>& inputs_of(std::size_t output) const { return inputs_of_[output]; }
  const std::vector<bool>& checks_of(std::size_t output) const { return checks_of_[output]; }

  // The same of the operand of collectives()[k]; of findings those of the checks alone.
  const std::vector<bool>& inputs_of_collective(std::size_t k) const { return collective_inputs_[k]; }
  const std::vector<bool>& checks_of_collective(std::size_t k) const { return collective_checks_[k]; }

  // The steps that cannot be done where there is no memory for these outputs, and the outputs that are lost with them,
  // which are marked, too.
  std::vector<bool> without(std::vector<bool>& lost_outputs) const;

  // The words that commands read as compile::Address::Base::bindings: seed, offset of random numbers, the scalars by
  // slot as elements of their dtype, a word for each Commit, which the caller fills in. Empty where nothing reads them.
  std::vector<std::uint64_t> binding_words(const RunArgs& args) const;
  std::size_t first_commit_word(const RunArgs& args) const { return 2 + args.scalars.size(); }

 protected:
  DeviceProgram(const ir::Program& program, const compile::PlanOptions& options);
  // Takes what the plan was lowered to.
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
