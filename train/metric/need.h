// The tensors that a metric needs from a step's output, and the errors if they are missing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "train/metric/step_output.h"

namespace burn::metric {

using train::StepOutput;

enum class NeededKind : std::uint8_t { any, floating, integer, integer_or_bool };

// A tensor by its name in StepOutput.
struct Need {
  std::string name;                   // "targets"
  NeededKind kind = NeededKind::any;  // of the elements
  std::vector<int> ranks = {};        // accepted ranks; empty: any
};

// Returns the needed tensor. Errors: INVALID_ARGUMENT, listing what is needed and what the step returns, if there is no
// tensor of that name, or it has another kind or rank.
const client::Value& get(const StepOutput& output, const Need& need);

// Throws that error for a metric that accepts one of several tensors: "needs tokens: ..., but the step gives loss
// f32[1]".
[[noreturn]] void throw_missing(const std::string& needed, const StepOutput& output);

}  // namespace burn::metric
