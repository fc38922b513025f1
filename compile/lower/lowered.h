// A program as commands of a device: what lowering makes of its plan.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compile/lower/commands.h"
#include "compile/plan/arena.h"
#include "ir/program.h"

namespace burn::compile {

// What a kernel may find wrong, a number, and what that means.
struct Check {
  std::int32_t node = 0;
  std::function<Status(std::int64_t found)> explain;
};

// A Commit: the word behind the program's scalars that says whether the inputs it covers are there.
struct LoweredCommit {
  std::vector<bool> inputs;  // that it covers
};

// How an output comes to its buffer.
struct OutputSource {
  std::int32_t shares_input = -1;  // it is this input's buffer
  std::int32_t reuses_input = -1;  // written over this donated input, if it has no other owner
};

// A step of the plan, and one more for each output that is copied at the end.
struct LoweredStep {
  std::vector<ir::Ref> reads;
  std::vector<ir::Ref> results;
  std::int32_t output = -1;  // that is copied
};

struct Lowered {
  std::vector<LoweredStep> steps;  // what Command::step counts
  std::vector<Command> commands;
  std::vector<KernelSource> sources;
  std::vector<Check> checks;
  std::vector<LoweredCommit> commits;
  std::vector<OutputSource> outputs;
  std::vector<std::int32_t> output_of;  // per value: the output that it is computed in, or -1
  ArenaPlan arena;
  std::vector<std::uint64_t> block_bytes;  // what Address::Base::block counts, and ArenaPlan::offsets
  std::vector<std::pair<std::int32_t, std::int32_t>> merged;  // first and last steps that one launch does together
};

}  // namespace burn::compile
